package shipgate

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
)

// sampleOutcome is what a verification of a sample comes to. Names and numbers
// of this kind do not depend on the machine or on the day.
type sampleOutcome struct {
	Decision string              `json:"decision"`
	Tools    []string            `json:"tools"` // all that were read, by name
	Analysed []string            `json:"analysed"`
	Checks   []string            `json:"checks"` // that have a finding
	Gaps     map[string][]string `json:"gaps"`   // subjects by kind
}

// sampleReport is the part of report.json that an outcome is made of.
type sampleReport struct {
	Catalog   []struct{ Name string } `json:"tool_catalog"`
	Inventory []struct{ Name string } `json:"tool_inventory"`
	Findings  []struct {
		ID      string
		CheckID string `json:"check_id"`
	}
	Release struct {
		Decision string
		Coverage struct {
			Gaps []struct{ Kind, Subject string } `json:"evidence_gaps"`
		} `json:"evidence_coverage"`
	} `json:"release_decision"`
}

// runSample verifies one sample in a repository of its own and compares what
// comes out with expected.json.
func runSample(env Env, dir string, files fs.FS, name string) error {
	got, err := verifySample(env, dir, files, name)
	if err != nil {
		return err
	}
	text, err := fs.ReadFile(files, "expected.json")
	if err != nil {
		return err
	}
	var want map[string]*sampleOutcome
	if err := json.Unmarshal(text, &want); err != nil {
		return err
	}
	if !reflect.DeepEqual(want[name], got) {
		return fmt.Errorf("verified as %+v, want %+v", got, want[name])
	}
	return nil
}

// laySample makes dir a repository with a sample in it that nobody committed yet.
func laySample(dir string, files fs.FS, name string) error {
	sample, err := fs.Sub(files, name)
	if err != nil {
		return err
	}
	return errors.Join(os.CopyFS(dir, sample), emptyRepository(dir))
}

// verifySample lays a sample into dir and scans it.
func verifySample(env Env, dir string, files fs.FS, name string) (*sampleOutcome, error) {
	if err := laySample(dir, files, name); err != nil {
		return nil, err
	}
	out, err := capture(env, dir, "", []string{"scan", "--json", "--today", "2026-01-01"})
	if err != nil {
		return nil, err
	}
	var r sampleReport
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, err
	}
	o := &sampleOutcome{Decision: r.Release.Decision, Tools: []string{}, Analysed: []string{}, Checks: []string{}, Gaps: map[string][]string{}}
	for _, t := range r.Catalog {
		o.Tools = append(o.Tools, t.Name)
	}
	for _, t := range r.Inventory {
		o.Analysed = append(o.Analysed, t.Name)
	}
	for _, f := range r.Findings {
		o.Checks = append(o.Checks, f.CheckID)
	}
	slices.Sort(o.Checks)
	o.Checks = slices.Compact(o.Checks)
	for _, g := range r.Release.Coverage.Gaps {
		o.Gaps[g.Kind] = append(o.Gaps[g.Kind], g.Subject)
	}
	return o, nil
}

// emptyRepository makes dir a repository with one commit of nothing, without
// starting git: what lies in dir is a change that somebody is about to make.
// Whoever reads the objects holds them against their names.
func emptyRepository(dir string) error {
	const (
		tree   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
		commit = "2abb7510e818b1da1f6da0ebc233afeded74b8ac"
		who    = "self-check <self-check@example.invalid> 0 +0000\n"
		text   = "tree " + tree + "\nauthor " + who + "committer " + who + "\nnothing\n"
	)
	for name, content := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		"refs/heads/main": commit + "\n",
		object(tree):      deflated("tree 0\x00"),
		object(commit):    deflated(fmt.Sprintf("commit %d\x00%s", len(text), text)),
	} {
		at := filepath.Join(dir, ".git", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func object(id string) string { return path.Join("objects", id[:2], id[2:]) }

func deflated(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	// A buffer takes every byte.
	if _, err := w.Write([]byte(s)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// surfaceSample is the sample that the commands around a report are tried on.
const surfaceSample = "support_refund_agent"

// aroundAReport runs every command that needs a manifest or a report, in the
// order in which one writes what the next one reads. Outcomes go into results,
// by command.
func aroundAReport(env Env, dir string, files fs.FS, results map[string]string) error {
	if err := laySample(dir, files, surfaceSample); err != nil {
		return err
	}
	// The sample keeps no record of its baselines; one is asked for here.
	manifest, err := os.OpenFile(filepath.Join(dir, "shipgate.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = manifest.WriteString("\nbaseline: {audit_log: .agents-shipgate/baseline-log.jsonl}\n")
	if err := errors.Join(err, manifest.Close()); err != nil {
		return err
	}
	const report, lock, other = reportsFolder + "/report.json", ".agents-shipgate/capabilities.lock.json", "other.lock.json"
	for _, args := range [][]string{
		{"doctor", "--json"},
		{"verify", "--preview", "--json"},
		{"scan", "--json"},
		{"verify", "--suggest-patches", "--json"},
		{"agent", "handoff", "--json"},
		{"audit", "--host", "--json"},
		{"explain-finding", "", "--from", report, "--json"},
		{"apply-patches", "--from", report, "--json"},
		{"baseline", "save", "--from", report, "--json"},
		{"baseline", "verify", "--json"},
		{"baseline", "diff", "--from", report, "--json"},
		{"capability", "export", "--json"},
		{"capability", "export", "--out", other, "--json"},
		{"capability", "diff", "--base", lock, "--head", other, "--json"},
	} {
		name := args[0]
		if slices.Contains([]string{"agent", "baseline", "capability"}, name) {
			name += " " + args[1]
		}
		if name == "explain-finding" {
			if args[1], err = firstFinding(filepath.Join(dir, filepath.FromSlash(report))); err != nil {
				results[name] = outcome(err)
				continue
			}
		}
		if before := results[name]; before == "" || before == passed {
			results[name] = outcome(runCommand(env, dir, args))
		}
	}
	return nil
}

// firstFinding is the id of a finding of a report.
func firstFinding(report string) (string, error) {
	text, err := os.ReadFile(report)
	if err != nil {
		return "", err
	}
	var r sampleReport
	if err := json.Unmarshal(text, &r); err != nil {
		return "", err
	}
	if len(r.Findings) == 0 {
		return "", errors.New("the sample has no finding")
	}
	return r.Findings[0].ID, nil
}
