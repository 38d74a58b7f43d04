package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/check"
)

const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sourceRoot   = "%SRCROOT%"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
	Properties sarifRunProps `json:"properties"`
}

type sarifRunProps struct {
	Decision string `json:"releaseDecision"`
	Reason   string `json:"reason"`
	RunID    string `json:"runId"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string         `json:"id"`
	Short   sarifText      `json:"shortDescription"`
	Full    *sarifText     `json:"fullDescription,omitempty"`
	Help    *sarifText     `json:"help,omitempty"`
	HelpURI string         `json:"helpUri,omitempty"`
	Config  sarifConfig    `json:"defaultConfiguration"`
	Props   sarifRuleProps `json:"properties"`
}

type sarifRuleProps struct {
	Category string   `json:"category"`
	Tags     []string `json:"tags"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"fingerprints"`
	Baseline     string            `json:"baselineState,omitempty"`
	Properties   sarifResultProps  `json:"properties"`
}

type sarifResultProps struct {
	Severity       check.Severity `json:"severity"`
	Confidence     string         `json:"confidence"`
	ToolName       string         `json:"toolName,omitempty"`
	Recommendation string         `json:"recommendation"`
	BlocksRelease  bool           `json:"blocksRelease"`
	HumanReview    bool           `json:"requiresHumanReview"`
	Pointer        string         `json:"sourcePointer,omitempty"`
	Evidence       any            `json:"evidence"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine,omitempty"`
}

// level is a severity as SARIF has it.
func level(s check.Severity) string {
	switch {
	case s.Rank() >= check.High.Rank():
		return "error"
	case s == check.Medium:
		return "warning"
	}
	return "note"
}

// SARIF is report.sarif (§10): one run, suppressed findings left
// out, secrets masked. version is the version of the program.
func SARIF(in *Input, version string) (canonical.Doc, error) {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "agents-shipgate", Version: version}}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
		Properties: sarifRunProps{string(in.Decision.Decision), in.Decision.Reason, in.RunID},
	}
	findings := in.findings()
	active := make([]*shown, 0, len(findings))
	used := map[string]*check.Finding{}
	for i := range findings {
		if f := &findings[i]; !f.Suppressed {
			active = append(active, f)
			if used[f.CheckID] == nil {
				used[f.CheckID] = f.Finding
			}
		}
	}
	index := map[string]int{}
	catalogue := map[string]*check.Check{}
	for _, c := range check.Catalogue() {
		catalogue[c.ID] = c
	}
	run.Tool.Driver.Rules = []sarifRule{}
	for i, id := range slices.Sorted(maps.Keys(used)) {
		index[id] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(id, catalogue[id], used[id]))
	}
	run.Results = make([]sarifResult, len(active))
	in.Each.Do(len(active), func(i int) { run.Results[i] = in.result(active[i], index[active[i].CheckID]) })
	return documentBy(in.Each, &sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

// ruleOf is the rule of a check. A rule of a policy pack is not in the
// catalogue; its finding says what it is.
func ruleOf(id string, c *check.Check, f *check.Finding) sarifRule {
	if c == nil {
		return sarifRule{
			ID: id, Short: sarifText{redact.Text(f.Title)}, Config: sarifConfig{level(f.Severity)},
			Props: sarifRuleProps{f.Category, []string{"agents", f.Category}},
		}
	}
	r := sarifRule{
		ID: id, Short: sarifText{cmp.Or(c.Title, c.ID)}, HelpURI: f.DocsURL, Config: sarifConfig{level(c.Severity)},
		Props: sarifRuleProps{c.Category, []string{"agents", c.Category}},
	}
	if c.Description != "" {
		r.Full = &sarifText{c.Description}
	}
	if c.Recommendation != "" {
		r.Help = &sarifText{c.Recommendation}
	}
	if !strings.HasPrefix(r.HelpURI, "https://") {
		r.HelpURI = ""
	}
	return r
}

func (in *Input) result(f *shown, rule int) sarifResult {
	r := sarifResult{
		RuleID: f.CheckID, RuleIndex: rule, Level: level(f.Severity), Message: sarifText{redact.Text(f.Title)},
		Fingerprints: map[string]string{"agentsShipgateFingerprint": f.Fingerprint},
		Properties: sarifResultProps{
			f.Severity, string(f.Confidence), f.ToolName, f.Recommendation, f.BlocksRelease, f.HumanReview, f.Source.Pointer,
			shorten(f.evidence),
		},
	}
	switch f.BaselineStatus {
	case "matched":
		r.Baseline = "unchanged"
	case "new":
		r.Baseline = "new"
	}
	// A finding without a file of its own is about what the manifest says, or
	// does not say.
	path, region := f.Source.Path, (*sarifRegion)(nil)
	if path == "" {
		path = cmp.Or(in.ConfigPath, "shipgate.yaml")
	} else if s := &f.Source; s.StartLine > 0 {
		region = &sarifRegion{StartLine: s.StartLine, StartColumn: max(s.StartColumn, 0)}
		if s.EndLine >= s.StartLine {
			region.EndLine = s.EndLine
		}
	}
	r.Locations = []sarifLocation{{sarifPhysical{sarifArtifact{uri(path), sourceRoot}, region}}}
	return r
}

// uri is a relative path as a URI reference (RFC 3986).
func uri(path string) string {
	if !strings.ContainsFunc(path, escaped) {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; escaped(rune(c)) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func escaped(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._~/", c)
}

const (
	maxItems = 20
	maxText  = 1000
)

// shorten summarises what would make the file too large to show (§10): lists
// over 20 items and texts over 1000 characters, at every level.
func shorten(v any) any {
	if short(v) {
		return v // as nearly all evidence is
	}
	switch v := v.(type) {
	case string:
		n := utf8.RuneCountInString(v)
		if n <= maxText {
			return v
		}
		return string([]rune(v)[:maxText]) + fmt.Sprintf(" … and %d more characters", n-maxText)
	case []any:
		out := make([]any, 0, min(len(v), maxItems+1))
		for _, e := range v[:min(len(v), maxItems)] {
			out = append(out, shorten(e))
		}
		if n := len(v) - maxItems; n > 0 {
			out = append(out, fmt.Sprintf("… and %d more", n))
		}
		return out
	case []string:
		items := make([]any, len(v))
		for i, e := range v {
			items[i] = e
		}
		return shorten(items)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = shorten(e)
		}
		return out
	}
	return v
}

// short says whether a value is shown as it is; a list that is not there is shown
// as an empty one.
func short(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) <= maxText || utf8.RuneCountInString(v) <= maxText
	case []any:
		return v != nil && len(v) <= maxItems && !slices.ContainsFunc(v, func(e any) bool { return !short(e) })
	case []string:
		return v != nil && len(v) <= maxItems && !slices.ContainsFunc(v, func(e string) bool { return !short(e) })
	case map[string]any:
		for _, e := range v {
			if !short(e) {
				return false
			}
		}
		return v != nil
	}
	return true
}
