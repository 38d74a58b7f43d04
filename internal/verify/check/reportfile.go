package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/source"
)

// MaxReport is the most bytes of a report that is read back.
const MaxReport = 64 << 20

// oldestReport is the oldest minor version of report.json that is read (§14).
const oldestReport = 12

// ReportFile is a report.json as far as its findings are concerned (§10.1).
type ReportFile struct {
	Version   string
	RunID     string
	Project   json.RawMessage
	Agent     json.RawMessage
	Facts     json.RawMessage // tool_surface_facts
	Findings  []ReportFinding
	Aside     []Finding // heuristics_filter.filtered_findings
	decisions map[string]Contribution
}

// ReportFinding is a finding and the bytes it was read from.
type ReportFinding struct {
	Finding
	Text json.RawMessage
}

// Counted is how a finding counted in the report's decision.
func (r *ReportFile) Counted(f *Finding) Contribution { return r.decisions[f.ID] }

// ReadReport reads a report. A key twice, another shape, and a version before
// 0.12 are refused.
func ReadReport(text []byte) (*ReportFile, error) {
	refuse := func(msg string, err error) (*ReportFile, error) {
		return nil, fault.E("check.ReadReport", fault.Invalid, "the report "+msg, err)
	}
	if len(text) > MaxReport {
		return refuse(fmt.Sprintf("is over %d MiB", MaxReport>>20), nil)
	}
	root, failed := source.ParseJSON(text)
	if failed != nil {
		return refuse(fmt.Sprintf("is no JSON at %d:%d", failed.Pos.Line, failed.Pos.Column), nil)
	}
	if root.Kind != source.Map || root.Get("findings").Kind != source.List {
		return refuse("has no list of findings", nil)
	}
	var f struct {
		Version  string            `json:"report_schema_version"`
		RunID    string            `json:"run_id"`
		Project  json.RawMessage   `json:"project"`
		Agent    json.RawMessage   `json:"agent"`
		Facts    json.RawMessage   `json:"tool_surface_facts"`
		Findings []json.RawMessage `json:"findings"`
		Decision *struct {
			Rules []struct {
				FindingID string `json:"finding_id"`
				Category  string `json:"category"`
				Rule      string `json:"rule"`
			} `json:"contribution_rules"`
		} `json:"release_decision"`
		Heuristics *struct {
			Filtered []Finding `json:"filtered_findings"`
		} `json:"heuristics_filter"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return refuse("has another shape", shapeOnly(err))
	}
	if !readable(f.Version) {
		return refuse(fmt.Sprintf("has report_schema_version %.20q; we read 0.%d and later", f.Version, oldestReport), nil)
	}
	r := &ReportFile{
		Version: f.Version, RunID: f.RunID, Project: f.Project, Agent: f.Agent, Facts: f.Facts, decisions: map[string]Contribution{},
	}
	for i, raw := range f.Findings {
		one := ReportFinding{Text: raw}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber() // a count of 51 is shown as 51
		if err := d.Decode(&one.Finding); err != nil {
			return refuse(fmt.Sprintf("has another shape at findings/%d", i), shapeOnly(err))
		}
		if one.Fingerprint == "" || one.CheckID == "" || one.Severity.Rank() < 0 {
			return refuse(fmt.Sprintf("has no fingerprint, check_id or severity at findings/%d", i), nil)
		}
		if one.ID == "" {
			one.ID = one.Fingerprint
		}
		r.Findings = append(r.Findings, one)
	}
	if f.Decision != nil {
		for _, row := range f.Decision.Rules {
			r.decisions[row.FindingID] = Contribution{Category: row.Category, Rule: row.Rule}
		}
	}
	if f.Heuristics != nil {
		r.Aside = f.Heuristics.Filtered
	}
	return r, nil
}

// readable says whether a version is 0.12 or later.
func readable(version string) bool {
	major, minor, ok := strings.Cut(version, ".")
	m, err := strconv.Atoi(major)
	n, errMinor := strconv.Atoi(minor)
	return ok && err == nil && errMinor == nil && m >= 0 && n >= 0 && (m > 0 || n >= oldestReport)
}

// Baseline is a new baseline that accepts the active findings of the report.
// What no baseline can cover is left out and counted.
func (r *ReportFile) Baseline(createdAt string, accepted Acceptance) (b *Baseline, left int) {
	b = &Baseline{
		Version: BaselineVersion, Project: r.Project, Agent: r.Agent, CreatedAt: createdAt, RunID: r.RunID, Entries: []Entry{},
		Facts: r.Facts,
	}
	accepted.RunID = r.RunID
	seen := map[string]bool{}
	for i := range r.Findings {
		f := &r.Findings[i].Finding
		if f.Suppressed {
			continue
		}
		if immune(f) || f.Category == "baseline" {
			left++
			continue
		}
		e := Entry{Fingerprint: f.Fingerprint, CheckID: f.CheckID, ToolName: f.ToolName, Severity: f.Severity, Title: f.Title}
		if f.Support != nil {
			e.SupportHash = f.Support.Hash
		}
		if key := entryKey(e.Fingerprint, e.SupportHash); !seen[key] {
			seen[key] = true
			said := accepted
			e.Provenance = &said
			b.Entries = append(b.Entries, e)
		}
	}
	return b, left
}

// Comparison is a report against a baseline (§7.5); lists are in report order
// and in file order.
type Comparison struct {
	Matched, New      []Finding
	Resolved, Expired []Entry
}

// Compare compares a report with a baseline on a day. It judges nothing.
func (r *ReportFile) Compare(b *Baseline, today string) Comparison {
	var findings []Finding
	for i := range r.Findings {
		// What the report says of its own baseline is no finding of this one.
		if f := r.Findings[i].Finding; f.Category != "baseline" {
			findings = append(findings, f)
		}
	}
	m := match(findings, r.Aside, b, today)
	c := Comparison{Resolved: m.Stale, Expired: m.Expired}
	for i := range findings {
		switch findings[i].BaselineStatus {
		case "matched":
			c.Matched = append(c.Matched, findings[i])
		case "new":
			c.New = append(c.New, findings[i])
		}
	}
	return c
}
