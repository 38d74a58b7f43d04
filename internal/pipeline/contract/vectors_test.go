package contract_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/testdata/contracts"
)

func parse(t testing.TB, text []byte) any {
	t.Helper()
	v, err := contract.Parse(text)
	if err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

// A valid document is decoded, and written back it is the same document.
func TestValidDocumentsAreReadAndWrittenBack(t *testing.T) {
	type vector struct {
		Name     string
		Kind     contract.Kind
		Document json.RawMessage
	}
	for _, v := range contracts.Load[vector](t, "schema-valid") {
		t.Run(v.Name, func(t *testing.T) {
			d, err := contract.Decode(v.Document)
			if err != nil {
				t.Fatal(err)
			}
			if d.Head().Kind != v.Kind {
				t.Errorf("read as %s", d.Head().Kind)
			}
			written := contract.Encode(d)
			if canonical, err := contract.Canonical(written); err != nil || !bytes.Equal(canonical, written) {
				t.Errorf("not written canonically: %s, %v", written, err)
			}
			if v.Kind == contract.KindIntent || v.Kind == contract.KindEvidence || v.Kind == contract.KindAcceptance {
				if !contract.Equal(parse(t, v.Document), parse(t, written)) {
					t.Errorf("written back as another document:\n%s\n%s", v.Document, written)
				}
			}
			again, err := contract.Decode(written)
			if err != nil || !bytes.Equal(contract.Encode(again), written) {
				t.Errorf("the second reading differs: %v", err)
			}
		})
	}
}

func TestInvalidDocumentsAreRefusedAtTheirPlaces(t *testing.T) {
	type vector struct {
		Name           string
		Kind           contract.Kind
		Document       json.RawMessage
		ExpectedErrors []struct{ Path, Keyword string }
	}
	for _, v := range contracts.Load[vector](t, "schema-invalid") {
		t.Run(v.Name, func(t *testing.T) {
			faults := contract.Validate(v.Kind, parse(t, v.Document))
			for _, want := range v.ExpectedErrors {
				found := false
				for _, f := range faults {
					found = found || f.Path == want.Path && f.Keyword == want.Keyword
				}
				if !found {
					t.Errorf("no %s at %q in\n%v", want.Keyword, want.Path, faults)
				}
			}
			for _, f := range faults {
				if f.Code != refusal.ContractSchemaInvalid || !f.Pointed {
					t.Errorf("%v has no place or another code", f)
				}
			}
			if _, err := contract.Decode(v.Document); err == nil {
				t.Error("the document was decoded")
			}
		})
	}
}

func TestCanonicalTextAndHashes(t *testing.T) {
	type vector struct {
		Name, Mode, InputText, InputHex, Canonical, CanonicalHex, SHA256, Value string
		Expected                                                                json.RawMessage
	}
	run := map[string]int{}
	for _, v := range contracts.Load[vector](t, "hashing") {
		var want contracts.Outcome
		_ = json.Unmarshal(v.Expected, &want)
		switch v.Mode {
		case "canonical-json":
			got, err := contract.Canonical([]byte(v.InputText))
			if want.Code != "" {
				bad, ok := errors.AsType[*contract.TextError](err)
				if !ok || string(bad.Refusal().Code) != want.Code {
					t.Errorf("%s: got %q, %v", v.Name, got, err)
				}
				break
			}
			if err != nil || string(got) != v.Canonical || hex.EncodeToString(got) != v.CanonicalHex || contract.Hash(got) != v.SHA256 {
				t.Errorf("%s: got %q, %v", v.Name, got, err)
			}
		case "raw-bytes":
			raw, _ := hex.DecodeString(v.InputHex)
			if got := contract.Hash(raw); got != v.SHA256 {
				t.Errorf("%s: got %s", v.Name, got)
			}
		case "format":
			if got := contract.WellFormedHash(v.Value); got != *want.OK {
				t.Errorf("%s: got %v", v.Name, got)
			}
		default: // lockfile and context belong to package ingest
			continue
		}
		run[v.Mode]++
	}
	if run["canonical-json"] < 30 || run["raw-bytes"] < 3 || run["format"] != 6 {
		t.Errorf("run: %v", run)
	}
	for hash, text := range map[string]string{contract.EmptyObjectHash: "{}", contract.EmptyStringHash: `""`, contract.EmptyDiffHash: ""} {
		if contract.Hash([]byte(text)) != hash {
			t.Errorf("%q does not hash to %s", text, hash)
		}
	}
}

// The schemas in the program are the published ones, byte for byte.
func TestEmbeddedSchemasAreThePublishedOnes(t *testing.T) {
	for _, k := range contract.Kinds() {
		want, err := contracts.Files.ReadFile("schemas/" + string(k) + ".schema.json")
		if err != nil || !bytes.Equal(want, contract.SchemaText(k)) {
			t.Errorf("%s differs: %v", k, err)
		}
	}
	if contract.SchemaText("Order") != nil {
		t.Error("an unknown kind has a schema")
	}
}

func TestExamplesAreContracts(t *testing.T) {
	entries, err := contracts.Files.ReadDir("examples")
	if err != nil || len(entries) != 6 {
		t.Fatal(len(entries), err)
	}
	for _, e := range entries {
		text, _ := contracts.Files.ReadFile("examples/" + e.Name())
		if _, err := contract.Decode(text); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
}

func examples(name string) ([]byte, error) {
	return contracts.Files.ReadFile("examples/" + name + ".sample.json")
}
