package patch

import (
	"slices"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Report is what a report.json says of patches (§10.1).
type Report struct {
	ManifestDir string // absolute
	Findings    []Finding
}

// Finding is one finding with what may close it.
type Finding struct {
	CheckID, Fingerprint, Title string
	Patches                     []check.Patch
}

// Suggestion is one patch and the finding it belongs to.
type Suggestion struct {
	Finding *Finding
	Index   int // in the finding's patches
	Patch   check.Patch
}

// Kinds are the kinds that edit a file.
var Kinds = []check.PatchKind{check.SetPointer, check.AppendPointer, check.RemovePointer}

var confidences = []tool.Confidence{tool.Low, tool.Medium, tool.High}

// ParseReport reads the patches out of a report. A payload that cannot be meant
// is refused as a whole, with its place.
func ParseReport(text []byte) (*Report, *Error) {
	if len(text) > manifest.MaxFile {
		return nil, refuse(Input, "the report is over %d MiB", manifest.MaxFile>>20)
	}
	text, _ = source.TrimBOM(text)
	root, err := source.ParseJSON(text)
	if err != nil {
		return nil, refuse(Input, "the report is no valid JSON: %v", err)
	}
	findings := root.Get("findings")
	if root.Kind != source.Map || findings.Kind != source.List {
		return nil, refuse(Malformed, "this is no report: it has no list of findings")
	}
	r := &Report{ManifestDir: root.Get("manifest_dir").Str()}
	for i, v := range findings.Items {
		if v.Kind != source.Map {
			return nil, refuse(Malformed, "findings[%d] is no object", i)
		}
		if v.Get("suppressed").True() {
			continue
		}
		f := Finding{CheckID: v.Get("check_id").Str(), Fingerprint: v.Get("fingerprint").Str(), Title: v.Get("title").Str()}
		patches := v.Get("patches")
		if given := patches.Kind != source.Null && patches.Present(); given && patches.Kind != source.List {
			return nil, refuse(Malformed, "findings[%d].patches is no list", i)
		}
		for j, p := range patches.Items {
			patch, problem := parsePatch(p)
			if problem != "" {
				return nil, refuse(Malformed, "findings[%d].patches[%d]: %s", i, j, problem)
			}
			f.Patches = append(f.Patches, patch)
		}
		r.Findings = append(r.Findings, f)
	}
	return r, nil
}

// patchKeys are the members that a patch may have.
var patchKeys = []string{
	"kind", "target_file", "pointer", "value", "target_format", "confidence", "rationale", "target_sha256", "instructions",
}

func parsePatch(v source.Value) (check.Patch, string) {
	if v.Kind != source.Map {
		return check.Patch{}, "is no object"
	}
	for _, m := range v.Members {
		if !slices.Contains(patchKeys, m.Key) {
			return check.Patch{}, "has a member that no patch has"
		}
		if m.Key != "value" && m.Value.Kind != source.String && m.Value.Kind != source.Null {
			return check.Patch{}, m.Key + " is no text"
		}
	}
	p := check.Patch{
		Kind: check.PatchKind(v.Get("kind").Str()), TargetFile: v.Get("target_file").Str(), Pointer: v.Get("pointer").Str(),
		Format: v.Get("target_format").Str(), Confidence: tool.Confidence(v.Get("confidence").Str()), Rationale: v.Get("rationale").Str(),
		TargetSHA256: v.Get("target_sha256").Str(), Instructions: v.Get("instructions").Str(),
	}
	value := v.Get("value")
	if value.Present() {
		p.Value = manifest.JSON(value)
	}
	switch {
	case p.Kind == check.Manual:
		return p, ""
	case !slices.Contains(Kinds, p.Kind):
		return p, "kind is none that is known"
	case p.TargetFile == "":
		return p, "target_file is missing"
	case !Format(p.Format).Valid():
		return p, "target_format is neither yaml nor json"
	case !slices.Contains(confidences, p.Confidence):
		return p, "confidence is neither high, medium nor low"
	case digestOf(p.TargetSHA256) == "":
		return p, "target_sha256 is no SHA-256"
	case p.Kind != check.RemovePointer && !value.Present():
		return p, "value is missing"
	case p.Kind == check.RemovePointer && value.Present():
		return p, "value stands beside remove_pointer"
	}
	if steps, ok := Steps(p.Pointer); !ok || len(steps) == 0 {
		return p, "pointer is no JSON pointer to a place in the file"
	}
	return p, ""
}

// Choose is the patches that edit a file, are of one of the kinds (none is all)
// and are at least as sure as wanted; left is how many edit a file and were not
// chosen.
func (r *Report) Choose(least tool.Confidence, kinds []check.PatchKind) (chosen []Suggestion, left int) {
	for i := range r.Findings {
		f := &r.Findings[i]
		for j, p := range f.Patches {
			switch {
			case p.Kind == check.Manual:
			case slices.Index(confidences, p.Confidence) < slices.Index(confidences, least), len(kinds) > 0 && !slices.Contains(kinds, p.Kind):
				left++
			default:
				chosen = append(chosen, Suggestion{f, j, p})
			}
		}
	}
	return chosen, left
}

// Manual is the instructions that only a person can follow.
func (r *Report) Manual() []Suggestion {
	var all []Suggestion
	for i := range r.Findings {
		for j, p := range r.Findings[i].Patches {
			if p.Kind == check.Manual {
				all = append(all, Suggestion{&r.Findings[i], j, p})
			}
		}
	}
	return all
}
