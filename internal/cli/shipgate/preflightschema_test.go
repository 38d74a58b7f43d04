package shipgate_test

import (
	"bytes"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll.dev"
)

var compiledPreflight = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := plimsoll.VerificationSchema("preflight-result.v3")
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("preflight.json", document); err != nil {
		return nil, err
	}
	return c.Compile("preflight.json")
})

// validPreflight holds a result of preflight against the published schema.
func validPreflight(text []byte) error {
	schema, err := compiledPreflight()
	if err != nil {
		return err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(document)
}
