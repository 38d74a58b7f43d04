package ingest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline/ingest"
)

var examples = filepath.Join("..", "..", "..", "examples", "workflow-cookbook")

// What the shipped configuration of the plugin makes of the shipped records is
// the shipped Evidence (docs/spec/contracts.md §10.1).
func TestTheExampleOfThePluginIsWhatItWrites(t *testing.T) {
	config, err := os.ReadFile(filepath.Join(examples, "inference_plugins.json"))
	if err != nil {
		t.Fatal(err)
	}
	var plugins struct {
		InferencePlugins []struct {
			Factory string `json:"factory"`
			Enabled *bool  `json:"enabled"`
			Options struct {
				Path       string `json:"path"`
				RepoRoot   string `json:"repo_root"`
				ContextKey string `json:"context_key"`
			} `json:"options"`
		} `json:"inference_plugins"`
	}
	d := json.NewDecoder(bytes.NewReader(config))
	d.DisallowUnknownFields()
	if err := d.Decode(&plugins); err != nil {
		t.Fatal(err)
	}
	if len(plugins.InferencePlugins) != 1 {
		t.Fatalf("%d plugins", len(plugins.InferencePlugins))
	}
	p := plugins.InferencePlugins[0]
	if p.Factory != "tools.protocols.evidence_bridge:create_agent_protocol_evidence_plugin" || p.Enabled != nil && !*p.Enabled ||
		!strings.HasSuffix(p.Options.Path, ".jsonl") || p.Options.RepoRoot == "" || p.Options.ContextKey != ingest.DefaultContextKey {
		t.Errorf("the plugin is %+v", p)
	}
	records, err := os.ReadFile(filepath.Join(examples, "records.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	absent, incomplete := 0, 0
	host := ingest.Host{OS: "Linux 6.1", Runtime: "Python 3.11.7", Lockfile: []byte("requests==2.32\r\n")}
	for record := range bytes.Lines(records) {
		line, err := ingest.Produce(record, p.Options.ContextKey, host)
		switch {
		case errors.Is(err, ingest.ErrNoContext):
			absent++
		case err != nil:
			incomplete++
		default:
			lines.Write(append(line, '\n'))
		}
	}
	if absent != 1 || incomplete != 3 {
		t.Errorf("%d records have no context and %d an incomplete one", absent, incomplete)
	}
	golden := filepath.Join(examples, "evidence.jsonl")
	if os.Getenv("PLIMSOLL_GOLDEN") == "1" {
		if err := os.WriteFile(golden, lines.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(lines.Bytes(), want) {
		t.Errorf("the plugin writes\n%s\nand the example has\n%s", lines.Bytes(), want)
	}
}
