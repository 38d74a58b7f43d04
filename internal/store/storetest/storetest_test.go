package storetest_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline"
)

// A method no test calls could do anything on the second database.
func TestEveryMethodOfThePortIsTested(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var suite strings.Builder
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			text, err := os.ReadFile(e.Name())
			if err != nil {
				t.Fatal(err)
			}
			suite.Write(text)
		}
	}
	for port, receiver := range map[reflect.Type]string{
		reflect.TypeFor[pipeline.Store]():  `store`,
		reflect.TypeFor[pipeline.Reader](): `(r|tx)`,
		reflect.TypeFor[pipeline.Tx]():     `(r|tx|leaked)`,
	} {
		for i := range port.NumMethod() {
			name := port.Method(i).Name
			if !regexp.MustCompile(`\b` + receiver + `\.` + name + `\(`).MatchString(suite.String()) {
				t.Errorf("no test of the suite calls %s.%s", port.Name(), name)
			}
		}
	}
}
