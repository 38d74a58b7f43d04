package ingest_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/ingest"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/testdata/contracts"
)

type vector struct {
	Name        string
	Input       string
	InputBase64 string
	InputParts  []struct {
		Text, Repeat string
		Times        int
	}
	Context  memory
	Expected struct {
		Lines []struct {
			Line       int
			Status     ingest.Status
			ID         *contract.ID
			Code       refusal.Code
			Path       *string
			Keyword    *string
			Warnings   *[]refusal.Code
			Normalised *[]string
			Events     []event.Type
			Stored     map[string]string
		}
	}
}

// memory is a store as the vectors describe it: TaskSeeds are Active and have
// no gate.
type memory struct {
	KnownTaskSeeds map[contract.ID]capability.Set
	KnownActors    []contract.ActorID
	Stored         []json.RawMessage
	Now            string
}

func (m memory) Evidence(id contract.ID) ([]byte, bool) {
	for _, text := range m.Stored {
		var d struct{ ID contract.ID }
		if json.Unmarshal(text, &d) == nil && d.ID == id {
			return text, true
		}
	}
	return nil, false
}

func (m memory) Around(e *contract.Evidence) document.Around {
	return document.Around{
		TaskSeed: func(id contract.ID) (*contract.TaskSeed, bool) {
			c, ok := m.KnownTaskSeeds[id]
			return &contract.TaskSeed{Base: contract.Base{ID: id, State: contract.Active}, CapabilitiesSnapshot: c}, ok
		},
		Actor:     func(id contract.ActorID) bool { return slices.Contains(m.KnownActors, id) },
		GateAsked: true,
		Level:     risk.OfCapabilities(m.KnownTaskSeeds[e.TaskSeedID]),
	}
}

func TestLinesAreTakenInOneByOne(t *testing.T) {
	for _, v := range contracts.Load[vector](t, "ingest") {
		t.Run(v.Name, func(t *testing.T) {
			text := []byte(v.Input)
			if v.InputBase64 != "" {
				text, _ = base64.StdEncoding.DecodeString(v.InputBase64)
			}
			for _, p := range v.InputParts {
				text = append(text, p.Text+strings.Repeat(p.Repeat, p.Times)...)
			}
			now, _ := contract.ParseTimestamp(v.Context.Now)
			report := ingest.Read(text, v.Context, now.Time())
			if len(report.Lines) != len(v.Expected.Lines) {
				t.Fatalf("%d lines, want %d: %+v", len(report.Lines), len(v.Expected.Lines), report.Lines)
			}
			for i, want := range v.Expected.Lines {
				got := report.Lines[i]
				fault := got.Fault
				if fault == nil {
					fault = &refusal.Refusal{}
				}
				if got.Line != want.Line || got.Status != want.Status || fault.Code != want.Code ||
					want.ID != nil && got.ID != *want.ID || want.Path != nil && fault.Path != *want.Path || want.Keyword != nil && fault.Keyword != *want.Keyword {
					t.Errorf("line %d: %+v, %v", want.Line, got, got.Fault)
				}
				if want.Warnings != nil && !slices.Equal(got.Warnings, *want.Warnings) || want.Normalised != nil && !slices.Equal(got.Normalised, *want.Normalised) {
					t.Errorf("line %d: warnings %v, normalised %v", want.Line, got.Warnings, got.Normalised)
				}
				if (got.Evidence != nil) != (len(want.Events) == 1) || (got.Text != nil) != (got.Evidence != nil) {
					t.Errorf("line %d: to persist: %v", want.Line, got.Evidence)
				}
				if hash, ok := want.Stored["diffHash"]; ok && (got.Evidence.DiffHash != hash || !strings.Contains(string(got.Text), hash)) {
					t.Errorf("line %d: stored %s", want.Line, got.Text)
				}
			}
		})
	}
}

func producerLine(t testing.TB) string {
	t.Helper()
	return contracts.Load[vector](t, "ingest")[0].Input
}

var known = memory{
	KnownTaskSeeds: map[contract.ID]capability.Set{"TS-001": capability.Of(capability.ReadRepo)},
	KnownActors:    []contract.ActorID{"codex"},
}

func now(t testing.TB) contract.Timestamp {
	t.Helper()
	ts, _ := contract.ParseTimestamp("2026-04-09T10:00:10Z")
	return ts
}

// However a growing file is cut, what is read in pieces is what is read at once.
func TestReadingAGrowingFileInPiecesGivesTheSame(t *testing.T) {
	line := strings.Replace(producerLine(t), "Linux 6.1", "Linüx ✓", 1)
	file := []byte("\ufeff" + line + "\r\n" + strings.Replace(line, "EV-100", "EV-101", 1) + "{not json}\n")
	whole := ingest.Read(file, known, now(t).Time())
	if s := whole.Summary(); s.Accepted != 2 || s.Refused != 1 || len(s.Actors) != 1 || whole.Read != len(file) {
		t.Fatalf("got %+v", s)
	}
	for cut := range file {
		first := ingest.Read(file[:cut], known, now(t).Time())
		store := known
		accepted := 0
		for _, l := range first.Lines {
			if l.Status == ingest.Accepted {
				accepted++
				store.Stored = append(slices.Clone(store.Stored), l.Text)
			}
		}
		rest := ingest.Read(file[first.Read:], store, now(t).Time())
		if got := accepted + rest.Summary().Accepted; got != 2 {
			t.Fatalf("cut at %d of %d, read %d: %d accepted\n%+v\n%+v", cut, len(file), first.Read, got, first.Lines, rest.Lines)
		}
	}
}

func TestALineWithALoneSurrogateHasNoCanonicalText(t *testing.T) {
	line := strings.Replace(producerLine(t), "gpt-5.4", `\ud800`, 1)
	got := ingest.Read([]byte(line), known, now(t).Time()).Lines[0]
	if got.Status != ingest.Refused || got.Fault.Code != refusal.HashInvalidUnicode {
		t.Errorf("got %+v", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(producerLine(f)))
	f.Add([]byte("{\"event\":\"inference\"}\n\n[]\n{\"kind\":1}\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := ingest.Read(text, known, now(t).Time())
		if r.Read < 0 || r.Read > len(text) {
			t.Fatalf("read %d of %d", r.Read, len(text))
		}
		last := 0
		for i, l := range r.Lines {
			if l.Line <= last || (l.Fault == nil) != (l.Status == ingest.Accepted || l.Status == ingest.Duplicate) {
				t.Fatalf("%+v", l)
			}
			if l.Status == ingest.Deferred && i != len(r.Lines)-1 {
				t.Fatal("a line in the middle is deferred")
			}
			last = l.Line
		}
	})
}

func TestHashesOfAProtocolContextAndOfLockfiles(t *testing.T) {
	type hashing struct {
		Name, Mode, InputHex, SHA256, Field string
		Context                             map[string]json.RawMessage
		Expected                            json.RawMessage
		Order                               []string
	}
	run := map[string]int{}
	for _, v := range contracts.Load[hashing](t, "hashing") {
		switch v.Mode {
		case "lockfile":
			b, _ := hex.DecodeString(v.InputHex)
			if got := ingest.LockfileHash(append([]byte{}, b...)); got != v.SHA256 {
				t.Errorf("%s: got %s", v.Name, got)
			}
		case "lockfile-order":
			if !slices.Equal(ingest.Lockfiles(), v.Order) {
				t.Errorf("%s: got %q", v.Name, ingest.Lockfiles())
			}
		case "context":
			text, _ := json.Marshal(v.Context)
			value, err := contract.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]func(map[string]any) string{"diffHash": ingest.DiffHash, "model.parametersHash": ingest.ParametersHash}[v.Field](value.(map[string]any))
			if want := strings.Trim(string(v.Expected), `"`); got != want {
				t.Errorf("%s: got %s, want %s", v.Name, got, want)
			}
		default: // package contract
			continue
		}
		run[v.Mode]++
	}
	if run["lockfile"] != 5 || run["lockfile-order"] != 1 || run["context"] != 7 {
		t.Errorf("run: %v", run)
	}
	if ingest.LockfileHash(nil) != "sha256:0bb0897373ab982545e1afd6a9de41f4e003aa7ed86808ef89b14a6e00c46c00" {
		t.Error("no lockfile has another hash")
	}
}

const record = `{"logger":"workflow.metrics","event":"inference","level":"INFO","timestamp":"2026-04-09T12:00:00.5+02:00",` +
	`"inference_id":"run-1","model":"gpt-5.4","prompt":{"messages":[{"role":"user","content":"Ping"}]},` +
	`"response":{"content":"Pong","finish_reason":"stop"},"extra":{"agent_protocol":{"evidence_id":" EV-100 ","task_seed_id":"TS-001",` +
	`"base_commit":"abc1234","head_commit":"def5678","actor":"codex","diff":{"files":["docs/spec.md"]},"parameters":{"temperature":0.2},` +
	`"tools":[" ","Read"],"environment":{"runtime":"go1.26"},"policy_verdict":"approved",` +
	`"stale_status":{"classification":"soft_stale","reason":"old"},"merge_result":{"status":"merged","merged_at":"2026-04-09T10:00:00","strategy":"higher_version"},` +
	`"approvals_snapshot":[{"role":"project_lead","actor_id":"lead-001","decision":"approved","decided_at":"2026-04-09T09:00:00Z"}]}}}`

// What a logger record becomes is an Evidence that ingestion can read.
func TestARecordBecomesEvidence(t *testing.T) {
	line, err := ingest.Produce([]byte(record), ingest.DefaultContextKey, ingest.Host{OS: "Linux 6.1", Runtime: "Python 3.11.7"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := contract.Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	e := d.(*contract.Evidence)
	for name, c := range map[string]struct{ got, want string }{
		"id":          {string(e.ID), "EV-100"},
		"time":        {e.EndTime.String(), "2026-04-09T10:00:00.500000+00:00"},
		"merged at":   {e.MergeResult.MergedAt.String(), "2026-04-09T10:00:00+00:00"},
		"input":       {e.InputHash, "sha256:350082ce23e6f34c67077362d02a83d40bad753fbe0ed177307975682ff6cf31"},
		"output":      {e.OutputHash, "sha256:18c22af0c3c51d259b3f90a2a6d92df413a64b61a198dad6f2cf2683efb00e8b"},
		"diff":        {e.DiffHash, "sha256:14df10aeb3c043eaec821e21ed892efb1c5c520e6bb107ef9c4df2d5ac1b0b7e"},
		"parameters":  {e.Model.ParametersHash, "sha256:3343deb6401157bc04c57916fafb02774d8485eef8f969d4ed6f7ceaf90524e9"},
		"model":       {e.Model.Name + " " + e.Model.Version, "gpt-5.4 unknown"},
		"tools":       {strings.Join(e.Tools, ","), "Read"},
		"environment": {e.Environment.OS + ", " + e.Environment.Runtime + ", " + e.Environment.ContainerImageDigest, "Linux 6.1, go1.26, uncontainerized"},
		"stale":       {string(e.StaleStatus.Classification) + " " + e.StaleStatus.EvaluatedAt.String(), "soft_stale 2026-04-09T10:00:00.500000+00:00"},
		"verdict":     {string(e.PolicyVerdict), "approved"},
		"approval":    {string(e.ApprovalsSnapshot[0].ActorID), "lead-001"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", name, c.got, c.want)
		}
	}
}

// The default record of the producer is the first vector of ingestion.
func TestARecordWithDefaultsIsTheProducersLine(t *testing.T) {
	const plain = `{"timestamp":"2026-04-09T10:00:00Z","model":"gpt-5.4","prompt":{"messages":[{"role":"user","content":"Ping"}]},` +
		`"response":{"content":"Pong","finish_reason":"stop"},"extra":{"agent_protocol":{"evidence_id":"EV-100","task_seed_id":"TS-001",` +
		`"base_commit":"abc1234","head_commit":"def5678","actor":"codex"}}}`
	line, err := ingest.Produce([]byte(plain), ingest.DefaultContextKey, ingest.Host{OS: "Linux 6.1", Runtime: "Python 3.11.7"})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := contract.Canonical([]byte(producerLine(t)))
	if string(line) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", line, want)
	}
}

func TestARecordWithoutAContextWritesNothing(t *testing.T) {
	_, err := ingest.Produce([]byte(`{"event":"inference"}`), ingest.DefaultContextKey, ingest.Host{})
	if !errors.Is(err, ingest.ErrNoContext) {
		t.Errorf("got %v", err)
	}
	for _, missing := range []string{"evidence_id", "task_seed_id", "base_commit", "head_commit", "actor"} {
		text := strings.Replace(record, `"`+missing+`"`, `"_"`, 1)
		if _, err := ingest.Produce([]byte(text), ingest.DefaultContextKey, ingest.Host{}); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
	for name, text := range map[string]string{
		"no tool":  strings.Replace(record, `"Read"`, `""`, 1),
		"no model": strings.Replace(record, `"model"`, `"_"`, 1),
		"no time":  strings.Replace(record, "2026-04-09T12", "yesterday", 1),
		"no JSON":  "{",
	} {
		if _, err := ingest.Produce([]byte(text), ingest.DefaultContextKey, ingest.Host{}); err == nil {
			t.Errorf("%s: produced", name)
		}
	}
}
