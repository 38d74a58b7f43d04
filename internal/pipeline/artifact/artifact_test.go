package artifact_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/testdata/contracts"
)

type vector struct {
	Name, Mode string
	Schema     artifact.Form
	Document   json.RawMessage
	Stored     string
	Expected   struct {
		Valid          bool
		ExpectedErrors []struct{ Path, Keyword string }
		Markdown       string
		SHA256, Digest string
		OK             bool
		Code           refusal.Code
		OutputHash     string
	}
}

func TestArtifacts(t *testing.T) {
	for _, v := range contracts.Load[vector](t, "artifacts") {
		t.Run(v.Name, func(t *testing.T) {
			switch v.Mode {
			case "schema":
				form(t, v)
			case "render":
				n := note(t, v.Document)
				if got := string(n.Markdown()); got != v.Expected.Markdown {
					t.Errorf("got\n%s", got)
				}
				if want := v.Expected.SHA256 + v.Expected.Digest; contract.Hash(n.Markdown()) != want {
					t.Errorf("digest %s, want %s", contract.Hash(n.Markdown()), want)
				}
			case "note":
				hash, err := artifact.CheckNote(note(t, v.Document), []byte(v.Stored))
				if (err == nil) != v.Expected.OK || refusal.CodeOf(err) != v.Expected.Code || hash != v.Expected.OutputHash {
					t.Errorf("got %q, %v", hash, err)
				}
			}
		})
	}
}

func form(t *testing.T, v vector) {
	t.Helper()
	value, err := contract.Parse(v.Document)
	if err != nil {
		t.Fatal(err)
	}
	faults := artifact.Validate(v.Schema, value)
	if (len(faults) == 0) != v.Expected.Valid {
		t.Errorf("got %v", faults)
	}
	for _, want := range v.Expected.ExpectedErrors {
		found := false
		for _, f := range faults {
			found = found || f.Path == want.Path && f.Keyword == want.Keyword
		}
		if !found {
			t.Errorf("no %s at %q in %v", want.Keyword, want.Path, faults)
		}
	}
}

func note(t testing.TB, text []byte) *artifact.Note {
	t.Helper()
	n, err := artifact.ReadNote(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEmbeddedSchemasAreThePublishedOnes(t *testing.T) {
	for _, f := range []artifact.Form{artifact.RecordForm, artifact.TestReportForm, artifact.ReviewForm, artifact.ReleaseNoteForm} {
		want, err := contracts.Files.ReadFile("schemas-ours/" + string(f) + ".schema.json")
		if err != nil || !bytes.Equal(want, artifact.SchemaText(f)) {
			t.Errorf("%s differs: %v", f, err)
		}
	}
	entries, _ := contracts.Files.ReadDir("schemas-ours")
	if len(entries) != 4 {
		t.Errorf("%d schemas", len(entries))
	}
}

const report = `{"tool":"go test","command":["go","test"],"exitCode":0,"passed":1,"failed":0,"skipped":0,` +
	`"startedAt":"2026-03-29T10:02:00Z","endedAt":"2026-03-29T10:02:41Z"}`

func TestARecordNamesItsBytes(t *testing.T) {
	r, err := artifact.NewRecord(phase.UnitTestResult, "TS-001", 1, phase.Build, "exec-0001", []byte(report))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Intact([]byte(report)) || r.Intact([]byte(report+" ")) {
		t.Error("a record takes other bytes for its own")
	}
	if err := r.Again([]byte(report)); err != nil {
		t.Error(err)
	}
	if err := r.Again([]byte("{}")); refusal.CodeOf(err) != refusal.ContractVersionConflict {
		t.Errorf("got %v", err)
	}
	for name, c := range map[string]struct {
		kind phase.Proof
		at   phase.Phase
		run  string
		text string
	}{
		"no artifact":              {phase.TaskSeedProof, phase.Build, "exec-0001", "x"},
		"a log in another phase":   {phase.BuildLog, phase.Stabilize, "exec-0001", "x"},
		"a log of no run":          {phase.BuildLog, phase.Build, "", "x"},
		"a report that is none":    {phase.UnitTestResult, phase.Build, "exec-0001", "{}"},
		"a report that is no JSON": {phase.UnitTestResult, phase.Build, "exec-0001", "x"},
	} {
		if _, err := artifact.NewRecord(c.kind, "TS-001", 1, c.at, c.run, []byte(c.text)); refusal.CodeOf(err) != refusal.ContractSchemaInvalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPassedMeansExitCodeZeroAndNoFailure(t *testing.T) {
	for text, want := range map[string]bool{
		report: true,
		strings.Replace(report, `"exitCode":0`, `"exitCode":0.0`, 1): true,
		strings.Replace(report, `"exitCode":0`, `"exitCode":1`, 1):   false,
		strings.Replace(report, `"failed":0`, `"failed":1`, 1):       false,
	} {
		if got, err := artifact.TestsPassed([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if _, err := artifact.TestsPassed([]byte(`{}`)); err == nil {
		t.Error("no report, and it passed")
	}
}

func lowNote(t testing.TB) []byte {
	t.Helper()
	for _, v := range contracts.Load[vector](t, "artifacts") {
		if v.Mode == "render" {
			return v.Document
		}
	}
	t.Fatal("no note")
	return nil
}

// Whatever a person asks for, the note has the same headings and items: text
// cannot add one.
func TestFreeTextCannotChangeTheStructureOfANote(t *testing.T) {
	plain := note(t, lowNote(t))
	want := structure(plain.Markdown())
	hostile := rapid.StringOf(rapid.SampledFrom([]rune("a \n\r\t\u2028\u0085#*->`_[]()<>|\\1.!=~+")))
	rapid.Check(t, func(t *rapid.T) {
		n := *plain
		n.Intent.Creator = contract.ActorID("x" + hostile.Draw(t, "creator"))
		n.DiffHash = "x" + hostile.Draw(t, "diff")
		n.Checks = []artifact.NoteCheck{{Criterion: "x" + hostile.Draw(t, "criterion"), Passed: true, Detail: hostile.Draw(t, "detail")}}
		if got := structure(n.Markdown()); got != want {
			t.Fatalf("got %q, want %q in\n%s", got, want, n.Markdown())
		}
		n.Intent.Text = hostile.Draw(t, "text")
		for _, line := range strings.Split(string(n.Markdown()), "\n")[2:] {
			if line == "" {
				break
			}
			if !strings.HasPrefix(line, ">") {
				t.Fatalf("the text leaves its quotation: %q", line)
			}
		}
		if strings.ContainsAny(string(n.Markdown()), "\r\t\u2028\u0085") {
			t.Fatal("a control character is left")
		}
	})
}

// A note of today tells of its path; whatever stands in it, it reads, and text
// cannot add a heading or an item.
func TestANoteTellsOfItsPath(t *testing.T) {
	plain := note(t, lowNote(t))
	whole := *plain
	hostile := "x\n# y\n- z | <b>"
	exit := int64(1)
	whole.CorrelationID = hostile
	whole.Request = &artifact.NoteRequest{ID: "req-1", CircleID: hostile, MemberID: "olha", ArtifactID: "art-1", SHA256: "aa"}
	whole.Risk.Signals = []artifact.NoteSignal{{Signal: hostile, Status: "declared"}}
	whole.Boundary = &artifact.NoteBoundary{
		AuditID: hostile, State: "complete", Rows: []artifact.NoteRow{{RuleID: hostile, Decision: "warn", Level: "low"}},
		Verify: &artifact.NoteVerify{DecisionID: "v-1", Decision: "passed"},
	}
	whole.Runs = []artifact.NoteRun{{
		ExecutionID: hostile, Phase: "Build", Role: "developer", ActorID: "robot", Outcome: "failed", StartedAt: "2026-03-29T10:00:00Z",
		EndedAt: "2026-03-29T10:01:00.5Z", BaseCommit: "0123456", HeadCommit: "89abcde", Tools: []string{hostile, "go"}, ExitCode: &exit,
		BoundaryID: "b-1", VerifyID: "v-1", EvidenceID: "EV-001",
	}}
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	read := note(t, text)
	markdown := string(read.Markdown())
	if diff := cmp.Diff(&whole, read); diff != "" {
		t.Errorf("the note reads otherwise (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"- Request: req-1 of olha in circle x # y - z | <b>, decided as art-1 aa\n", "- Correlation: x # y - z | <b>\n",
		"## Risk signals\n\n- declared x # y - z | <b>\n", "## Boundary\n\n- result x # y - z | <b> complete\n- x # y - z | <b> warn low\n- verification v-1 passed\n",
		"## Runs\n\n- Build x # y - z | <b>: failed, robot (developer), 2026-03-29T10:00:00Z to 2026-03-29T10:01:00.500Z, " +
			"commits 0123456..89abcde, tools x # y - z | <b> go, exit 1, boundary b-1, verify v-1, evidence EV-001\n",
	} {
		want = strings.NewReplacer("x # y", `x \# y`, "|", `\|`, "<", `\<`, "b>", `b\>`).Replace(want)
		if !strings.Contains(markdown, want) {
			t.Errorf("the note does not say %q:\n%s", want, markdown)
		}
	}
	if got, want := strings.Count(markdown, "\n#"), strings.Count(string(plain.Markdown()), "\n#")+3; got != want {
		t.Errorf("it has %d headings, want %d", got, want)
	}
}

func structure(markdown []byte) string {
	var b strings.Builder
	for _, line := range bytes.Split(markdown, []byte("\n")) {
		switch {
		case bytes.HasPrefix(line, []byte("#")):
			b.Write(line[:2])
		case bytes.HasPrefix(line, []byte("- ")):
			b.WriteByte('-')
		case len(line) > 0:
			b.WriteByte('.')
		}
	}
	return b.String()
}

func TestFilesAndEvidenceAreSorted(t *testing.T) {
	n := artifact.Note{
		Files:    []artifact.File{{Change: "added", Path: "b"}, {Change: "added", Path: "B"}, {Change: "added", Path: "a"}},
		Evidence: []contract.ID{"EV-1000", "EV-002", "EV-0010"},
	}
	n.Sort()
	if n.Files[0].Path != "B" || n.Files[2].Path != "b" || n.Evidence[0] != "EV-002" || n.Evidence[1] != "EV-0010" {
		t.Errorf("got %v, %v", n.Files, n.Evidence)
	}
}
