// Package contracts embeds the schemas, the examples and the test vectors of
// the contract specification (docs/spec/contracts.md §19), so that every
// package under test reads the same files in the same way.
package contracts

import (
	"bytes"
	"embed"
	"encoding/json"
	"testing"
)

// Files holds schemas, schemas-ours, examples and vectors by their path here.
//
//go:embed schemas schemas-ours examples vectors
var Files embed.FS

// Load reads the vectors of one suite into T and fails the test when the file
// does not hold as many as it says: a suite that silently shrank proves less
// than it claims.
func Load[T any](t testing.TB, suite string) []T {
	t.Helper()
	text, err := Files.ReadFile("vectors/" + suite + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Count   int `json:"count"`
		Vectors []T `json:"vectors"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		t.Fatalf("%s: %v", suite, err)
	}
	if len(file.Vectors) == 0 || len(file.Vectors) != file.Count {
		t.Fatalf("%s holds %d vectors and says %d", suite, len(file.Vectors), file.Count)
	}
	return file.Vectors
}

// Outcome is the part of an expectation that every suite shares.
type Outcome struct {
	OK   *bool  `json:"ok"`
	Code string `json:"code"`
	Path string `json:"path"`
}
