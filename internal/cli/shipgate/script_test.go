package shipgate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll.dev/internal/cli/shipgate"
)

// TestScripts drives the command line from scripts. Beside what testscript
// brings they may use
//
//	shipgate ARG... [< FILE]      run the program; it must exit 0
//	fails CODE shipgate ARG...    run it; it must exit CODE with nothing on stdout
//	ends CODE shipgate ARG...     run it; it must exit CODE, with a result on stdout
//	terminal on|off               whether stdout is a terminal from here on
//	repo DIR [LAYER]              make a repository whose first commit holds the files of LAYER
//	lay DIR LAYER                 put the files of LAYER into DIR
//	commit DIR                    commit everything in DIR
//	json PATH VALUE               the last stdout has this value at this path (a.b.0.c, a.*.b for all)
//	line PATH VALUE               the last line of the last stderr likewise
//
// Every verification is held against the published schemas of all that it wrote,
// and a second one writes the same bytes.
//
// Every check that has a result is held against what the protocol promises of
// all of them: stdout is one document of the published schema, stderr is empty,
// a second run prints the same bytes, and nothing on disk has changed.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		UpdateScripts:      os.Getenv("PLIMSOLL_GOLDEN") == "1",
		Setup: func(e *testscript.Env) error {
			e.Values[worldKey{}] = &world{}
			e.Vars = append(e.Vars, quietGit(e.WorkDir)...)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"shipgate": func(ts *testscript.TestScript, neg bool, args []string) {
				refuse(ts, neg, "fails CODE shipgate ...")
				run(ts, 0, true, args)
			},
			"fails": func(ts *testscript.TestScript, neg bool, args []string) {
				refuse(ts, neg || len(args) < 2 || args[1] != "shipgate", "fails CODE shipgate ARG...")
				code, err := strconv.Atoi(args[0])
				ts.Check(err)
				run(ts, code, false, args[2:])
			},
			"ends": func(ts *testscript.TestScript, neg bool, args []string) {
				refuse(ts, neg || len(args) < 2 || args[1] != "shipgate", "ends CODE shipgate ARG...")
				code, err := strconv.Atoi(args[0])
				ts.Check(err)
				run(ts, code, true, args[2:])
			},
			"terminal": func(ts *testscript.TestScript, neg bool, args []string) {
				refuse(ts, neg || len(args) != 1, "terminal on|off")
				worldOf(ts).terminal = args[0] == "on"
			},
			"repo": func(ts *testscript.TestScript, neg bool, args []string) {
				refuse(ts, neg || len(args) < 1 || len(args) > 2, "repo DIR [LAYER]")
				dir := ts.MkAbs(args[0])
				ts.Check(os.MkdirAll(dir, 0o755))
				ts.Check(ts.Exec("git", "init", "-q", "-b", "main", dir))
				if len(args) == 2 {
					ts.Check(os.CopyFS(dir, os.DirFS(ts.MkAbs(args[1]))))
				}
				commit(ts, dir)
			},
			"lay": func(ts *testscript.TestScript, neg bool, args []string) {
				refuse(ts, neg || len(args) != 2, "lay DIR LAYER")
				ts.Check(lay(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
			},
			"commit": func(ts *testscript.TestScript, neg bool, args []string) {
				refuse(ts, neg || len(args) != 1, "commit DIR")
				commit(ts, ts.MkAbs(args[0]))
			},
			"json": func(ts *testscript.TestScript, neg bool, args []string) {
				refuse(ts, len(args) != 2, "json PATH VALUE")
				assert(ts, neg, ts.ReadFile("stdout"), args[0], args[1])
			},
			"line": func(ts *testscript.TestScript, neg bool, args []string) {
				refuse(ts, len(args) != 2, "line PATH VALUE")
				lines := strings.Split(strings.TrimSpace(ts.ReadFile("stderr")), "\n")
				assert(ts, neg, lines[len(lines)-1], args[0], args[1])
			},
		},
	})
}

// world is what a script has set up besides files.
type world struct{ terminal bool }

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

func refuse(ts *testscript.TestScript, wrong bool, usage string) {
	if wrong {
		ts.Fatalf("usage: %s", usage)
	}
}

// quietGit is an environment in which git knows nothing of the person who runs
// the tests, and every commit has the same author and date.
func quietGit(home string) []string {
	const person, day = "A Person", "2024-01-01T00:00:00Z"
	return []string{
		"HOME=" + home, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=" + person, "GIT_AUTHOR_EMAIL=person@example.invalid", "GIT_AUTHOR_DATE=" + day,
		"GIT_COMMITTER_NAME=" + person, "GIT_COMMITTER_EMAIL=person@example.invalid", "GIT_COMMITTER_DATE=" + day,
	}
}

// words is a command line without quoting, and more arguments as they are.
func words(line string, more ...string) []string { return append(strings.Fields(line), more...) }

func commit(ts *testscript.TestScript, dir string) {
	ts.Check(ts.Exec("git", "-C", dir, "add", "-A"))
	ts.Check(ts.Exec("git", "-C", dir, "commit", "-q", "--allow-empty", "-m", "a step"))
}

// lay copies a tree over another. os.CopyFS would refuse to replace files.
func lay(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

// writers are the commands whose product is files; every other one leaves the
// disk as it was.
var writers = []string{"apply-patches", "capability", "scan", "verify"}

// run runs the program in process, as often as the promises need.
func run(ts *testscript.TestScript, want int, result bool, args []string) {
	stdin := ""
	if i := slices.Index(args, "<"); i >= 0 {
		stdin, args = ts.ReadFile(args[i+1]), args[:i]
	}
	env := shipgate.Env{Dir: ts.MkAbs("."), Terminal: worldOf(ts).terminal}
	for _, name := range []string{
		"PATH", "HOME", "CLAUDECODE", "CURSOR_TRACE_ID", "AGENTS_SHIPGATE_AGENT_MODE", "NO_COLOR",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_DIR",
	} {
		if value := ts.Getenv(name); value != "" {
			env.Environ = append(env.Environ, name+"="+value)
		}
	}
	work := ts.Getenv("WORK")
	before, err := digest(work)
	ts.Check(err)
	code, stdout, stderr := call(env, stdin, args)
	emit(ts, stdout, stderr)
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
	if after, err := digest(work); err != nil || after != before && !slices.Contains(writers, args[0]) && !(args[0] == "baseline" && slices.Contains(args, "save")) &&
		!(args[0] == "audit" && (slices.Contains(args, "--out") || slices.Contains(args, "--save-baseline"))) &&
		!(args[0] == "init" && slices.Contains(args, "--write") && result) &&
		!(args[0] == "ci" && slices.Contains(args, "--to") && result) {
		ts.Fatalf("the command changed something on disk (%v)", err)
	}
	if !result {
		if len(stdout) > 0 {
			ts.Fatalf("a failed command printed a result")
		}
		return
	}
	if len(args) > 0 && (args[0] == "verify" || args[0] == "scan") {
		ts.Check(validArtifacts(env, args))
	}
	if want != 0 {
		return
	}
	if len(stderr) > 0 && !slices.Contains(args, "--verbose") {
		ts.Fatalf("a command with a result wrote to stderr")
	}
	if slices.Contains(args, "self-check") {
		return // its platform and scratch folder are the machine's
	}
	if slices.Contains(args, "--apply") || slices.Contains(args, "--write") {
		return // what was applied or written is no longer there to apply or write
	}
	if again, second, _ := call(env, stdin, args); again != code || !bytes.Equal(second, stdout) {
		ts.Fatalf("a second run printed something else:\n%s", second)
	}
	if len(args) > 0 && args[0] == "preflight" && bytes.HasPrefix(stdout, []byte("{")) {
		ts.Check(validPreflight(stdout))
	}
	if slices.Contains(args, "check") && !slices.Contains(args, "text") && !slices.Contains(args, "--help") {
		ts.Check(valid(stdout))
	}
}

func call(env shipgate.Env, stdin string, args []string) (code int, stdout, stderr []byte) {
	var out, errs bytes.Buffer
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(stdin), &out, &errs
	code = shipgate.Main(args, env)
	return code, out.Bytes(), errs.Bytes()
}

func emit(ts *testscript.TestScript, stdout, stderr []byte) {
	_, err := ts.Stdout().Write(stdout)
	ts.Check(err)
	_, err = ts.Stderr().Write(stderr)
	ts.Check(err)
}

// digest is over everything below dir: names, modes, times and bytes. The time
// of a stored object is not: git touches one it was about to write again.
func digest(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(h, path, info.Mode()); err != nil || !info.Mode().IsRegular() {
			return err
		}
		if !strings.Contains(filepath.ToSlash(path), "/.git/objects/") {
			if _, err := fmt.Fprintln(h, info.ModTime().UnixNano()); err != nil {
				return err
			}
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(h, f)
		return err
	})
	return string(h.Sum(nil)), err
}

const testdata = "../../../testdata/boundary/"

// schemas are the published schemas by the version that a result names.
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	compiled := map[string]*jsonschema.Schema{}
	for version, path := range map[string]string{
		"shipgate.agent_boundary_result/v2": "../../../docs/agent-boundary-result-schema.v2.json",
		"shipgate.codex_boundary_result/v2": testdata + "codex-boundary-result-schema.v2.json",
	} {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		schema, err := c.Compile(path)
		if err != nil {
			return nil, err
		}
		compiled[version] = schema
	}
	return compiled, nil
})

// valid says whether text is exactly one printed document of a published schema.
func valid(text []byte) error {
	if !bytes.HasSuffix(text, []byte("}\n")) || !bytes.HasPrefix(text, []byte("{\n  \"")) {
		return fmt.Errorf("stdout is not one object, indented by two spaces, with a final line end")
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	object, ok := document.(map[string]any)
	if !ok {
		return fmt.Errorf("stdout is not an object")
	}
	version, _ := object["schema_version"].(string)
	known, err := schemas()
	if err != nil {
		return err
	}
	schema := known[version]
	if schema == nil {
		return fmt.Errorf("no schema is published for %q", version)
	}
	return schema.Validate(document)
}

// assert compares the value at path in a JSON text; texts are compared as they
// are, everything else as compact JSON.
func assert(ts *testscript.TestScript, neg bool, text, path, want string) {
	var document any
	ts.Check(json.Unmarshal([]byte(text), &document))
	value, ok := at(document, strings.Split(path, "."))
	got := "nothing"
	if ok {
		if s, isText := value.(string); isText {
			got = s
		} else {
			var b strings.Builder
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			ts.Check(enc.Encode(value))
			got = strings.TrimSpace(b.String())
		}
	}
	if (got == want) == neg {
		ts.Fatalf("%s is %s", path, got)
	}
}

// at walks a document: keys, indexes, and * for every member of a list.
func at(value any, path []string) (any, bool) {
	if len(path) == 0 {
		return value, true
	}
	switch v := value.(type) {
	case map[string]any:
		member, ok := v[path[0]]
		if !ok {
			return nil, false
		}
		return at(member, path[1:])
	case []any:
		if path[0] == "*" {
			all := []any{}
			for _, member := range v {
				if found, ok := at(member, path[1:]); ok {
					all = append(all, found)
				}
			}
			return all, true
		}
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		return at(v[i], path[1:])
	}
	return nil, false
}

// The doorsteps hand over arguments, streams and the exit code; everything else
// is tested in process.
func TestBothProgramsAreTheSameGate(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"shipgate", "agents-shipgate"} {
		t.Run(name, func(t *testing.T) {
			binary := build(t, dir, name)
			version, err := exec.Command(binary, "--version").Output()
			if err != nil || !bytes.HasPrefix(version, []byte("agents-shipgate ")) {
				t.Errorf("--version printed %q (%v)", version, err)
			}
			err = exec.Command(binary, "check", "--diff", "").Run()
			if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 { //nolint:errorlint // Run returns it bare
				t.Errorf("a wrong command line ended with %v, want exit code 2", err)
			}
		})
	}
}

// build puts one of the two programs into a folder and returns its path. It is
// built once for all tests, and is the same file in every folder: a copy that was
// written a moment ago may still be open in another test's child, which the
// system calls busy.
func build(t *testing.T, dir, name string) string {
	t.Helper()
	from, err := programs[name]()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, name)
	if err := os.Link(from, binary); err != nil {
		t.Fatal(err)
	}
	return binary
}

var programs = map[string]func() (string, error){
	"shipgate":        once("shipgate", "plimsoll.dev/cmd/shipgate"),
	"agents-shipgate": once("agents-shipgate", "plimsoll.dev/cmd/agents-shipgate"),
	"measure":         once("measure", "./testdata/measure"),
}

// kept is the folder of what was built; it is removed at the end.
var kept string

func once(name, from string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		binary := filepath.Join(kept, name)
		if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", binary, from).CombinedOutput(); err != nil {
			return "", fmt.Errorf("build: %w\n%s", err, out)
		}
		return binary, nil
	})
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "shipgate-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	kept = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
