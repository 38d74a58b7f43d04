package constitution_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// shipped is the configuration the program carries, read once.
var shipped = sync.OnceValues(func() (fstest.MapFS, error) {
	files := fstest.MapFS{}
	dir := os.DirFS("../../../config/roles/clan/zhos")
	return files, fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(dir, path)
		files[path] = &fstest.MapFile{Data: text}
		return err
	})
})

// folder is a copy of it, for a test to change with put.
func folder(tb testing.TB) fstest.MapFS {
	tb.Helper()
	files, err := shipped()
	if err != nil {
		tb.Fatal(err)
	}
	return maps.Clone(files)
}

func put(files fstest.MapFS, path, text string) { files[path] = &fstest.MapFile{Data: []byte(text)} }

func load(tb testing.TB, files fs.FS) *constitution.Set {
	tb.Helper()
	s, err := constitution.Load(files)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func everyAgent() []constitution.AgentID {
	return append([]constitution.AgentID{constitution.Orchestrator}, constitution.Workers()...)
}

func path(id constitution.AgentID) string {
	switch id {
	case constitution.Base:
		return "JOS_BASE.md"
	case constitution.Orchestrator:
		return "orchestrator.md"
	}
	return "workers/" + string(id) + ".md"
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The assembled prompt equals the formula, for every worker and for the
// orchestrator (docs/spec/circle.md §3 and its vectors).
func TestPromptsAreAssembledByTheFormula(t *testing.T) {
	text, err := os.ReadFile("testdata/prompt-assembly.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			Name     string `json:"name"`
			Base     string `json:"jos_base"`
			Subagent string `json:"subagent_prompt"`
			Final    string `json:"final_system_prompt"`
			SHA256   string `json:"prompt_sha256"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Cases) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, c := range vectors.Cases {
		files := folder(t)
		delete(files, constitution.LockPath)
		put(files, "JOS_BASE.md", "---\nid: JOS-BASE\nversion: 2.3.4\n---\n"+c.Base)
		for _, id := range everyAgent() {
			put(files, path(id), "---\r\nid: "+string(id)+"\r\nversion: 5.6.7\r\n---\r\n"+c.Subagent)
		}
		s := load(t, files)
		for _, id := range everyAgent() {
			p, err := s.Assemble(id)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{p.Text(), p.SHA256(), string(p.ConstitutionVersion()), string(p.SubagentVersion()), string(p.Agent())}
			if diff := cmp.Diff([]string{c.Final, c.SHA256, "2.3.4", "5.6.7", string(id)}, got); diff != "" || !p.Assembled() {
				t.Errorf("%s, %s: (-want +got)\n%s", c.Name, id, diff)
			}
		}
	}
}

func TestShippedPromptsAreTheFilesAndNothingElse(t *testing.T) {
	files := folder(t)
	s := load(t, files)
	body := func(id constitution.AgentID) string {
		_, text, _ := strings.Cut(strings.TrimPrefix(string(files[path(id)].Data), "---\n"), "\n---\n")
		return strings.TrimRight(text, "\n")
	}
	for _, id := range everyAgent() {
		p, err := s.Assemble(id)
		if err != nil {
			t.Fatal(err)
		}
		want := body(constitution.Base) + "\n\n---\n\n" + body(id)
		if p.Text() != want || p.SHA256() != digest(want) {
			t.Errorf("the prompt of %s is not the formula over its files", id)
		}
		if p.ConstitutionVersion() != "1.0.0" || p.SubagentVersion() != "1.0.0" {
			t.Errorf("the prompt of %s has the versions %s and %s", id, p.ConstitutionVersion(), p.SubagentVersion())
		}
		if s.Body(id) != body(id) {
			t.Errorf("the body of %s is not its file's", id)
		}
	}
}

func TestNobodyHasThePromptOfTheConstitutionOrOfAStranger(t *testing.T) {
	s := load(t, folder(t))
	for _, id := range []constitution.AgentID{constitution.Base, "Stranger", ""} {
		p, err := s.Assemble(id)
		if fault.KindOf(err) != fault.NotFound || p.Assembled() || p.Text() != "" {
			t.Errorf("%q got %v and a prompt of %d bytes", id, err, len(p.Text()))
		}
	}
	if (constitution.Prompt{}).Assembled() {
		t.Error("a prompt nobody assembled says it was")
	}
}

// The table of docs/spec/circle.md §1.
func TestTheRegistryIsTheTableOfTheSpecification(t *testing.T) {
	page, err := os.ReadFile("../../../docs/spec/circle.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| ([0-9]+) \\| ([A-Za-z-]+) \\| (heavy|supporting) \\|.*\\| (`[^|]*`) \\|$")
	var want, got []string
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		want = append(want, strings.Join([]string{m[1], m[2], m[3], strings.NewReplacer("`", "", " ", "").Replace(m[4])}, " "))
	}
	r := load(t, folder(t)).Registry()
	for _, w := range r.Workers {
		outputs := make([]string, len(w.Outputs))
		for i, o := range w.Outputs {
			outputs[i] = string(o)
		}
		got = append(got, strings.Join([]string{strconv.Itoa(w.Priority), string(w.ID), string(w.Class), strings.Join(outputs, ",")}, " "))
	}
	if len(want) != 13 {
		t.Fatalf("the specification lists %d workers", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-specification +registry)\n%s", diff)
	}
	made := map[envelope.ArtifactType]bool{}
	for _, w := range r.Workers {
		for _, o := range w.Outputs {
			made[o] = true
		}
	}
	if len(made) != len(envelope.ArtifactTypes()) {
		t.Errorf("the workers make %d of %d types", len(made), len(envelope.ArtifactTypes()))
	}
	if r.Economy != (constitution.Economy{Heavy: 1, Supporting: 1}) || r.Limits.Regenerations != 2 {
		t.Errorf("the economy is %+v, the limits are %+v", r.Economy, r.Limits)
	}
	for council, needed := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 5: 4, 6: 4, 0: 1} {
		if got := r.Quorum.Needed(council); got != needed {
			t.Errorf("of a council of %d, %d are needed, not %d", council, needed, got)
		}
	}
}

// Each prompt is there in both languages, names what its worker returns, and
// speaks of members that the schema of artifacts has.
func TestShippedPromptsAreWrittenInBothLanguages(t *testing.T) {
	s := load(t, folder(t))
	schema, err := os.ReadFile("../../../docs/contracts/clan-artifact.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile("`([a-z][a-z_]+)(?:: [a-z_]+)?`")
	for _, id := range append(everyAgent(), constitution.Base) {
		body := s.Body(id)
		english, ukrainian, both := strings.Cut(body, "\n## Українською\n")
		if !both || !strings.Contains(english, "\n## English\n") {
			t.Errorf("%s lacks a language", id)
			continue
		}
		if share(english, unicode.Latin) < 0.99 || share(ukrainian, unicode.Cyrillic) < 0.8 {
			t.Errorf("%s: the languages are mixed: %.2f Latin, %.2f Cyrillic", id, share(english, unicode.Latin), share(ukrainian, unicode.Cyrillic))
		}
		points := func(text string) int { return strings.Count(text, "\n1. ")*1000 + strings.Count(text, "\n- ") }
		if points(english) != points(ukrainian) || strings.Count(english, "\n### ") != strings.Count(ukrainian, "\n### ") {
			t.Errorf("%s does not say as much in both languages", id)
		}
		if id == constitution.Base {
			continue
		}
		w, isWorker := s.Registry().Worker(id)
		for _, part := range []string{english, ukrainian} {
			for _, o := range w.Outputs {
				if !strings.Contains(part, "`"+string(o)+"`") {
					t.Errorf("the prompt of %s does not name %s", id, o)
				}
			}
			for _, m := range word.FindAllStringSubmatch(part, -1) {
				if isWorker && !strings.Contains(string(schema), `"`+m[1]+`"`) {
					t.Errorf("the prompt of %s speaks of %s, which no artifact has", id, m[1])
				}
			}
		}
	}
}

// share is how much of the letters of a text is of one script.
func share(text string, script *unicode.RangeTable) float64 {
	letters, of := 0, 0
	for _, c := range regexp.MustCompile("`[^`]*`|(?m)^    .*$|[A-Z][a-z]+-[A-Z][a-z]+|[a-z]+_[a-z_]+").ReplaceAllString(text, "") {
		if unicode.IsLetter(c) {
			letters++
			if unicode.Is(script, c) {
				of++
			}
		}
	}
	return float64(of) / float64(max(letters, 1))
}

func TestADigestNamesOneConfiguration(t *testing.T) {
	first := load(t, folder(t)).SHA256()
	for name := range folder(t) {
		files := folder(t)
		text := string(files[name].Data)
		put(files, name, strings.ReplaceAll(text, "\n", "\r\n"))
		if got := load(t, files).SHA256(); got != first {
			t.Errorf("with other line ends in %s the digest is %s", name, got)
		}
		delete(files, constitution.LockPath)
		without := load(t, files).SHA256()
		if name == constitution.LockPath {
			continue
		}
		if name == constitution.RegistryPath {
			put(files, name, text+"# one more\n")
		} else {
			put(files, name, strings.TrimRight(text, "\n")+" One more.\n")
		}
		if got := load(t, files).SHA256(); got == without {
			t.Errorf("another text in %s has the same digest", name)
		}
	}
}

func TestAReloadThatFailsChangesNothing(t *testing.T) {
	h := constitution.NewHolder(load(t, folder(t)))
	before := h.Set()
	broken := folder(t)
	put(broken, "JOS_BASE.md", "no front matter")
	if _, err := h.Reload(broken); fault.KindOf(err) != fault.Invalid || h.Set() != before {
		t.Fatalf("a broken reload said %v and left %p of %p", err, h.Set(), before)
	}
	sound := folder(t)
	put(sound, constitution.RegistryPath, strings.Replace(string(sound[constitution.RegistryPath].Data), "registry: 1.0.0", "registry: 1.0.1", 1))
	after, err := h.Reload(sound)
	if err != nil {
		t.Fatal(err)
	}
	if h.Set() != after || after.Registry().Version != "1.0.1" || before.Registry().Version != "1.0.0" {
		t.Error("a sound reload is not what is in use")
	}
}

func TestAHolderCanBeReadWhileItIsReloaded(t *testing.T) {
	files := folder(t)
	h := constitution.NewHolder(load(t, files))
	done := make(chan error)
	go func() {
		_, err := h.Reload(files)
		done <- err
	}()
	for {
		if _, err := h.Set().Assemble(constitution.Memory); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

func TestAFileThatCannotBeReadIsNoFault(t *testing.T) {
	_, err := constitution.Load(unreadable{folder(t)})
	if _, faults := errors.AsType[constitution.Faults](err); faults || fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a disk that does not answer is %v", err)
	}
}

type unreadable struct{ fstest.MapFS }

func (u unreadable) Open(name string) (fs.File, error) {
	if name == "orchestrator.md" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.Open(name)
}

func (u unreadable) Stat(name string) (fs.FileInfo, error) { return u.MapFS.Stat(name) }

// Members may read the constitution and the registry; what they get is theirs.
func TestFilesAreGivenOutAsCopies(t *testing.T) {
	files := folder(t)
	s := load(t, files)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(files)), s.Paths()); diff != "" {
		t.Errorf("(-folder +set)\n%s", diff)
	}
	text := s.File("JOS_BASE.md")
	clear(text)
	if string(s.File("JOS_BASE.md")) != string(files["JOS_BASE.md"].Data) || s.File("../JOS_BASE.md") != nil {
		t.Error("a reader changed the constitution")
	}
}

func TestTheRegistryIsAskedByName(t *testing.T) {
	r := load(t, folder(t)).Registry()
	for _, id := range constitution.Intents() {
		e, ok := r.Intent(id)
		if !ok || e.ID != id || !id.Valid() {
			t.Errorf("the registry does not know %s", id)
		}
		if _, chained := r.Chain(e.Chain); chained == (len(e.Workers) > 0) && id != constitution.Unclear {
			t.Errorf("%s is served by the chain %q and by %v", id, e.Chain, e.Workers)
		}
		for _, l := range r.Locales {
			if id != constitution.Unclear && len(e.Triggers[l]) < 3 {
				t.Errorf("%s has %d triggers in %s", id, len(e.Triggers[l]), l)
			}
		}
	}
	if c, ok := r.Ceiling(envelope.Health); !ok || c.Without != envelope.Private || c.WithConsent != envelope.Circle {
		t.Errorf("the ceiling of health is %+v", c)
	}
	if c, ok := r.Ceiling(envelope.Secrets); !ok || c.Without != "" || c.WithConsent != "" {
		t.Errorf("the ceiling of secrets is %+v", c)
	}
	if _, ok := r.Ceiling(envelope.Critical); ok {
		t.Error("critical has a ceiling")
	}
	if _, ok := r.Intent("execute"); ok || constitution.Intent("execute").Valid() {
		t.Error("there is an intent to execute")
	}
	if _, ok := r.Chain("execute"); ok {
		t.Error("there is a chain that executes")
	}
	if _, ok := r.Worker(constitution.Orchestrator); ok {
		t.Error("the orchestrator is a worker")
	}
}
