package delta_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"plimsoll.dev"
	"plimsoll.dev/internal/verify/delta"
)

var compiled sync.Map

// schema is a published schema, compiled by a library that is not ours.
func schema(t rapid.TB, name string) *jsonschema.Schema {
	t.Helper()
	if s, ok := compiled.Load(name); ok {
		return s.(*jsonschema.Schema)
	}
	text, err := plimsoll.VerificationSchema(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, document); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	compiled.Store(name, s)
	return s
}

func valid(t rapid.TB, name string, text []byte) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := schema(t, name).Validate(document); err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
}

// written is a lock as a file, held against the published schema.
func written(t rapid.TB, l *delta.Lock) []byte {
	t.Helper()
	text, err := l.JSON()
	if err != nil {
		t.Fatal(err)
	}
	valid(t, "capability-lock.v0.6", text)
	return text
}

// compared is the difference of two locks, held against the published schema.
func compared(t rapid.TB, base, head *delta.Lock) *delta.LockDiff {
	t.Helper()
	d, err := delta.DiffLocks(base, head)
	if err != nil {
		t.Fatal(err)
	}
	text, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	valid(t, "capability-lock-diff.v0.7", text)
	return d
}

func TestTheSchemasTellDocumentsApart(t *testing.T) {
	lock := written(t, locked(t, surface(action("get_stock"))))
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(lock))
	if err != nil {
		t.Fatal(err)
	}
	if schema(t, "capability-lock-diff.v0.7").Validate(document) == nil {
		t.Error("a lock passes for a difference")
	}
	document.(map[string]any)["more"] = true
	if schema(t, "capability-lock.v0.6").Validate(document) == nil {
		t.Error("the schema of the lock takes an unknown member")
	}
}
