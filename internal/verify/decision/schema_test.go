package decision_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"plimsoll.dev"
	"plimsoll.dev/internal/verify/decision"
)

// Every decision is the ReleaseDecision of the published schema.
func TestADecisionKeepsItsSchema(t *testing.T) {
	text, err := plimsoll.VerificationSchema("verifier.v0.8")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///verifier", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("mem:///verifier#/$defs/ReleaseDecision")
	if err != nil {
		t.Fatal(err)
	}
	holds := func(t interface {
		Helper()
		Fatal(args ...any)
		Fatalf(format string, args ...any)
	}, d *decision.Decision,
	) {
		t.Helper()
		text := printed(t, d)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	rapid.Check(t, func(t *rapid.T) { holds(t, decision.Decide(inputs().Draw(t, "in"))) })

	// And with a gap of each kind.
	d := decision.Decide(decision.Input{})
	for kind := range kinds {
		d.Coverage.Gaps = append(d.Coverage.Gaps, gapOf(t, bare, kind, ""))
	}
	holds(t, d)
}
