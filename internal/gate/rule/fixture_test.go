package rule_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

// A fixture is testdata/<RULE-ID>/<name>.txtar. Its files are the change:
//
//	old/<path>    the text before; without it the path is new
//	new/<path>    the text after; without it the path is deleted
//	index/<path>  the text in the index where it differs from the disk: a
//	              second after-state of the path
//
// The lines before the first file say what must come out. Lines that begin
// with none of these words are prose.
//
//	want: <RULE-ID> <path> <evidence>   one finding: the path ("-" for none) and
//	                                    its evidence as compact JSON, members in
//	                                    their own order, "kind" first
//	silent: <RULE-ID>                   the rule has nothing to say
//	flag: <word> <arguments…>           a fact that the texts alone do not tell
//
// The findings of every rule that is named in a want or silent line are compared
// in full; equal ones count once, as in the result object. A fixture names the
// rule of its folder. The flags:
//
//	detached                       the change comes from a supplied diff
//	deleted [<path>]               the after-state has no entry (told from the
//	                               files too; the word is for the reader)
//	mode-only <path>               same object, other mode; new/ is left out
//	link <path> <old> <new>        the resolved targets, "-" for none; new/ may
//	                               be left out if the texts are equal
//	manifest <path>                the path is the configured manifest
//	policy <path>                  --policy names the path
//	unresolved <path> <token> [old]  a side (new by default) that was not read
//	unlisted <path>                the path is only reached through a link
//	action-uses-gate <path>        the repository's own action is the gate's
//	issue <path> <code>            an input issue, and its code in issues[]
//	diagnostic <path> <code>       a warning diagnostic, and its code in issues[]
//	adoption                       the change is proven to introduce the manifest
//	proposal-safe <path>           the manifest gains well-formed sources only
//	policy-conflict <code>         policy loading found a contradiction
//	policy-invalid <path> <code> <message…>  the explicit policy is not usable
type fixture struct {
	changes []*surface.Change
	pass    rule.Pass
	want    []string // sorted, "<RULE-ID> <path> <evidence>"
	named   ruleSet
}

func TestEveryFixtureYieldsExactlyItsFindings(t *testing.T) {
	t.Parallel()
	for _, name := range fixtureFiles(t, "*") {
		folder := filepath.Base(filepath.Dir(name))
		t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			f := readFixture(t, name)
			if !f.named[folder] {
				t.Fatalf("the fixture says nothing about %s, the rule of its folder", folder)
			}
			if diff := cmp.Diff(f.want, f.named.of(f.run())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// fixtureFiles lists the fixtures of a rule, or of all with "*".
func fixtureFiles(t *testing.T, id string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", id, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// run reads the changes and runs the whole catalogue over them.
func (f *fixture) run() []rule.Finding {
	p := f.pass
	p.Surfaces = nil
	for _, c := range f.changes {
		p.Surfaces = append(p.Surfaces, surface.Read(c))
	}
	return p.Run(rule.Catalogue())
}

// ruleSet is the rules that a fixture speaks about.
type ruleSet map[string]bool

// of are the findings of the set as fixture lines, sorted, each once.
func (s ruleSet) of(findings []rule.Finding) []string {
	var out []string
	for _, f := range findings {
		if s[f.Rule.ID] {
			out = append(out, fixtureLine(f))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func fixtureLine(f rule.Finding) string {
	evidence, err := f.Evidence.MarshalJSON() // json.Marshal would escape < and >
	if err != nil {
		return err.Error()
	}
	where := f.Path
	if where == "" {
		where = "-"
	}
	return f.Rule.ID + " " + where + " " + string(evidence)
}

func readFixture(t *testing.T, name string) *fixture {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{named: ruleSet{}}
	sides, err := f.files(archive.Files)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, line := range strings.Split(string(archive.Comment), "\n") {
		word, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		err = nil
		switch word {
		case "want":
			err = f.wants(strings.TrimSpace(rest))
		case "silent":
			for _, id := range fields {
				f.named[id] = true
			}
		case "flag":
			err = f.flag(sides, fields)
		}
		if err != nil {
			t.Fatalf("%s:%d: %v", name, i+1, err)
		}
	}
	f.finish()
	slices.Sort(f.want)
	return f
}

func (f *fixture) wants(line string) error {
	id, rest, _ := strings.Cut(line, " ")
	where, evidence, _ := strings.Cut(strings.TrimSpace(rest), " ")
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(evidence)); err != nil {
		return fmt.Errorf("evidence of %s: %w", id, err)
	}
	f.named[id] = true
	f.want = append(f.want, id+" "+where+" "+compact.String())
	return nil
}

// files makes one change per path, and one more per path of the index. It
// returns them by path; flags apply to every after-state of a path.
func (f *fixture) files(list []txtar.File) (map[string][]*surface.Change, error) {
	olds, news, index := map[string][]byte{}, map[string][]byte{}, map[string][]byte{}
	var paths []string
	for _, file := range list {
		side, p, ok := strings.Cut(file.Name, "/")
		into := map[string]map[string][]byte{"old": olds, "new": news, "index": index}[side]
		if !ok || into == nil || path.Clean(p) != p {
			return nil, fmt.Errorf("file %q is neither old/, new/ nor index/", file.Name)
		}
		into[p] = file.Data
		if !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	out := map[string][]*surface.Change{}
	add := func(p string, token surface.Token, after map[string][]byte) {
		c := &surface.Change{Path: p, Source: token, Listed: true, Old: sideOf(olds, p), New: sideOf(after, p)}
		c.Deleted = c.Old.Present && !c.New.Present
		out[p] = append(out[p], c)
		f.changes = append(f.changes, c)
	}
	for _, p := range paths {
		add(p, surface.GitWorktree, news)
		if _, split := index[p]; split {
			add(p, surface.GitIndex, index)
		}
	}
	return out, nil
}

func sideOf(texts map[string][]byte, p string) surface.Side {
	text, ok := texts[p]
	return surface.Side{Present: ok, Bytes: text}
}

// flag applies one flag line.
func (f *fixture) flag(sides map[string][]*surface.Change, words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("flag without a word")
	}
	args := append(words[1:], "", "", "")
	if ok, err := f.passFlag(words[0], args); ok {
		return err
	}
	changes := f.changes
	if args[0] != "" {
		if changes = sides[args[0]]; changes == nil {
			c := &surface.Change{Path: args[0], Source: surface.GitWorktree, Listed: true}
			sides[args[0]], f.changes = []*surface.Change{c}, append(f.changes, c)
			changes = sides[args[0]]
		}
	}
	for _, c := range changes {
		if err := changeFlag(c, words[0], args[1], args[2]); err != nil {
			return err
		}
	}
	return nil
}

func (f *fixture) passFlag(word string, args []string) (known bool, err error) {
	switch word {
	case "issue":
		f.pass.Issues = append(f.pass.Issues, surface.Issue{Path: args[0], Code: args[1]})
		f.code(args[1])
	case "diagnostic":
		f.pass.Diagnostics = append(f.pass.Diagnostics, surface.Diagnostic{Level: "warning", Path: args[0], Code: args[1]})
		f.code(args[1])
	case "adoption":
		f.pass.Adoption = true
	case "proposal-safe":
		f.pass.ProposalSafe = args[0]
	case "policy-conflict":
		f.pass.PolicyConflicts = append(f.pass.PolicyConflicts, args[0])
	case "policy-invalid":
		f.pass.PolicyInvalid = &rule.PolicyInvalid{
			Path: args[0], Code: args[1], Message: strings.TrimSpace(strings.Join(args[2:], " ")),
		}
	default:
		return false, nil
	}
	return true, nil
}

func (f *fixture) code(c string) {
	f.pass.Codes = append(f.pass.Codes, c)
	slices.Sort(f.pass.Codes)
	f.pass.Codes = slices.Compact(f.pass.Codes)
}

func changeFlag(c *surface.Change, word, a, b string) error {
	target := func(s string) *string {
		if s == "-" {
			return nil
		}
		return &s
	}
	switch word {
	case "detached":
		c.Source = "diff_applied_to_workspace_base"
	case "deleted":
		c.Deleted = true
		c.New = surface.Side{}
	case "mode-only":
		c.ModeOnly, c.Deleted, c.New = true, false, c.Old
	case "link":
		c.Link = &surface.Link{Old: target(a), New: target(b)}
		if b != "-" && !c.New.Present {
			c.New, c.Deleted = c.Old, false
		}
	case "manifest":
		c.Manifest = true
	case "policy":
		c.Policy = true
	case "unresolved":
		side := &c.New
		if b == "old" {
			side = &c.Old
		}
		*side, c.Deleted = surface.Side{Present: true, Unresolved: a}, false
	case "unlisted":
		c.Listed = false
	case "action-uses-gate":
		c.ActionUsesGate = true
	default:
		return fmt.Errorf("flag %q is not known", word)
	}
	return nil
}

// finish computes what follows from both sides.
func (f *fixture) finish() {
	for _, c := range f.changes {
		c.Added, c.Removed = surface.ChangedLines(c.Old.Bytes, c.New.Bytes)
	}
}
