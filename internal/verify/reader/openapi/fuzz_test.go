package openapi_test

import (
	"os"
	"testing"

	"plimsoll.dev/internal/verify/reader/openapi"
)

// Whatever a document holds, the reading ends in tools or an error; every tool
// has a name, a method and a place.
func FuzzOpenAPI(f *testing.F) {
	for _, name := range []string{"support-tools.openapi.yaml", "support.openapi.yaml", "fleet.openapi.yaml"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"openapi":"3.1.0","paths":{"/":{"$ref":"#/paths/~1"},"/a":{"get":{"parameters":[{"$ref":"#/paths"}]}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := openapi.Parse("x.yaml", text, "openapi", "api")
		if (r == nil) == (err == nil) {
			t.Fatalf("%v and %v", r, err)
		}
		if r == nil {
			return
		}
		for _, o := range r.Tools {
			if method, _ := o.Annotations["httpMethod"].(string); o.Name == "" || method == "" || o.Origin.Pointer == "" {
				t.Fatalf("%+v", o)
			}
		}
	})
}
