package check

// Matching is how the active findings of a run and the entries of a baseline
// meet (§7.5). The lists hold entries in file order.
type Matching struct {
	Matched, New, Resolved int
	Stale, Expired         []Entry
}

// match sets baseline_status. Suppressed findings are skipped, those that no
// baseline covers are new, and an expired entry accepts nothing. Findings set
// aside by the heuristics filter keep their entries from being called stale.
func match(findings, aside []Finding, b *Baseline, today string) Matching {
	var m Matching
	live := entries{exact: map[string]int{}, any: map[string]int{}}
	for i := range b.Entries {
		e := &b.Entries[i]
		if expired(e.expiry(), today) {
			m.Expired = append(m.Expired, *e)
			continue
		}
		live.exact[entryKey(e.Fingerprint, e.SupportHash)] = i
		live.any[e.Fingerprint] = i
	}
	used := map[int]bool{}
	for i := range findings {
		f := &findings[i]
		if f.Suppressed {
			continue
		}
		f.BaselineStatus = "new"
		if at, ok := live.accepts(f); ok && !immune(f) {
			f.BaselineStatus = "matched"
			used[at] = true
			m.Matched++
		} else {
			m.New++
		}
	}
	waiting := map[int]bool{}
	for i := range aside {
		if at, ok := live.accepts(&aside[i]); ok {
			waiting[at] = true
		}
	}
	for i := range b.Entries {
		if e := &b.Entries[i]; !expired(e.expiry(), today) && !used[i] && !waiting[i] {
			m.Stale = append(m.Stale, *e)
		}
	}
	m.Resolved = len(m.Stale)
	return m
}

// entries are the entries that count today, by fingerprint and support hash and
// by fingerprint alone.
type entries struct{ exact, any map[string]int }

// accepts finds the entry that accepts a finding: of its own fingerprint, or of
// the one it would have under the alias it goes by in old files. A finding that
// rests on predicates needs an entry that rested on the same ones.
func (e *entries) accepts(f *Finding) (int, bool) {
	find := func(fingerprint string) (int, bool) {
		if f.Support != nil {
			at, ok := e.exact[entryKey(fingerprint, f.Support.Hash)]
			return at, ok
		}
		at, ok := e.any[fingerprint]
		return at, ok
	}
	if at, ok := find(f.Fingerprint); ok {
		return at, true
	}
	if f.CheckID != OperationalReadiness && Names(OperationalReadiness, f.CheckID) {
		if old, err := Fingerprint(OperationalReadiness, f.ToolName, f.Evidence); err == nil {
			return find(old)
		}
	}
	return 0, false
}

func entryKey(fingerprint, supportHash string) string { return fingerprint + "\x00" + supportHash }

// entryFindings are what the baseline's own entries give rise to (§12.6).
func (e *engine) entryFindings(m Matching) []Finding {
	var found []Finding
	add := func(id string, entry *Entry, title string, evidence map[string]any) {
		f := Finding{Title: title, ToolName: entry.ToolName, Evidence: evidence, Source: e.baselineSource()}
		e.checks[id].fill(e.subject, &f)
		found = append(found, f)
	}
	for i := range m.Expired {
		entry := &m.Expired[i]
		add(entryExpired, entry, "The acceptance of "+entry.CheckID+" has expired", map[string]any{
			"fingerprint": entry.Fingerprint, "expires": entry.expiry(),
		})
	}
	for i := range m.Stale {
		entry := &m.Stale[i]
		add(entryStale, entry, "The baseline accepts a finding that is no longer there: "+entry.CheckID, map[string]any{
			"fingerprint": entry.Fingerprint,
		})
	}
	return found
}

func (e *engine) baselineSource() Source {
	return Source{Type: "baseline", Ref: e.opt.BaselinePath, Path: e.opt.BaselinePath}
}

// integrity is the finding about a baseline that is not what was saved: nothing
// when the manifest switches it off, medium when it only warns.
func (e *engine) integrity() []Finding {
	f := Finding{
		Title:    "The baseline cannot be trusted: " + e.opt.Integrity.Why,
		Evidence: map[string]any{"expected": orNull(e.opt.Integrity.Expected), "actual": e.opt.Integrity.Actual},
		Source:   e.baselineSource(),
	}
	switch e.manifest.Baseline.IntegrityMode {
	case "off":
		return nil
	case "strict":
	default:
		f.Severity = Medium
	}
	e.checks[integrityMismatch].fill(e.subject, &f)
	return []Finding{f}
}

const (
	entryExpired      = "SHIP-BASELINE-ENTRY-EXPIRED"
	entryStale        = "SHIP-BASELINE-ENTRY-STALE"
	integrityMismatch = "SHIP-BASELINE-INTEGRITY-MISMATCH"
)
