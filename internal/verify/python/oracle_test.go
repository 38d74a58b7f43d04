package python_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/python"
)

// corpusFiles is how many files of the standard library are compared; with
// PLIMSOLL_PYTHON_CORPUS=all it is every file.
const corpusFiles = 330

type oracle struct {
	program string
	minor   int
	library string
}

// findOracle is the machine's own Python; the test is skipped without one.
func findOracle(t *testing.T) oracle {
	t.Helper()
	program, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine: our trees are compared with those of its ast module")
	}
	out, err := exec.Command(program, "-c", "import sys, sysconfig; print(sys.version_info[1]); print(sysconfig.get_paths()['stdlib'])").Output()
	if err != nil {
		t.Skipf("python3 does not run here: %v", err)
	}
	minor, library, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	o := oracle{program: program, library: library}
	if o.minor, err = strconv.Atoi(minor); err != nil || o.minor < 9 {
		t.Skipf("python3 here is 3.%s: positions are comparable from 3.9 on", minor)
	}
	return o
}

// ask gives the oracle's dumps of the files, as digests when digest is set.
func (o oracle) ask(t *testing.T, files []string, digest bool) string {
	t.Helper()
	list := filepath.Join(t.TempDir(), "files")
	if err := os.WriteFile(list, []byte(strings.Join(files, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{filepath.Join("testdata", "dump.py"), list}
	if digest {
		args = append(args, "digest")
	}
	cmd := exec.Command(o.program, args...)
	cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("dump.py: %v\n%s", err, stderr.String())
	}
	return string(out)
}

func (o oracle) ours(text []byte) string {
	f, err := python.Parse(text)
	if err != nil {
		return "refused\n"
	}
	d := dumper{minor: o.minor}
	d.stmts(f.Body)
	return d.out.String()
}

var (
	otherEncoding = regexp.MustCompile(`^(?:[ \t\f]*#.*\r?\n)?[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)`)
	namedRune     = regexp.MustCompile(`\\N\{`)
)

func TestTreesOfTheStandardLibraryAreThoseOfPythonItself(t *testing.T) {
	o := findOracle(t)
	var files []string
	err := filepath.WalkDir(o.library, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "site-packages" || e.Name() == "dist-packages" || e.Name() == "__pycache__") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".py") && e.Type().IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 300 {
		t.Skipf("%s holds %d files, too few to compare", o.library, len(files))
	}
	if os.Getenv("PLIMSOLL_PYTHON_CORPUS") != "all" && len(files) > corpusFiles {
		var some []string
		for i := range corpusFiles {
			some = append(some, files[i*len(files)/corpusFiles])
		}
		files = some
	}
	digests := strings.Fields(o.ask(t, files, true))
	if len(digests) != len(files) {
		t.Fatalf("%d digests of %d files", len(digests), len(files))
	}
	compared := 0
	for i, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if m := otherEncoding.FindSubmatch(text); m != nil && !strings.HasPrefix(strings.ToLower(string(m[1])), "utf") && string(m[1]) != "ascii" {
			if o.ours(text) != "refused\n" {
				t.Errorf("%s declares %s and was not refused", path, m[1])
			}
			continue
		}
		if namedRune.Match(text) {
			continue // compared in TestACharacterByNameIsKeptOpaque: we do not know their names
		}
		compared++
		ours := o.ours(text)
		sum := sha256.Sum256([]byte(ours))
		if hex.EncodeToString(sum[:]) == digests[i] {
			continue
		}
		_, perr := python.Parse(text)
		t.Errorf("%s: %s (our error: %v)", path, firstDifference(ours, o.ask(t, []string{path}, false)), perr)
	}
	t.Logf("compared %d files with Python 3.%d", compared, o.minor)
	if compared < 300 {
		t.Errorf("only %d files were compared", compared)
	}
}

func short(line string) string {
	line = strings.TrimSpace(line)
	if len(line) > 200 {
		return line[:100] + " … " + line[len(line)-100:]
	}
	return line
}

func firstDifference(ours, theirs string) string {
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d of the dump:\n ours   %s\n python %s", i+1, short(a[i]), short(b[i]))
		}
	}
	return fmt.Sprintf("%d lines of ours, %d of Python's", len(a), len(b))
}
