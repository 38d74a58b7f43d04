// Package secrets knows the forms of secrets: keys and tokens that services give
// out. It serves the port screen.Secrets with the rules of gitleaks, which are
// kept by its maintainers and come as a library (docs/spec/circle.md §8).
//
// The rules are theirs; how they are run is ours. A rule is only tried where one of
// its keywords stands, and nothing it finds is logged or kept.
package secrets

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/screen"
)

// Finder finds secrets by the rules it was loaded with. Any number of goroutines
// may use it.
type Finder struct {
	rules    []rule
	global   []*config.Allowlist
	keywords keywords
	always   []int // rules without a keyword
}

type rule struct {
	id      string
	way     way
	entropy float64 // a secret has more, in bits per byte; 0: any
	group   int     // of the pattern; 0: the first that is not empty
	allowed []*config.Allowlist
}

// document is the part of a gitleaks configuration that is about texts. Rules
// about files alone are left out: a text has no path.
type document struct {
	Allowlist  *allowlist
	Allowlists []*allowlist
	Rules      []struct {
		ID          string
		Regex       string
		SecretGroup int
		Entropy     float64
		Keywords    []string
		Allowlist   *allowlist
		Allowlists  []*allowlist
		SkipReport  bool
	}
}

type allowlist struct {
	Description string
	Condition   string
	RegexTarget string
	Regexes     []string
	StopWords   []string
	TargetRules []string
}

// New loads the rules that gitleaks ships. It takes some tens of milliseconds, so
// a program does it once. The error is of kind Internal: the rules are part of the
// program.
func New() (*Finder, error) { return parse(config.DefaultConfig) }

func parse(text string) (*Finder, error) {
	const op = "secrets.New"
	var d document
	if err := toml.Unmarshal([]byte(text), &d); err != nil {
		return nil, fault.E(op, fault.Internal, "the rules for secrets cannot be read", err)
	}
	f := &Finder{keywords: newKeywords()}
	for _, a := range append(d.Allowlists, d.Allowlist) {
		list, err := a.list(op)
		if err != nil {
			return nil, err
		}
		f.global = append(f.global, list...)
	}
	for _, r := range d.Rules {
		if r.Regex == "" || r.SkipReport {
			continue
		}
		way, err := plan(r.Regex, r.Keywords)
		if err != nil {
			return nil, fault.E(op, fault.Internal, "the rule "+r.ID+" has no pattern", err)
		}
		out := rule{id: r.ID, way: way, entropy: r.Entropy, group: r.SecretGroup}
		for _, a := range append(r.Allowlists, r.Allowlist) {
			list, err := a.list(op)
			if err != nil {
				return nil, err
			}
			out.allowed = append(out.allowed, list...)
		}
		for _, k := range r.Keywords {
			f.keywords.add(strings.ToLower(k), len(f.rules))
		}
		if len(r.Keywords) == 0 {
			f.always = append(f.always, len(f.rules))
		}
		f.rules = append(f.rules, out)
	}
	if len(f.rules) == 0 {
		return nil, fault.E(op, fault.Internal, "there are no rules for secrets", nil)
	}
	return f, nil
}

// list is the allow list as gitleaks uses it, or nothing when there is none that
// is about texts.
func (a *allowlist) list(op string) ([]*config.Allowlist, error) {
	if a == nil || len(a.Regexes) == 0 && len(a.StopWords) == 0 {
		return nil, nil
	}
	c := &config.Allowlist{Description: a.Description, RegexTarget: a.RegexTarget, StopWords: a.StopWords}
	if strings.EqualFold(a.Condition, "and") || a.Condition == "&&" {
		c.MatchCondition = config.AllowlistMatchAnd
	}
	for _, r := range a.Regexes {
		pattern, err := regexp.Compile(r)
		if err != nil {
			return nil, fault.E(op, fault.Internal, "an allow list has no pattern", err)
		}
		c.Regexes = append(c.Regexes, pattern)
	}
	if err := c.Validate(); err != nil {
		return nil, fault.E(op, fault.Internal, "an allow list cannot be used", err)
	}
	return []*config.Allowlist{c}, nil
}

// maxMatches bounds what is reported of one text.
const maxMatches = 1024

// Kind is the rule by which a text holds a secret, the one that stands first; ""
// is a text without one.
func (f *Finder) Kind(text string) string {
	if found := f.Find(text); len(found) > 0 {
		return found[0].Rule
	}
	return ""
}

// Find finds every secret in a text, wherever it stands again too.
func (f *Finder) Find(text string) []screen.Match {
	var found []screen.Match
	spots := f.keywords.find(text)
	seen := map[string]bool{}
	take := func(id, secret string, start int) {
		if len(found) >= maxMatches {
			return
		}
		found = append(found, screen.Match{Rule: id, Start: start, End: start + len(secret)})
		if len(secret) < 8 || seen[secret] {
			return
		}
		seen[secret] = true
		for from := 0; len(found) < maxMatches; {
			i := strings.Index(text[from:], secret)
			if i < 0 {
				return
			}
			if from += i; from != start {
				found = append(found, screen.Match{Rule: id, Start: from, End: from + len(secret)})
			}
			from += len(secret)
		}
	}
	for _, n := range f.always {
		f.try(text, 0, len(text), &f.rules[n], take)
	}
	for n, at := range spots {
		r := &f.rules[n]
		switch {
		case !r.way.near:
			f.try(text, 0, len(text), r, take)
			continue
		case r.way.head:
			for _, s := range at {
				if !r.way.at(text, s.start) || r.way.sign != nil && !r.way.sign.follows(text, s.end) {
					continue
				}
				f.try(text, s.start, r.way.right(text, s.end), r, take)
			}
			continue
		}
		for k := 0; k < len(at); {
			start, end := r.way.left(text, at[k].start), r.way.right(text, at[k].end)
			for k++; k < len(at) && at[k].start <= end; k++ {
				end = r.way.right(text, at[k].end)
			}
			f.try(text, start, end, r, take)
		}
	}
	slices.SortFunc(found, func(a, b screen.Match) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		if a.End != b.End {
			return a.End - b.End
		}
		return strings.Compare(a.Rule, b.Rule)
	})
	return slices.Compact(found)
}

// try runs one rule over a part of a text.
func (f *Finder) try(text string, start, end int, r *rule, take func(id, secret string, start int)) {
	part := text[start:end]
	for _, m := range r.way.pattern.FindAllStringSubmatchIndex(part, -1) {
		if m[0] == 0 && start > 0 && !r.way.head || m[1] == len(part) && end < len(text) {
			continue // cut off: a window that holds it whole has it too
		}
		from, to := group(m, r.group)
		secret := part[from:to]
		if secret == "" || r.entropy > 0 && entropy(secret) <= r.entropy {
			continue
		}
		first, last := start+m[0], start+m[1]
		if r.way.lead != nil {
			before := text[max(0, first-maxLead):first]
			first -= len(r.way.lead.FindString(before))
		}
		if allowed(f.global, secret, text, first, last) || allowed(r.allowed, secret, text, first, last) {
			continue
		}
		take(r.id, secret, start+from)
	}
}

// group is where the secret of a match stands: in the group that the rule names,
// else in the first that holds anything, else the match is the secret.
func group(m []int, n int) (from, to int) {
	if n > 0 && 2*n+1 < len(m) && m[2*n] >= 0 {
		return m[2*n], m[2*n+1]
	}
	for g := 2; n == 0 && g+1 < len(m); g += 2 {
		if m[g] >= 0 && m[g+1] > m[g] {
			return m[g], m[g+1]
		}
	}
	return m[0], m[1]
}

// maxLead bounds the part of a text that is looked at for the letters before a
// keyword.
const maxLead = 256

// allowed says whether a list takes a match, text[first:last], for no secret.
func allowed(lists []*config.Allowlist, secret, text string, first, last int) bool {
	for _, a := range lists {
		target := secret
		switch a.RegexTarget {
		case "match":
			target = text[first:last]
		case "line":
			target = line(text, first, last)
		}
		byPattern := len(a.Regexes) > 0 && a.RegexAllowed(target)
		byWord, _ := a.ContainsStopWord(secret)
		if a.MatchCondition == config.AllowlistMatchAnd {
			if (len(a.Regexes) == 0 || byPattern) && (len(a.StopWords) == 0 || byWord) {
				return true
			}
		} else if byPattern || byWord {
			return true
		}
	}
	return false
}

// line is the line that a match stands in.
func line(text string, start, end int) string {
	start = strings.LastIndexByte(text[:start], '\n') + 1
	if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
		return text[start : end+n]
	}
	return text[start:]
}

// entropy is Shannon's, in bits per byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
