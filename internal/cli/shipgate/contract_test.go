package shipgate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

// promised is the contract as a program reads it.
func promised(t *testing.T) map[string]any {
	t.Helper()
	code, stdout, stderr := call(shipgate.Env{Dir: t.TempDir()}, "", []string{"contract", "--json"})
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	var all map[string]any
	if err := json.Unmarshal(stdout, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// A schema that the contract names lies there, and is of the version that it
// names; what has no version has no path.
func TestTheContractNamesSchemasThatAreThere(t *testing.T) {
	all, seen := promised(t), 0
	for key, path := range all {
		document, ok := strings.CutSuffix(key, "_schema_path")
		if !ok {
			continue
		}
		seen++
		version, _ := all[document+"_schema_version"].(string)
		text, err := os.ReadFile(filepath.Join("../../..", path.(string)))
		if err != nil {
			t.Error(err)
			continue
		}
		if version == "" || !bytes.Contains(text, []byte(`"`+version+`"`)) {
			t.Errorf("%s is of version %q, and %s does not speak of it", document, version, path)
		}
	}
	if seen < 7 {
		t.Errorf("the contract names %d schemas", seen)
	}
}

// Every command that the contract shows is there.
func TestTheContractNamesCommandsThatAreThere(t *testing.T) {
	env := shipgate.Env{Dir: t.TempDir()}
	for _, line := range promised(t)["commands"].(map[string]any) {
		words := strings.Fields(line.(string))[1:]
		if code, _, stderr := call(env, "", append(words, "--help")); code != 0 {
			t.Errorf("%v ends with %d: %s", words, code, stderr)
		}
	}
}

// Every file of a verification is in the contract, under the key it has there.
func TestTheContractNamesEveryArtifact(t *testing.T) {
	adopted := change{adopted: true}
	env := shipgate.Env{Dir: adopted.build(t)}
	env.Environ = append(os.Environ(), quietGit(env.Dir)...)
	code, stdout, stderr := call(env, "", []string{"verify", "--json"})
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	var verifier struct{ Artifacts map[string]string }
	if err := json.Unmarshal(stdout, &verifier); err != nil {
		t.Fatal(err)
	}
	files, err := artifactsIn(filepath.Join(env.Dir, "agents-shipgate-reports"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d artifacts, %v", len(files), err)
	}
	known := promised(t)["artifacts"].(map[string]any)
	for key, path := range verifier.Artifacts {
		if name := filepath.Base(path); known[key] != name {
			t.Errorf("%s is %s, and in the contract %v", key, name, known[key])
		}
		delete(files, filepath.Base(path))
	}
	for name := range files {
		t.Errorf("%s is written and in no list", name)
	}
}
