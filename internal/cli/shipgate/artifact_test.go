package shipgate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll.dev"
	"plimsoll.dev/internal/cli/shipgate"
)

// artifactSchemas are the published schemas by the artifact that they are about.
var artifactSchemas = map[string]string{
	"verifier.json": "verifier.v0.8", "verify-run.json": "verify-run.v4", "report.json": "report.v0.34",
	"capabilities.lock.json": "capability-lock.v0.6", "base.capabilities.lock.json": "capability-lock.v0.6",
	"capability-lock-diff.json": "capability-lock-diff.v0.7",
	"agent-handoff.json":        "agent-handoff.v7",
}

var compiledArtifacts = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	all := map[string]*jsonschema.Schema{}
	for artifact, name := range artifactSchemas {
		text, err := plimsoll.VerificationSchema(name)
		if err != nil {
			return nil, err
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name+".json", document); err != nil {
			return nil, err
		}
		if all[artifact], err = c.Compile(name + ".json"); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// flag is the value of a flag on a command line, or the default.
func flagOf(args []string, name, otherwise string) string {
	if i := slices.Index(args, "--"+name); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return otherwise
}

// validArtifacts holds what a verification wrote against the published schemas,
// and a second run against the first: the same bytes in every file.
func validArtifacts(env shipgate.Env, args []string) error {
	workspace := flagOf(args, "workspace", ".")
	if !filepath.IsAbs(workspace) {
		workspace = filepath.Join(env.Dir, workspace)
	}
	dir := flagOf(args, "out", "agents-shipgate-reports")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(workspace, dir)
	}
	first, err := artifactsIn(dir)
	if err != nil || first == nil {
		return err
	}
	schemas, err := compiledArtifacts()
	if err != nil {
		return err
	}
	for name, schema := range schemas {
		text, ok := first[name]
		if !ok {
			continue
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := schema.Validate(document); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if first["verifier.json"] != nil {
		if err := validHandoff(env, dir, first["verifier.json"]); err != nil {
			return fmt.Errorf("agent handoff: %w", err)
		}
	}
	call(env, "", args)
	second, err := artifactsIn(dir)
	if err != nil {
		return err
	}
	for name, text := range first {
		if !bytes.Equal(text, second[name]) {
			return fmt.Errorf("a second run wrote another %s", name)
		}
	}
	if len(second) != len(first) {
		return errors.New("a second run wrote other files")
	}
	return nil
}

// artifactsIn is every file of a reports folder; nil when there is none.
func artifactsIn(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".shipgate-") {
			return nil, fmt.Errorf("%s was left behind", e.Name())
		}
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// validHandoff holds the packet of a run against its schema, and its verdict
// against the verifier's.
func validHandoff(env shipgate.Env, dir string, verifier []byte) error {
	code, packet, stderr := call(env, "", []string{"agent", "handoff", "--from", filepath.Join(dir, "verifier.json"), "--json"})
	if code != 0 {
		return fmt.Errorf("exit code %d: %s", code, stderr)
	}
	schemas, err := compiledArtifacts()
	if err != nil {
		return err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(packet))
	if err != nil {
		return err
	}
	if err := schemas["agent-handoff.json"].Validate(document); err != nil {
		return err
	}
	type verdict struct {
		Control       json.RawMessage `json:"control"`
		MergeVerdict  string          `json:"merge_verdict"`
		Applicability string          `json:"applicability"`
		Decision      *string         `json:"decision"`
		CanMerge      bool            `json:"can_merge_without_human"`
	}
	var want verdict
	var have struct {
		Gate    verdict
		Control json.RawMessage
	}
	if err := errors.Join(json.Unmarshal(verifier, &want), json.Unmarshal(packet, &have)); err != nil {
		return err
	}
	have.Gate.Control = have.Control
	if !reflect.DeepEqual(have.Gate, want) {
		return fmt.Errorf("the packet says %s, the verifier %s", have.Gate.Control, want.Control)
	}
	return nil
}
