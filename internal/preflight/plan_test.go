package preflight_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/preflight"
)

func TestTheExamplesAreTakenAsTheirSchemasTakeThem(t *testing.T) {
	text, err := os.ReadFile("testdata/examples/preflight-plan.high_risk.json")
	if err != nil {
		t.Fatal(err)
	}
	p := parse(t, string(text))
	if len(p.ChangedFiles) != 1 || len(p.Capabilities) != 1 || len(p.Hosts) != 1 {
		t.Fatalf("%+v", p)
	}
	c := p.Capabilities[0]
	if c.Tool != "place_order" || c.Provider != "stock_api" || c.Operation != "POST /orders" || c.Effect != "financial_write" ||
		c.RiskTags[0] != "financial_write" || c.Scopes[0] != "orders:write" || !c.Controls.Approval || c.Owner != "logistics" {
		t.Errorf("%+v", c)
	}
	if h := p.Hosts[0]; h.Host != "claude-code" || h.Path != ".claude/settings.json" || h.Subject != "Bash(*)" || h.Reason != "faster" || h.Access[0].Text != "Bash(*)" {
		t.Errorf("%+v", h)
	}
	for _, pattern := range []string{"testdata/examples/*.json", "testdata/examples/invalid/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			wrong := strings.Contains(file, "invalid")
			if strings.Contains(file, "preflight-plan.") {
				if _, err := preflight.ParsePlan(text); (err != nil) != wrong {
					t.Errorf("%s: %v", file, err)
				}
				if err := judged("preflight-plan.v1", text); (err != nil) != wrong {
					t.Errorf("%s, by its schema: %v", file, err)
				}
				continue
			}
			if err := judged("preflight-result.v3", text); (err != nil) != wrong {
				t.Errorf("%s, by its schema: %v", file, err)
			}
			if _, err := preflight.ParseBase(text); err != nil {
				t.Errorf("%s: as an earlier result: %v", file, err)
			}
		}
	}
}

const request = `"tool_name":"t","provider":"p","operation":"o","effect":"read"`

// Each plan is refused with the place of what is wrong, and with no value of it.
func TestAPlanIsReadStrictly(t *testing.T) {
	for plan, want := range map[string]string{
		``:                                  "is no JSON",
		`[]`:                                "must be an object",
		`{"changed_files":["a"],"extra":1}`: "extra (line 1, column 24): is not a key",
		`{"changed_files":["a"],"changed_files":["b"]}`:                                                                             "a key is given twice",
		`{"changed_files":["a"," "]}`:                                                                                               "changed_files[1] (line 1, column 23): is blank",
		"{\"changed_files\":[\"\u200b\u2060\"]}":                                                                                    "changed_files[0] (line 1, column 19): is blank",
		"{\"capability_requests\":[{" + request + ",\"evidence\":{\"owner\":\"\u3164\u2800\"}}]}":                                   "is blank",
		`{"changed_files":"a"}`:                                                                                                     "changed_files (line 1, column 18): must be a list",
		`{"changed_files":null}`:                                                                                                    "changed_files (line 1, column 18): must be a list",
		`{"changed_files":[7]}`:                                                                                                     "changed_files[0] (line 1, column 19): must be a text",
		`{"changed_files":["a\u0000b"]}`:                                                                                            "holds a NUL",
		`{"changed_files":["` + strings.Repeat("a", 4097) + `"]}`:                                                                   "changed_files[0] (line 1, column 19): is longer than 4096 bytes",
		`{"schema_version":"preflight_plan_v2"}`:                                                                                    `schema_version (line 1, column 19): must be "preflight_plan_v1"`,
		`{"diff_text":7}`:                                                                                                           "diff_text (line 1, column 14): must be a text",
		`{"diff_text":` + quoted(strings.Repeat("\n", 2_500_001)) + `}`:                                                             "diff_text (line 1, column 14): has more than 2500000 lines",
		`{"capability_requests":[{` + request + `,"effect2":"x"}]}`:                                                                 "capability_requests[0].<key>",
		`{"capability_requests":[{"tool_name":"t"}]}`:                                                                               "capability_requests[0].provider (line 1, column 25): is missing",
		`{"capability_requests":[{` + request + `,"risk_tags":[""]}]}`:                                                              "capability_requests[0].risk_tags[0]",
		`{"capability_requests":[{` + request + `,"scopes":"x"}]}`:                                                                  "capability_requests[0].scopes",
		`{"capability_requests":[{` + request + `,"source_type":" "}]}`:                                                             "capability_requests[0].source_type",
		`{"capability_requests":[{` + request + `,"controls":{"x":1}}]}`:                                                            "capability_requests[0].controls.x",
		`{"capability_requests":[{` + request + `,"controls":{"approval_required":"yes"}}]}`:                                        "controls.approval_required (line 1, column 121): must be true or false",
		`{"capability_requests":[{` + request + `,"controls":{"approval_threshold":5}}]}`:                                           "controls.approval_threshold",
		`{"capability_requests":[{` + request + `,"controls":null}]}`:                                                               "capability_requests[0].controls (",
		`{"capability_requests":[{` + request + `,"evidence":{"owner":""}}]}`:                                                       "evidence.owner",
		`{"capability_requests":[{` + request + `,"evidence":{"who":"x"}}]}`:                                                        "evidence.who",
		`{"capability_requests":[{"tool_name":"t","provider":"p","operation":"o","effect":"explode"}]}`:                             "effect (line 1, column 82): must be one of read, write, ",
		`{"host_permission_requests":[{"host":"h","surface":"s","operation":"o","subject":"x"}]}`:                                   "host_permission_requests[0].requested_access (line 1, column 30): must be an object",
		`{"host_permission_requests":[{"host":"h","surface":"s","operation":"o","requested_access":{}}]}`:                           "host_permission_requests[0].subject (line 1, column 30): is missing",
		`{"capability_requests":[{"tool_name":"` + strings.Repeat("t", 257) + `","provider":"p","operation":"o","effect":"read"}]}`: "tool_name (line 1, column 38): is longer than 256 bytes",
		`{"capability_requests":[{` + request + `,"scopes":["` + strings.Repeat("s", 4097) + `"]}]}`:                                "scopes[0] (line 1, column 99): is longer than 4096 bytes",
		`{"context":{"agent":""}}`:                                                                                                  "context.agent (line 1, column 21): is blank",
		`{"context":{"mood":"x"}}`:                                                                                                  "context.mood",
		`{"context":null}`:                                                                                                          "context (line 1, column 12): must be an object",
		strings.Repeat("[", 100_000):                                                                                                "is nested too deeply",
		"{\"changed_files\":[\"\xff\"]}":                                                                                            "is not UTF-8 text",
		`{"changed_files":["a"]} trailing`:                                                                                          "is no JSON",
	} {
		_, err := preflight.ParsePlan([]byte(plan))
		if _, ok := errors.AsType[*preflight.DocumentError](err); !ok {
			t.Errorf("%.60s: %v", plan, err)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %q, want %q", plan, err, want)
		}
	}
}

func TestAPlanHasLimits(t *testing.T) {
	files := strings.TrimSuffix(strings.Repeat(`"a",`, preflight.MaxFiles), ",")
	if p := parse(t, `{"changed_files":[`+files+`]}`); len(p.ChangedFiles) != preflight.MaxFiles {
		t.Error("as many files as are taken are not taken")
	}
	requests := strings.TrimSuffix(strings.Repeat(`{`+request+`},`, preflight.MaxRequests), ",")
	if p := parse(t, `{"capability_requests":[`+requests+`]}`); len(p.Capabilities) != preflight.MaxRequests {
		t.Error("as many requests as are taken are not taken")
	}
	for plan, want := range map[string]string{
		`{"changed_files":["a",` + files + `]}`:                                                                            "has 100001 entries",
		`{"capability_requests":[{` + request + `},` + requests + `]}`:                                                     "has 10001 entries",
		`{"diff_text":"` + strings.Repeat("a", preflight.MaxDiff) + `b"}`:                                                  fmt.Sprintf("is larger than %d bytes", preflight.MaxDiff),
		`{"changed_files":[` + strings.TrimSuffix(strings.Repeat(quoted(strings.Repeat("a", 4096))+",", 4097), ",") + `]}`: "is longer than 16777216 bytes in all",
		strings.Repeat(" ", preflight.MaxPlan) + `{}`:                                                                      fmt.Sprintf("is larger than %d bytes", preflight.MaxPlan),
	} {
		if _, err := preflight.ParsePlan([]byte(plan)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", plan, err, want)
		}
	}
	long := preflight.Plan{ChangedFiles: make([]string, preflight.MaxFiles+1)}
	if err := preflight.CheckPlan(&long); err == nil {
		t.Error("a plan put together by hand has no limit")
	}
}

// A message never repeats what may be a secret: neither a value nor a key that is
// no name.
func TestAMessageRepeatsNoValue(t *testing.T) {
	secret := "ghp" + "_0123456789abcdef0123456789abcdef0123"
	for _, plan := range []string{
		`{"` + secret + `":1}`, `{"schema_version":"` + secret + `"}`,
		`{"capability_requests":[{"tool_name":"t","provider":"p","operation":"o","effect":"` + secret + `"}]}`,
		`{"capability_requests":"` + secret + `"}`,
	} {
		if _, err := preflight.ParsePlan([]byte(plan)); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", plan, err)
		}
	}
}

func TestACapabilityRequestAlone(t *testing.T) {
	for text, want := range map[string]int{`{` + request + `}`: 1, `[{` + request + `},{` + request + `}]`: 2, `[]`: 0} {
		if list, err := preflight.ParseCapabilityRequests([]byte(text)); err != nil || len(list) != want {
			t.Errorf("%s: %d, %v", text, len(list), err)
		}
	}
	for _, text := range []string{``, `7`, `{}`, `[7]`, `{"a":1}`} {
		if _, err := preflight.ParseCapabilityRequests([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// FuzzPlan: whatever the reader takes its schema takes, and whatever the schema
// takes and the limits allow the reader takes.
func FuzzPlan(f *testing.F) {
	files, err := filepath.Glob("testdata/examples/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"changed_files":["AGENTS.md","\ud800"],"diff_text":null,"context":{"agent":null}}`))
	f.Add([]byte(`{"capability_requests":[{` + request + `,"controls":{},"evidence":{"owner":null}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := preflight.ParsePlan(text)
		bySchema := judged("preflight-plan.v1", text)
		switch {
		case err == nil && bySchema != nil:
			t.Fatalf("taken against the schema: %v", bySchema)
		case err != nil && bySchema == nil && !stricter(err):
			t.Fatalf("refused against the schema: %v", err)
		case err == nil:
			if r, err := preflight.Evaluate(input(t, adopted(), p)); err == nil {
				printed(t, r)
			}
		}
	})
}

// stricter says whether a refusal is one that no schema can say.
func stricter(err error) bool {
	for _, word := range []string{"is no JSON", "twice", "UTF-8", "too deeply", "too many values", "merge conflict", "NUL", "bytes", "lines"} {
		if strings.Contains(err.Error(), word) {
			return true
		}
	}
	return strings.Contains(err.Error(), "blank") // white space of other alphabets
}
