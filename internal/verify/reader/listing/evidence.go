package listing

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// The states of an evidence file (docs/spec/verification.md §12.6).
const (
	evidenceAbsent  = "expected_but_absent"
	evidenceFailed  = "source_load_failed"
	evidenceLoaded  = "loaded"
	evidenceWarned  = "loaded_with_warnings"
	evidenceSource  = "validation" // source id of everything here
	overrideActions = "override, bypass or auto_approve"
)

// ReadEvidence reads the files that validation.evidence names (§4.6), in the
// order of the manifest. A file that is absent or malformed ends the reading
// unless it is optional; then it has its status, and a warning says why.
func ReadEvidence(m *manifest.Manifest, tree fs.FS) (tool.Evidence, []tool.Warning, *tool.SourceError) {
	var e tool.Evidence
	if m.Validation == nil {
		return e, nil, nil
	}
	v := m.Validation
	b := &block{tree: tree, id: evidenceSource, kind: evidenceSource, api: &tool.API{}, out: &tool.Reading{}}
	err := evidence(b, &e.Traces, v.ApprovalTraces, func(name string, text []byte) ([]tool.TraceEvent, *tool.SourceError) {
		b.api.Traces = nil
		err := b.traces(manifest.Artifact{}, name, text)
		return b.api.Traces, err
	})
	if err == nil {
		err = evidence(b, &e.Overrides, v.OverrideLogs, b.overrides)
	}
	if err == nil {
		err = evidence(b, &e.Exclusions, v.Exclusions, exclusions)
	}
	if err == nil {
		err = evidence(b, &e.Promotion, v.PromotionCriteria, promotion)
	}
	return e, b.out.Warnings, err
}

// evidence reads the files of one role.
func evidence[T any](b *block, into *tool.EvidenceFiles[T], list []manifest.Artifact, parse func(name string, text []byte) ([]T, *tool.SourceError)) *tool.SourceError {
	for _, art := range list {
		before := len(b.out.Warnings)
		var rows []T
		err := b.one(art, func(_ manifest.Artifact, name string, text []byte) (err *tool.SourceError) {
			rows, err = parse(name, text)
			return err
		})
		row := tool.EvidenceFile{Path: art.Path, Status: evidenceLoaded}
		switch {
		case err != nil && !art.Optional:
			return err
		case err != nil:
			row.Status, row.Detail = evidenceFailed, err.Detail
			if err.Problem == tool.NotThere {
				row.Status = evidenceAbsent
			}
			skipped := tool.Skipped(tool.Source{ID: b.id, Type: evidenceSource, Path: art.Path, Optional: true}, err)
			b.out.Warnings = append(b.out.Warnings, skipped.Warnings...)
		case len(b.out.Warnings) > before:
			row.Status, row.Detail = evidenceWarned, plural(len(b.out.Warnings)-before, "warning")
			into.Rows = append(into.Rows, rows...)
		default:
			into.Rows = append(into.Rows, rows...)
		}
		into.Files = append(into.Files, row)
	}
	return nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// overrides reads an override log. Rows that are no override are counted in one
// warning with the place of the first.
func (b *block) overrides(name string, text []byte) ([]tool.OverrideEvent, *tool.SourceError) {
	f, items, pointer, err := b.list(name, text, "overrides", "events")
	if err != nil {
		return nil, err
	}
	var rows []tool.OverrideEvent
	var first source.Value
	var firstAt string
	passed := 0
	for i, v := range items {
		at := pointer + "/" + strconv.Itoa(i)
		action := v.Get("action").Str()
		if v.Get("tool_name").Str() == "" || !slices.Contains([]string{"override", "bypass", "auto_approve"}, action) {
			if passed++; passed == 1 {
				first, firstAt = v, at
			}
			continue
		}
		rows = append(rows, tool.OverrideEvent{
			Tool: v.Get("tool_name").Text, Action: action, Reason: v.Get("reason").Str(), Actor: v.Get("actor").Str(),
			Timestamp: v.Get("timestamp").Str(), Location: name + "#" + at,
		})
	}
	if passed > 0 {
		f.warn("unsupported_override_row", plural(passed, "row")+" without a tool_name or with an action that is not "+overrideActions+" passed over; here the first", first, firstAt)
	}
	return rows, nil
}

func exclusions(name string, text []byte) ([]tool.Exclusion, *tool.SourceError) {
	list, err := manifest.ParseExclusions(name, text)
	if err != nil {
		return nil, problem(name, err)
	}
	rows := make([]tool.Exclusion, len(list))
	for i, e := range list {
		rows[i] = tool.Exclusion{
			Tool: e.Tool, Reason: e.Reason, Owner: e.Owner, Location: name + "#/high_risk_auto_approval_exclusions/" + strconv.Itoa(i),
		}
	}
	return rows, nil
}

func promotion(name string, text []byte) ([]tool.Promotion, *tool.SourceError) {
	p, err := manifest.ParsePromotion(name, text)
	if err != nil {
		return nil, problem(name, err)
	}
	return []tool.Promotion{{
		Posture: p.Posture, ApprovalTrace: p.ApprovalTrace, OverrideReason: p.OverrideReason, HighRiskExclusion: p.HighRiskExclusion,
		Location: name + "#/",
	}}, nil
}

// problem is the first fault of a file that the manifest names, with the number
// of the others.
func problem(name string, err error) *tool.SourceError {
	out := &tool.SourceError{Path: name, Problem: tool.Malformed, Detail: "is malformed", Err: err}
	faults, ok := errors.AsType[*manifest.Errors](err)
	if !ok {
		return out
	}
	p := faults.Problems[0]
	out.Line, out.Detail = p.Pos.Line, p.Message
	if p.Path != "" {
		out.Detail = p.Path + ": " + p.Message
	}
	if more := len(faults.Problems) - 1; more > 0 {
		out.Detail += fmt.Sprintf(" (and %s more)", plural(more, "problem"))
	}
	return out
}
