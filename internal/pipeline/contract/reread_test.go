package contract_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/testdata/contracts"
)

// A text that was taken once is read again as the same document, without its
// schema; one that was not is an error or a document, and never a panic.
func FuzzReread(f *testing.F) {
	type vector struct{ Document json.RawMessage }
	f.Add([]byte(intent))
	f.Add([]byte(`{"kind":"IntentContract","version":1,"requestedCapabilities":["fly"]}`))
	f.Add([]byte(`{"kind":"TaskSeed","version":1,"generationPolicy":{"requiredActivationApprovals":["king"]}}`))
	f.Add([]byte(`{"kind":"Order","version":1}`))
	for _, name := range []string{"schema-valid", "schema-invalid"} {
		for _, v := range contracts.Load[vector](f, name) {
			f.Add([]byte(v.Document))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		again, badly := contract.Reread(text)
		if (again == nil) == (badly == nil) {
			t.Fatalf("%v and %v", again, badly)
		}
		d, err := contract.Decode(text)
		if err != nil {
			return
		}
		if badly != nil || !reflect.DeepEqual(again, d) {
			t.Errorf("read as %+v, and again as %+v, %v", d, again, badly)
		}
	})
}
