package detect

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll.dev/internal/gate/redact"
)

// A reason says why a file is no source although it looks like one.
const (
	testFixture = "test_fixture"
	example     = "example"
	vendored    = "vendored"
	generated   = "generated"
	document    = "document"
	lockFile    = "lock_file"
	unreadable  = "unreadable"
	noTools     = "no_tools"
	shadowed    = "local_package"
)

// folders are the names of folders whose files are not what the workspace itself
// runs.
var folders = map[string]string{
	"node_modules": vendored, "vendor": vendored, "third_party": vendored, "site-packages": vendored, "dist-packages": vendored,
	"venv": vendored, ".venv": vendored, ".tox": vendored, ".yarn": vendored,
	"dist": generated, "build": generated, "out": generated, "coverage": generated, "__pycache__": generated, "agents-shipgate-reports": generated,
	"test": testFixture, "tests": testFixture, "testdata": testFixture, "fixtures": testFixture, "fixture": testFixture,
	"__tests__": testFixture, "__mocks__": testFixture, "__snapshots__": testFixture, "e2e": testFixture, "golden": testFixture,
	"example": example, "examples": example, "sample": example, "samples": example, "demo": example, "demos": example,
	"cookbook": example, "cookbooks": example, "tutorial": example, "tutorials": example,
	"docs": document, "doc": document,
}

var lockFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "poetry.lock", "uv.lock", "pdm.lock",
	"Pipfile.lock", "Cargo.lock", "go.sum", "composer.lock", "Gemfile.lock",
}

// leftOut says why a path is not looked at as a source, and the folder or file
// that says so; "" for one that is.
func leftOut(name string) (reason, at string) {
	parts := strings.Split(name, "/")
	for i, dir := range parts[:len(parts)-1] {
		if r := folders[strings.ToLower(dir)]; r != "" {
			return r, strings.Join(parts[:i+1], "/")
		}
	}
	base := parts[len(parts)-1]
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case slices.Contains(lockFiles, base):
		return lockFile, name
	case strings.HasPrefix(base, "test_") && strings.HasSuffix(base, ".py"), strings.HasSuffix(base, "_test.py"), base == "conftest.py",
		strings.HasSuffix(base, "_test.go"), isScript(base) && (strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec")):
		return testFixture, name
	case strings.HasSuffix(base, ".min.js"), strings.HasSuffix(base, ".d.ts"), strings.HasSuffix(base, ".d.mts"), strings.HasSuffix(base, ".d.cts"):
		return generated, name
	}
	return "", ""
}

// skipped says whether files of this reason are not even opened: they are not
// the workspace's own.
func skipped(reason string) bool {
	return reason == vendored || reason == generated || reason == lockFile
}

func isScript(name string) bool {
	switch path.Ext(name) {
	case ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".tsx", ".jsx":
		return true
	}
	return false
}

func isYAML(name string) bool { return path.Ext(name) == ".yaml" || path.Ext(name) == ".yml" }

// nameable says whether a path can stand in a manifest and in a result as it is.
func nameable(name string) bool {
	return utf8.ValidString(name) && len(name) <= 1024 && strings.TrimSpace(name) == name && redact.Text(name) == name && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsPrint(r) || r == '\\'
	})
}

// shown is a name that a file gives, as a result may print it; "" when nothing
// of it may.
func shown(name string) string {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 128 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return redact.Text(name)
}

func depth(name string) int { return strings.Count(name, "/") }

// byDepth puts what lies nearer to the root first.
func byDepth(a, b string) int {
	if d := depth(a) - depth(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// below says whether a path is the folder or lies in it.
func below(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// common is the folder that holds all of the files.
func common(files []string) string {
	if len(files) == 0 {
		return "."
	}
	dir := path.Dir(files[0])
	for _, f := range files[1:] {
		for !below(f, dir) {
			dir = path.Dir(dir)
		}
	}
	return dir
}
