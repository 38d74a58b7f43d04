package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Options say what Evaluate does besides running the catalogue.
type Options struct {
	// Extra are findings of passes outside of the catalogue's functions: the
	// verify category and the boundary. They are finished like all others; what
	// they leave open of their check's common part is filled.
	Extra []Finding
	// Each runs the checks and finishes what they find; nil for one after the other.
	Each tool.Each
	// Patches asks for suggested edits; Dir is then the absolute directory of the
	// manifest, with slashes.
	Patches bool
	Dir     string
	// NoHeuristics sets aside what rests on words and patterns (§6.1).
	NoHeuristics bool
	// Baseline is what was accepted before; nil for none. BaselinePath is where it
	// lies, for findings that point at it.
	Baseline     *Baseline
	BaselinePath string
	// Integrity is how the baseline stands to its audit log; nil when nobody
	// asked.
	Integrity *Integrity
}

// Evaluation is what the checks say about one side.
type Evaluation struct {
	Findings []Finding // in report order (§7.2)
	Aside    []Finding // taken out by NoHeuristics, in report order
	Baseline *Matching // nil without a baseline
	Refused  []Refused // waivers that do not count
}

// Evaluate runs the catalogue in order, then the policy packs, and finishes
// every finding: remediation, patches, fingerprints, suppressions, severity
// overrides, the heuristics filter, the baseline, and the order of the report
// (§7.1). The same subject and options give the same evaluation.
func Evaluate(s *Subject, opt Options) (*Evaluation, error) {
	e := &engine{subject: s, manifest: s.Manifest, opt: opt, checks: map[string]*Check{}, docs: map[*Check]string{}}
	if e.manifest == nil {
		e.manifest = &manifest.Manifest{}
	}
	var refused []Refused
	e.waivers, refused = waivers(e.manifest, s.Today)

	var found []Finding
	catalogue := Catalogue()
	byCheck := make([][]Finding, len(catalogue))
	opt.Each.Do(len(catalogue), func(i int) { byCheck[i] = catalogue[i].Find(s) })
	total := len(opt.Extra)
	for i := range byCheck {
		total += len(byCheck[i])
	}
	found = slices.Grow(found, total)
	for i, c := range catalogue {
		e.checks[c.ID], e.docs[c] = c, DocsURL(c, c.ID)
		found = append(found, byCheck[i]...)
		for i := range opt.Extra {
			if f := opt.Extra[i]; f.CheckID == c.ID {
				c.fill(s, &f)
				found = append(found, f)
			}
		}
	}
	for i := range opt.Extra {
		if e.checks[opt.Extra[i].CheckID] == nil {
			found = append(found, opt.Extra[i])
		}
	}
	for _, pack := range s.Packs {
		found = append(found, packFindings(s, pack)...)
	}
	if opt.Integrity != nil && !opt.Integrity.OK {
		found = append(found, e.integrity()...)
	}

	done := &Evaluation{Refused: refused}
	if err := e.finish(found); err != nil {
		return nil, err
	}
	done.Findings, done.Aside = e.filter(found)
	if opt.Baseline != nil {
		m := match(done.Findings, done.Aside, opt.Baseline, s.Today)
		done.Baseline = &m
		entries := e.entryFindings(m)
		if err := e.finish(entries); err != nil {
			return nil, err
		}
		for i := range entries {
			if !entries[i].Suppressed {
				entries[i].BaselineStatus = "new"
				m.New++
			}
		}
		done.Findings = append(done.Findings, entries...)
	}
	var err error
	if done.Findings, err = identify(done.Findings); err != nil {
		return nil, err
	}
	if done.Aside, err = identify(done.Aside); err != nil {
		return nil, err
	}
	return done, nil
}

type engine struct {
	subject  *Subject
	manifest *manifest.Manifest
	opt      Options
	checks   map[string]*Check
	docs     map[*Check]string // addresses of pages
	waivers  []manifest.Ignore
}

// finish does everything that concerns one finding alone, for each of them. The
// error is that of the first.
func (e *engine) finish(found []Finding) error {
	failed := make([]error, len(found))
	e.opt.Each.Do(len(found), func(i int) { failed[i] = e.complete(&found[i]) })
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// complete finishes one finding. A suppressed finding gets no patch, so
// suppressions are looked at first.
func (e *engine) complete(f *Finding) (err error) {
	c := e.checks[f.CheckID]
	f.Evidence = finite(f.Evidence).(map[string]any)
	suppress(f, e.waivers)
	f.Severity = overridden(c, f.CheckID, f.Severity, e.manifest)
	f.DocsURL = e.docs[c]
	if e.opt.Patches {
		remedy(c, f) // what the words of a manual patch depend on
		suggest(f, e.manifest, e.opt.Dir)
	}
	remedy(c, f)
	if s := e.subject.Surface; s != nil && len(f.CapabilityRefs) == 0 {
		if a := s.Action(f.ToolID); a != nil {
			f.CapabilityRefs = []string{delta.CapabilityID(a)}
		}
	}
	f.CapabilityRefs, f.TraceRefs = sorted(f.CapabilityRefs), sorted(f.TraceRefs)
	f.Fingerprint, err = Fingerprint(f.CheckID, f.ToolName, f.Evidence)
	return err
}

// filter splits off what rests on words and patterns alone, when asked.
func (e *engine) filter(found []Finding) (kept, aside []Finding) {
	if !e.opt.NoHeuristics {
		return found, nil
	}
	for _, f := range found {
		if f.Provenance == KeywordHeuristic || f.Provenance == RegexHeuristic {
			aside = append(aside, f)
		} else {
			kept = append(kept, f)
		}
	}
	return kept, aside
}

// identify orders findings and gives them ids. Findings of one fingerprint are
// all told apart by a suffix, so that no id depends on what else was found
// first. Two that agree in everything the suffix covers are one finding; the
// graver one stands for both.
func identify(found []Finding) ([]Finding, error) {
	order := make([]*Finding, len(found)) // a finding is too large to be moved while sorting
	times := make(map[string]int, len(found))
	for i := range found {
		f := &found[i]
		order[i], f.ID = f, f.Fingerprint
		times[f.Fingerprint]++
	}
	slices.SortStableFunc(order, byReportOrder)
	if len(times) < len(found) {
		var err error
		if order, err = apart(order, times); err != nil {
			return nil, err
		}
		slices.SortStableFunc(order, func(a, b *Finding) int { return cmp.Or(byReportOrder(a, b), strings.Compare(a.ID, b.ID)) })
	}
	if len(order) == 0 {
		return nil, nil
	}
	kept := make([]Finding, len(order))
	for i, f := range order {
		kept[i] = *f
	}
	return kept, nil
}

// apart tells findings apart that share a fingerprint, of which there are so many
// times.
func apart(found []*Finding, times map[string]int) ([]*Finding, error) {
	seen := map[string]bool{}
	var kept []*Finding
	for _, f := range found {
		if times[f.Fingerprint] > 1 {
			suffix, err := collisionSuffix(f)
			if err != nil {
				return nil, err
			}
			f.ID += "_" + suffix
		}
		if !seen[f.ID] {
			seen[f.ID] = true
			kept = append(kept, f)
		}
	}
	// A fingerprint whose findings turned out to be one needs no suffix.
	left := map[string]int{}
	for _, f := range kept {
		left[f.Fingerprint]++
	}
	for _, f := range kept {
		if left[f.Fingerprint] == 1 {
			f.ID = f.Fingerprint
		}
	}
	return kept, nil
}

// byReportOrder is severity, check id, tool name, fingerprint (§7.2).
func byReportOrder(a, b *Finding) int {
	return cmp.Or(
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), strings.Compare(a.CheckID, b.CheckID),
		strings.Compare(a.ToolName, b.ToolName), strings.Compare(a.Fingerprint, b.Fingerprint),
	)
}

// docs is where the pages of the checks are published.
const docs = "https://plimsoll.dev/docs/rules/"

// DocsURL is the page of a check; the rule of a policy pack has none.
func DocsURL(c *Check, id string) string {
	if c == nil {
		return ""
	}
	return docs + c.Page() + ".md"
}

// finite makes evidence of JSON values alone, as it is hashed and printed. A
// number that no reader could hold becomes its text: a schema of a stranger may
// carry 1e999, and that must stop nothing. What is finite stays what it is.
func finite(v any) any {
	if isFinite(v) {
		return v
	}
	switch v := v.(type) {
	case nil, bool, string, int, int64, uint64, []string:
		return v
	case json.Number:
		if _, err := literal(string(v)); err != nil {
			return string(v)
		}
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return v
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = finite(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key := range v {
			m[key] = finite(v[key])
		}
		return m
	}
	// A type of ours: a named word, a list of them, a struct.
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("no JSON: %T", v)
	}
	read, err := decode(text)
	if err != nil {
		return fmt.Sprintf("no JSON: %T", v)
	}
	return finite(read)
}

// isFinite says whether finite would leave a value as it is. What it does not know
// it leaves to finite.
func isFinite(v any) bool {
	switch v := v.(type) {
	case nil, bool, string, int, int64, uint64, []string:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !isFinite(e) })
	case map[string]any:
		for _, e := range v {
			if !isFinite(e) {
				return false
			}
		}
		return true
	}
	return false
}

func sorted(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	return slices.Compact(out)
}
