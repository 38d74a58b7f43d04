//go:build unix

package shipgate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// TestVariations builds the boundary cases once more, each in another of the
// ways that must not matter, and holds the answer against the one that the case
// gets as it is told. A gate that knew a case by its look would fail here.
//
// What varies is drawn from the case's name and PLIMSOLL_SEED, a number; the
// failure prints both.
func TestVariations(t *testing.T) {
	seed, err := strconv.ParseUint("0"+os.Getenv("PLIMSOLL_SEED"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]int{}
	defer func() {
		for _, word := range []string{
			"other dates", "history before the base", "other file modes", "files made in reverse order",
			"an unrelated change beside", "free names replaced", "workspace here", "workspace relative",
			"workspace detour", "workspace subfolder",
		} {
			if drawn[word] < 10 {
				t.Errorf("%q was drawn for %d cases only", word, drawn[word])
			}
		}
	}()
	for name, c := range loadCases(t) {
		if c.Mode == "diff" || c.History == "none" || c.History == "unborn" || c.Expect.Exit != 0 {
			continue
		}
		if c.Fill != nil {
			continue // millions of lines cost more than their variation tells
		}
		v := draw(name, seed)
		varied, err := v.tell(&c)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range v.what {
			drawn[word]++
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain, ok := printed.Load(name)
			if !ok {
				s, err := buildCase(t, &c)
				if errors.Is(err, errCannotBuild) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatalf("the case itself is broken: %v", err)
				}
				_, plain, _ = s.ask(c.Agents[0])
			}
			want, problems := readResult(plain.([]byte), c.Agents[0], c.Mode)
			if want == nil {
				t.Fatal(problems)
			}
			s, err := buildVaried(t, varied, v)
			if err != nil {
				t.Fatalf("seed %d, %v: %v", seed, v.what, err)
			}
			_, stdout, stderr := s.ask(c.Agents[0])
			got, problems := readResult(stdout, c.Agents[0], c.Mode)
			for _, p := range problems {
				t.Errorf("%s %s", p, stderr)
			}
			if got == nil {
				t.Fatalf("seed %d, %v", seed, v.what)
			}
			if d := cmp.Diff(essence(want, v.renames == nil), essence(got, v.renames == nil)); d != "" {
				t.Errorf("seed %d, %v, another answer (-as told +varied):\n%s", seed, v.what, d)
			}
		})
	}
}

// essence is what no variation may move.
func essence(r *boundaryResult, evidence bool) []string {
	out := []string{
		"state " + r.Control.State, "decision " + r.Decision, "next " + r.Control.NextAction.Kind,
		fmt.Sprint("verify ", r.Control.VerifyRequired), fmt.Sprint("permissions ", r.Control.Permissions),
		"input " + r.InputCoverage, fmt.Sprint("issues ", r.Issues), fmt.Sprint("hosts ", r.AffectedHosts),
	}
	for _, h := range r.HostCoverage {
		out = append(out, "coverage "+h.Adapter+" "+h.Status)
	}
	var rows []string
	for _, row := range r.Violations {
		if !evidence {
			row.Evidence = ""
		}
		rows = append(rows, "row "+row.String())
	}
	slices.Sort(rows)
	return append(out, rows...)
}

// variation is how else a case is built. The zero value builds it as told.
type variation struct {
	what    []string // the words for all below
	rand    *rand.Rand
	start   int64 // of the commit dates
	step    int64
	before  bool // there is history before the base
	perm    fs.FileMode
	reverse bool
	beside  bool   // something unrelated changes too
	where   string // how the workspace is named
	renames map[string]string
	folder  string // an unrelated folder of the base
}

func draw(name string, seed uint64) *variation {
	h := fnv.New64a()
	fmt.Fprint(h, name)
	r := rand.New(rand.NewPCG(h.Sum64(), seed)) //nolint:gosec // a test that cannot be repeated would be worth nothing
	v := &variation{rand: r, start: 1704067200, step: 60, perm: 0o644}
	maybe := func(word string, do func()) {
		if r.IntN(2) == 0 {
			v.what = append(v.what, word)
			do()
		}
	}
	maybe("other dates", func() { v.start, v.step = 1000000000+r.Int64N(900000000), []int64{-86400, -1, 0, 1, 86400}[r.IntN(5)] })
	maybe("history before the base", func() { v.before = true })
	maybe("other file modes", func() { v.perm = []fs.FileMode{0o600, 0o640, 0o664, 0o755}[r.IntN(4)] })
	maybe("files made in reverse order", func() { v.reverse = true })
	v.beside = r.IntN(2) == 0
	if r.IntN(2) == 0 {
		v.renames = map[string]string{}
	}
	v.where = []string{"absolute", "here", "relative", "detour", "subfolder"}[r.IntN(5)]
	return v
}

// word is no word of any host, language or rule: a digit ends it.
func (v *variation) word() string {
	var b strings.Builder
	for range 2 + v.rand.IntN(2) {
		b.WriteByte("bdfgklmnprstvz"[v.rand.IntN(14)])
		b.WriteByte("aeiou"[v.rand.IntN(5)])
	}
	return b.String() + strconv.Itoa(v.rand.IntN(10))
}

// unrelated are files that no rule, trigger or host looks at, under names that
// are hard to quote as often as not.
func (v *variation) unrelated(top string) map[string]string {
	files := map[string]string{}
	for range 1 + v.rand.IntN(4) {
		dir := top
		for range v.rand.IntN(3) {
			dir = path.Join(dir, v.word())
		}
		mark := []string{"", "", " ", "ß", "日本", "\"", "'", "-", "..", "$(x)", " b/"}[v.rand.IntN(11)]
		ext := []string{".go", ".ts", ".css", ".txt", ".rs", ".csv", ""}[v.rand.IntN(7)]
		var text strings.Builder
		for range 1 + v.rand.IntN(20) {
			text.WriteString(v.word() + " " + v.word() + "\n")
		}
		files[path.Join(dir, v.word()+mark+v.word()+ext)] = text.String()
	}
	return files
}

// tell is the case with every file in hand, under other names, and with files
// beside it. It drops the parts of the variation that would say something else.
func (v *variation) tell(c *boundaryCase) (*boundaryCase, error) {
	out := *c
	out.Text = map[string]map[string]string{}
	var err error
	for _, layer := range []string{"base", "head", "upstream", "merge", "worktree"} {
		if out.Text[layer], err = storedFiles(filepath.Join(c.dir, layer)); err != nil {
			return nil, err
		}
		maps.Copy(out.Text[layer], c.Text[layer])
	}
	out.dir = filepath.Join(c.dir, "nothing is stored")
	if c.Modes != nil {
		v.perm = 0o644 // the case itself is about modes
		v.what = slices.DeleteFunc(v.what, func(word string) bool { return word == "other file modes" })
	}
	if v.renames != nil {
		v.rename(&out)
	}
	v.folder = v.word() + "-" + v.word()
	maps.Copy(out.Text["base"], v.unrelated(v.folder))
	if v.beside && c.Changes == "some" {
		v.what = append(v.what, "an unrelated change beside")
		maps.Copy(out.Text["head"], v.unrelated(v.word()+"-"+v.word()))
		for _, p := range slices.Sorted(maps.Keys(out.Text["base"])) {
			if strings.HasPrefix(p, v.folder+"/") && c.Sparse == nil {
				out.Text["head"][p] = out.Text["base"][p] + v.word() + "\n"
				break
			}
		}
	}
	if c.Workspace != "" {
		v.where = "absolute" // the case itself is about the workspace
	}
	if v.where == "subfolder" {
		_, adopted := out.Text["base"]["shipgate.yaml"]
		_, adopts := out.Text["head"]["shipgate.yaml"]
		switch {
		case c.Args != nil, c.Sparse != nil:
			v.where = "absolute" // the arguments are relative to the workspace
		case adopted, adopts:
			out.Args = []string{"--config", "../shipgate.yaml"}
		}
	}
	v.what = append(v.what, "workspace "+v.where)
	return &out, nil
}

// storedFiles are the files of a layer that lie beside case.json.
func storedFiles(top string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, name)
		files[strings.TrimSuffix(filepath.ToSlash(rel), ".txt")] = string(text)
		return err
	})
	return files, err
}

// vocabulary are names that mean something to a host or to the gate, though a
// server or a job may bear them.
var vocabulary = words("shipgate check verify scan permissions contents read write deploy run build test gate main")

// rename replaces the names that the files of a case are free to choose, on
// every side alike: servers and their programs, apps, profiles, jobs. Of a tool
// name only the end changes, because its words say what the tool does.
func (v *variation) rename(c *boundaryCase) {
	taken := fmt.Sprint(c.Args, c.Delete, c.Rename, c.Links, c.Expect.NeverInOutput)
	for _, layer := range c.Text {
		taken += fmt.Sprint(slices.Collect(maps.Keys(layer)))
	}
	plain := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]+$`)
	replace := func(name, by string) {
		if plain.MatchString(name) && !slices.Contains(vocabulary, name) && !strings.Contains(taken, name) {
			v.renames[name] = by
		}
	}
	for _, layer := range slices.Sorted(maps.Keys(c.Text)) {
		for _, p := range slices.Sorted(maps.Keys(c.Text[layer])) {
			free, tools := freeNames(p, c.Text[layer][p])
			for _, name := range free {
				if _, done := v.renames[name]; !done {
					replace(name, v.word()+v.word())
				}
			}
			for _, name := range tools {
				if _, done := v.renames[name]; !done {
					replace(name, name+"_"+v.word())
				}
			}
		}
	}
	token := regexp.MustCompile(`[A-Za-z0-9_-]+`)
	for _, layer := range c.Text {
		for p, text := range layer {
			layer[p] = token.ReplaceAllStringFunc(text, func(name string) string {
				if by, ok := v.renames[name]; ok {
					return by
				}
				return name
			})
		}
	}
	if len(v.renames) > 0 {
		v.what = append(v.what, "free names replaced", fmt.Sprint(v.renames))
	}
}

// freeNames are the names in a file that nobody but its author chooses. A file
// that does not parse has none.
func freeNames(p, text string) (free, tools []string) {
	var root map[string]any
	switch path.Ext(p) {
	case ".json":
		if json.Unmarshal([]byte(text), &root) != nil {
			return nil, nil
		}
		free = append(servers(root["mcpServers"]), servers(root["servers"])...)
	case ".toml":
		if toml.Unmarshal([]byte(text), &root) != nil {
			return nil, nil
		}
		free = append(servers(root["mcp_servers"]), keys(root["apps"])...)
		for _, owner := range append(values(root["mcp_servers"]), values(root["apps"])...) {
			tools = append(tools, keys(owner["tools"])...)
			list, _ := owner["enabled_tools"].([]any)
			for _, tool := range list {
				name, _ := tool.(string)
				tools = append(tools, name)
			}
		}
		for _, name := range append(keys(root["permissions"]), keys(root["profiles"])...) {
			free = append(free, strings.TrimPrefix(name, ":"))
		}
	case ".yml", ".yaml":
		if strings.Contains(p, ".github/workflows/") && yaml.Unmarshal([]byte(text), &root) == nil {
			free = keys(root["jobs"])
		}
	}
	return free, tools
}

// servers are the names of a server map and of the programs it starts.
func servers(object any) []string {
	out := keys(object)
	for _, server := range values(object) {
		program, _ := server["command"].(string)
		out = append(out, program)
	}
	return out
}

func keys(object any) []string {
	m, _ := object.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

func values(object any) (out []map[string]any) {
	m, _ := object.(map[string]any)
	for _, key := range keys(object) {
		if member, ok := m[key].(map[string]any); ok {
			out = append(out, member)
		}
	}
	return out
}

// The builder asks a variation, which may be none, how to build.

func (v *variation) clock(tick int) int64 {
	if v == nil {
		return 1704067200 + 60*int64(tick)
	}
	return v.start + v.step*int64(tick)
}

func (v *variation) mode() fs.FileMode {
	if v == nil {
		return 0o644
	}
	return v.perm
}

func (v *variation) order(files map[string]string) []string {
	names := slices.Sorted(maps.Keys(files))
	if v != nil && v.reverse {
		slices.Reverse(names)
	}
	return names
}

func (v *variation) earlier(s *scene) error {
	if v == nil || !v.before {
		return nil
	}
	return errors.Join(s.write("CHANGES", []byte("nothing yet\n")), s.steps(words("add -- CHANGES")), s.commit("earlier"))
}

// place names the workspace in another way.
func (v *variation) place(s *scene) {
	if v == nil || s.c.Workspace != "" {
		return
	}
	switch v.where {
	case "here":
		s.cwd, s.workspace = s.dir, "."
	case "relative":
		s.workspace = filepath.Base(s.dir)
	case "detour":
		s.workspace = "./" + filepath.Base(s.dir) + "/.git/../"
	case "subfolder":
		s.cwd, s.workspace = s.path(v.folder), "."
	}
}
