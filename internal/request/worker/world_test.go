package worker_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/worker"
)

// may is a Friday.
var may = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

var shipped = sync.OnceValue(func() *constitution.Set {
	set, err := constitution.Load(os.DirFS("../../../config/roles/clan/zhos"))
	if err != nil {
		panic(err)
	}
	return set
})

var schema = sync.OnceValue(func() *artifact.Schema {
	text, err := os.ReadFile("../../../docs/contracts/clan-artifact.schema.json")
	if err != nil {
		panic(err)
	}
	s, err := artifact.NewSchema(text)
	if err != nil {
		panic(err)
	}
	return s
})

// roll is a circle of four: olha does everything, iryna is of the council.
func roll() circle.Roll {
	member := func(id string, roles ...circle.Role) circle.Member {
		return circle.Member{Circle: "c-forest", Actor: id, Spell: 1, Roles: append([]circle.Role{circle.Plain}, roles...), Since: may.AddDate(-1, 0, 0)}
	}
	return circle.Roll{member("m-olha", circle.Council, circle.Steward), member("m-taras"), member("m-iryna", circle.Council), member("m-petro", circle.Council)}
}

// task is a turn of a worker for a text, for all that the worker may return.
func task(id constitution.AgentID, locale, text string) *worker.Task {
	w, ok := shipped().Registry().Worker(id)
	if !ok {
		panic(id)
	}
	t := &worker.Task{
		Worker: id, Outputs: w.Outputs, Run: "run-1", Now: may, IDs: []string{"a-1", "a-2", "a-3", "a-4", "a-5", "a-6", "a-7", "a-8"},
		Request: worker.Request{
			ID: "r-1", Circle: "c-forest", Member: "m-olha", Channel: envelope.Channel{Kind: envelope.Internal, ID: "console"},
			Origin: envelope.Internal, Target: envelope.Circle, Locale: locale, Intent: constitution.CircleDecision,
			Consent: envelope.ConsentNotRequired, Text: text,
		},
		Facts: worker.Facts{Set: shipped(), Circle: circle.Circle{ID: "c-forest", Name: "Forest"}, Roll: roll()},
	}
	t.Request.Source = artifact.Source{
		Kind: artifact.FromRequest, ID: "r-1", SHA256: artifact.Digest([]byte(text)), Visibility: envelope.Circle, Origin: envelope.Internal,
	}
	return t
}

func outputs(t *worker.Task, of ...envelope.ArtifactType) *worker.Task {
	t.Outputs = of
	return t
}

// run does a turn and checks whatever must hold of every answer: the types are
// those asked for, each content is as its schema has it and says the same again,
// and an artifact can be made of it.
func run(t *testing.T, task *worker.Task) []worker.Draft {
	t.Helper()
	r, err := worker.Engines()[task.Worker].Work(task)
	if err != nil {
		t.Fatalf("%s: %v", task.Worker, err)
	}
	again, err := worker.Engines()[task.Worker].Work(task)
	if err != nil || len(again.Drafts) != len(r.Drafts) || len(r.Drafts) == 0 || len(r.Drafts) > len(task.IDs) {
		t.Fatalf("%s: %d drafts, then %d, %v", task.Worker, len(r.Drafts), len(again.Drafts), err)
	}
	for i, d := range r.Drafts {
		if string(again.Drafts[i].Content) != string(d.Content) {
			t.Errorf("%s answers another thing the second time", task.Worker)
		}
		if !slices.Contains(task.Outputs, d.Type) {
			t.Errorf("%s answers %s, which nobody asked for", task.Worker, d.Type)
		}
		making := artifact.Making{
			ID: task.IDs[i], Circle: "c-forest", Owner: "m-olha", Type: d.Type, Target: envelope.Private, Status: artifact.Draft, Content: d.Content,
			Origin: task.Request.Origin, Now: task.Now,
			Provenance: artifact.Provenance{
				RequestID: "r-1", Worker: task.Worker, RunID: task.Run, ConstitutionVersion: "1.0.0", SubagentPromptVersion: "1.0.0",
				Engine: constitution.Builtin, Sources: d.Sources,
			},
		}
		a, err := artifact.Make(making, schema())
		if err != nil {
			t.Fatalf("%s: %v\n%s", task.Worker, err, d.Content)
		}
		if faults := schema().CheckDocument(a.Document()); len(faults) > 0 {
			t.Errorf("%s: %v", task.Worker, faults)
		}
	}
	return r.Drafts
}

// only is the content of the only draft of a turn.
func only(t *testing.T, task *worker.Task) map[string]any {
	t.Helper()
	drafts := run(t, task)
	if len(drafts) != 1 {
		t.Fatalf("%d drafts", len(drafts))
	}
	return read(t, drafts[0])
}

func read(t *testing.T, d worker.Draft) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(d.Content, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// at is a member of a content, by a path such as "steps.0.title"; its JSON when it
// is no text.
func at(o any, path string) string {
	for _, key := range strings.Split(path, ".") {
		switch v := o.(type) {
		case map[string]any:
			o = v[key]
		case []any:
			i := 0
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(v) {
				return ""
			}
			o = v[i]
		}
	}
	switch v := o.(type) {
	case string:
		return v
	case nil:
		return ""
	}
	b, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// says checks members of a content by their paths. A wanted value that begins with
// "~" need only be part of what is there, one with "!" must not be; "" is that
// there is no such member.
func says(t *testing.T, o map[string]any, want map[string]string) {
	t.Helper()
	for path, value := range want {
		got := at(o, path)
		ok := got == value
		if part, partly := strings.CutPrefix(value, "~"); partly {
			ok = strings.Contains(got, part)
		} else if part, not := strings.CutPrefix(value, "!"); not {
			ok = !strings.Contains(got, part)
		}
		if !ok {
			t.Errorf("%s is %q, want %q", path, got, value)
		}
	}
}

// made is an artifact of an earlier step.
func made(id string, of envelope.ArtifactType, content string, change ...func(*artifact.Artifact)) artifact.Artifact {
	v, err := contract.Parse([]byte(content))
	if err != nil {
		panic(err)
	}
	a := artifact.Artifact{
		ID: id, Version: 1, Circle: "c-forest", Owner: "m-olha", Type: of, Visibility: envelope.Circle, Status: artifact.Draft,
		Content: contract.CanonicalValue(v), Scope: artifact.Scope{Action: of.Needs(), Visibility: envelope.Circle},
		Provenance: artifact.Provenance{Origin: envelope.Internal}, CreatedAt: may,
	}
	a.ContentSHA256 = artifact.Digest(a.Content)
	for _, c := range change {
		c(&a)
	}
	return a
}

// document is a document that a request refers to.
func document(kind envelope.ReferenceKind, id, text string) worker.Document {
	return worker.Document{
		Reference: envelope.Reference{Kind: kind, ID: id}, Found: true, Title: id, Text: text,
		Source: artifact.Source{
			Kind: artifact.SourceKind(kind), ID: id, SHA256: artifact.Digest([]byte(text)), Visibility: envelope.Circle, Origin: envelope.Internal,
		},
	}
}

func refers(t *worker.Task, docs ...worker.Document) *worker.Task {
	for _, d := range docs {
		t.Facts.Documents = append(t.Facts.Documents, d)
		t.Request.References = append(t.Request.References, d.Reference)
	}
	return t
}
