package action_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/action"
)

// whole is the artifacts of a run that passed, made once by the gate itself.
var whole = sync.OnceValues(func() (fstest.MapFS, error) {
	dir, err := built()
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "shipgate-action-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	for name, text := range layers["base"] {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	for _, line := range []string{
		"git init -q -b main", "git add -A", "git -c user.name=a -c user.email=a@example.com commit -q -m base",
		dir + "/shipgate verify --base HEAD --head HEAD",
	} {
		words := strings.Fields(line)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", line, err, out)
		}
	}
	files := fstest.MapFS{}
	reports := os.DirFS(filepath.Join(work, folder))
	names, err := fs.Glob(reports, "*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(reports, name)
		if err != nil {
			return nil, err
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return files, nil
})

const folder = "agents-shipgate-reports"

// passing is the input of a run that passed.
func passing(t testing.TB) *action.Input {
	t.Helper()
	files, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	return &action.Input{
		Result: files["verifier.json"].Data, Reports: files, Folder: folder, Policy: action.RequireMergeable, Annotations: action.MaxAnnotations,
	}
}

// instead is the input with one artifact changed; nil takes it away.
func instead(in *action.Input, name string, text []byte) *action.Input {
	files := fstest.MapFS{}
	for n, f := range in.Reports.(fstest.MapFS) {
		files[n] = f
	}
	delete(files, name)
	if text != nil {
		files[name] = &fstest.MapFile{Data: text}
	}
	other := *in
	other.Reports = files
	return &other
}

func TestARunThatPassedPasses(t *testing.T) {
	t.Parallel()
	if o := action.Conclude(passing(t)); o.Status != action.Evaluated || o.Conclusion != action.Success || o.Failed() {
		t.Errorf("%+v", o)
	}
}

// Take any artifact away, or change any byte of one: the run is not believed.
func TestAnArtifactThatIsNotWholeIsNotBelieved(t *testing.T) {
	t.Parallel()
	in := passing(t)
	files := in.Reports.(fstest.MapFS)
	var names []string
	for name := range files {
		names = append(names, name)
		if o := action.Conclude(instead(in, name, nil)); o.Status == action.Evaluated || !o.Failed() {
			t.Errorf("without %s: %s, %s", name, o.Status, o.Conclusion)
		}
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		text := bytes.Clone(files[name].Data)
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		text[at] ^= byte(rapid.IntRange(1, 127).Draw(t, "bit"))
		o := action.Conclude(instead(in, name, text))
		// The seal and the receipt are read as documents: a blank in them is no
		// difference.
		var seal, other any
		if sealed := strings.HasPrefix(name, "verification-artifacts") || strings.HasPrefix(name, "verification-receipt"); sealed {
			if json.Unmarshal(text, &seal) == nil && json.Unmarshal(files[name].Data, &other) == nil {
				return
			}
		}
		if o.Status == action.Evaluated || !o.Failed() {
			t.Errorf("%s changed at %d: %s, %s", name, at, o.Status, o.Conclusion)
		}
	})
}

// Whatever a reason or a name holds, every output is one line that the runner
// reads back, and nothing else is in the file.
func TestEveryOutputIsOneLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		why := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("\r\n=<>:%#[]\u2028\u0085\x00\x1bab`$")))).Draw(r, "why")
		o := action.Conclude(&action.Input{Stopped: "x" + why, Policy: action.Advisory})
		if o.Status != action.DidNotRun || !o.Failed() {
			r.Fatalf("%s, %s", o.Status, o.Conclusion)
		}
		said := action.Conclude(&action.Input{ExitCode: 2, Said: []byte(why), Policy: action.Advisory, Reports: fstest.MapFS{}, Folder: why})
		for _, o := range []*action.Outcome{o, said} {
			read := parseOutputs(t, string(o.File()))
			if len(read) != len(o.Outputs) {
				r.Fatalf("%d outputs are read as %d", len(o.Outputs), len(read))
			}
			for _, out := range o.Outputs {
				if read[out.Name] != out.Value || strings.ContainsAny(out.Value, "\r\n") {
					r.Fatalf("output %s is %q and read as %q", out.Name, out.Value, read[out.Name])
				}
			}
			for line := range strings.SplitSeq(strings.TrimSuffix(string(o.Commands()), "\n"), "\n") {
				if !strings.HasPrefix(line, "::error title=Shipgate::") {
					r.Fatalf("the runner reads %q", line)
				}
			}
		}
	})
}

func TestASecretIsInNothingThatIsPublished(t *testing.T) {
	t.Parallel()
	secret := "gh" + "p_" + strings.Repeat("a1B2", 9)
	o := action.Conclude(&action.Input{Stopped: "the remote said API_TOKEN=" + secret, Policy: action.Advisory})
	run, err := o.CheckRunBody(&action.Where{Commit: strings.Repeat("a", 40), Name: "--password " + secret})
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string][]byte{
		"outputs": o.File(), "commands": o.Commands(), "comment": o.Comment, "summary": o.Summary, "check run": run, "why": []byte(o.Why),
	} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the %s shows a secret: %s", what, text)
		}
	}
}

// An outcome never passes but for a whole run, whatever the files hold.
func FuzzConclude(f *testing.F) {
	verifier, err := os.ReadFile("../verify/report/testdata/examples/verifier.passed.json")
	if err != nil {
		f.Fatal(err)
	}
	report := []byte(`{"release_decision": {"decision": "passed", "fail_policy": {"exit_code": 0}}, "findings": [{"check_id": "X", "severity": "high", "source": {"path": "a\nb", "start_line": 2}}]}`)
	f.Add([]byte(nil), verifier, report, []byte(`{"artifacts": [{"path": "agents-shipgate-reports/report.json"}]}`), []byte(`{}`), 0, false)
	f.Add([]byte("x"), verifier, report, []byte(`{}`), []byte(`null`), 0, true)
	f.Add([]byte("{}"), []byte(`{"workspace": 1}`), []byte(`[]`), []byte(`{"artifacts": [{"path": "../x"}]}`), []byte(`{}`), 137, false)
	f.Fuzz(func(t *testing.T, said, verifier, report, set, receipt []byte, code int, scan bool) {
		in := &action.Input{
			Scan: scan, ExitCode: code, Result: verifier, Said: said, Folder: folder, Policy: action.Advisory, Annotations: 10,
			Reports: fstest.MapFS{
				"verifier.json": {Data: verifier}, "report.json": {Data: report}, "verification-artifacts.json": {Data: set},
				"verification-receipt.json": {Data: receipt}, "report.sarif": {Data: []byte("{}")}, "report.md": {Data: said}, "pr-comment.md": {Data: append([]byte(action.Marker), said...)},
			},
		}
		if scan {
			in.Result = report
		}
		o := action.Conclude(in)
		if !o.Failed() && (o.Status != action.Evaluated || code != 0) {
			t.Errorf("status %s with exit code %d passes", o.Status, code)
		}
		if len(parseOutputs(t, string(o.File()))) != len(o.Outputs) {
			t.Error("the outputs are not read back")
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(o.Commands()), "\n"), "\n") {
			if line != "" && !strings.HasPrefix(line, "::error ") && !strings.HasPrefix(line, "::warning ") && !strings.HasPrefix(line, "::notice ") {
				t.Errorf("the runner reads %q", line)
			}
		}
		for _, make := range []func() ([]byte, error){
			o.CommentBody, o.AnnotationsJSON,
			func() ([]byte, error) { return o.CheckRunBody(&action.Where{Commit: strings.Repeat("a", 40)}) },
		} {
			if text, err := make(); err != nil || text != nil && !json.Valid(text) {
				t.Errorf("a body is no JSON: %v", err)
			}
		}
	})
}

func TestOurCommentIsFound(t *testing.T) {
	t.Parallel()
	const marked = action.Marker + "\nx"
	page := func(comments ...forgeComment) []byte {
		text, err := json.Marshal(comments)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	full := make([]forgeComment, action.PageSize)
	for _, c := range []struct {
		name  string
		page  []byte
		login string
		id    int64
		more  bool
	}{
		{"none", page(), "", 0, false},
		{"a bot's", page(forgeComment{3, marked, bot}), "", 3, false},
		{"a person's", page(forgeComment{3, marked, forgeUser{"eve", "User"}}), "", 0, false},
		{"the token's own", page(forgeComment{3, marked, bot}, forgeComment{4, marked, forgeUser{"deployer", "User"}}), "deployer", 4, false},
		{"quoted", page(forgeComment{3, "> " + marked, bot}), "", 0, false},
		{"the first of two", page(forgeComment{3, marked, bot}, forgeComment{4, marked, bot}), "", 3, false},
		{"a full page", page(full...), "", 0, true},
		{"nobody's", []byte(`[{"id": 3, "body": "` + action.Marker + `", "user": null}]`), "", 0, false},
	} {
		id, more, err := action.FindComment(c.page, c.login)
		if id != c.id || more != c.more || err != nil {
			t.Errorf("%s: %d, %t, %v", c.name, id, more, err)
		}
	}
	for _, bad := range []string{"", "{}", "[1]", `[{"id": "x"}]`, "<html>"} {
		if _, _, err := action.FindComment([]byte(bad), ""); err == nil {
			t.Errorf("%q is a page of comments", bad)
		}
		if _, err := action.Login([]byte(bad)); err == nil {
			t.Errorf("%q names a user", bad)
		}
	}
}

func FuzzFindComment(f *testing.F) {
	f.Add([]byte(`[{"id": 3, "body": "<!-- agents-shipgate:pr-comment -->", "user": {"login": "x", "type": "Bot"}}]`), "")
	f.Add([]byte(`[]`), "x")
	f.Fuzz(func(t *testing.T, page []byte, login string) {
		id, more, err := action.FindComment(page, login)
		if id < 0 || (id != 0 || more) && err != nil || id != 0 && more {
			t.Errorf("%d, %t, %v", id, more, err)
		}
	})
}

func TestACommitAndARefOfTheForge(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a", 40)
	for _, w := range []action.Where{{}, {Commit: id}, {Commit: strings.Repeat("0", 64), SARIFCommit: id, SARIFRef: `refs/heads/a"b`}} {
		if err := w.Check(); err != nil {
			t.Errorf("%+v: %v", w, err)
		}
	}
	for _, w := range []action.Where{{Commit: "main"}, {Commit: strings.Repeat("A", 40)}, {SARIFCommit: id + "0"}, {SARIFRef: "main"}} {
		if w.Check() == nil {
			t.Errorf("%+v is taken", w)
		}
	}
}
