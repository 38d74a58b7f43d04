package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/cli/plimsoll"
	"plimsoll.dev/internal/gate"
)

// One system is enough to see whether anything of the machine gets in; make dist
// builds all six in the same way.
func TestTwoBuildsAreTheSameBytes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the package that is looked into is for Linux")
	}
	t.Chdir(filepath.Join("..", ".."))
	here := system{"linux", runtime.GOARCH}
	first, day := t.TempDir(), time.Unix(1_800_000_000, 0).UTC()
	small := packed(t, day)
	if err := run(t.Context(), []string{"-out", first, "-only", here.String()}); err != nil {
		t.Fatal(err)
	}
	names := listing(t, first)
	archive := "plimsoll-" + plimsoll.Version + "-linux-" + runtime.GOARCH + ".tar.gz"
	deb := "plimsoll_" + plimsoll.Version + "_" + runtime.GOARCH + ".deb"
	bare := "shipgate_" + plimsoll.Version + "_linux_" + runtime.GOARCH
	if want := []string{"SHA256SUMS", archive, deb, bare}; !slices.Equal(names, want) {
		t.Fatalf("dist wrote %v, want %v", names, want)
	}
	files := unpack(t, filepath.Join(first, archive))
	top := strings.TrimSuffix(archive, ".tar.gz") + "/"

	// The second time the programs are built elsewhere and the pages printed again.
	// To pack 100 MB again would show no more than to pack a part of it, as long as
	// the clock has gone on since.
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "elsewhere"))
	if err := os.Mkdir(os.Getenv("TMPDIR"), 0o755); err != nil {
		t.Fatal(err)
	}
	binaries, err := compile(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	made, err := commitTime(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	printed, err := pages(plimsoll.Version, made)
	if err != nil {
		t.Fatal(err)
	}
	entries := slices.Concat(binaries, printed)
	if len(entries) != len(files) {
		t.Errorf("the archive holds %d files, and a second build makes %d", len(files), len(entries))
	}
	for _, e := range entries {
		if !bytes.Equal(e.text, files[top+e.name]) {
			t.Errorf("%s differs between two builds", e.name)
		}
	}
	for kind, text := range packed(t, day) {
		if !bytes.Equal(text, small[kind]) {
			t.Errorf("a %s differs when it is packed twice", kind)
		}
	}
	sums := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	sums.Dir = first
	if out, err := sums.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}

	for _, name := range []string{"shipgate", "agents-shipgate", "shipgate-mcp", "plimsoll", "LICENSE", "README.md", "licences.md", "man/shipgate-check.1", "man/plimsoll-serve.1", "completion/bash/shipgate", "completion/zsh/_plimsoll"} {
		if len(files[top+name]) == 0 {
			t.Errorf("the archive has no %s", name)
		}
	}
	if !bytes.Equal(read(t, filepath.Join(first, bare)), files[top+"shipgate"]) {
		t.Error("the gate alone is another than the one in the archive")
	}
	program := filepath.Join(t.TempDir(), "shipgate")
	if err := os.WriteFile(program, files[top+"shipgate"], 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := version(program); err != nil || !strings.Contains(string(out), gate.ToolVersion) {
		t.Errorf("the packed program: %v: %s", err, out)
	}
	lookIntoPackage(t, filepath.Join(first, deb))
}

// packed is one small program and the pages in every form of package.
func packed(t *testing.T, day time.Time) map[string][]byte {
	t.Helper()
	entries, err := pages(plimsoll.Version, day)
	if err != nil {
		t.Fatal(err)
	}
	entries = append([]entry{{name: "shipgate", text: bytes.Repeat([]byte("a program\n"), 10_000), program: true}}, entries...)
	all := map[string][]byte{}
	for kind, write := range map[string]func(io.Writer) error{
		"tar.gz": func(w io.Writer) error { return writeTarGz(w, "top", entries, day) },
		"zip":    func(w io.Writer) error { return writeZip(w, "top", entries, day) },
		"deb":    func(w io.Writer) error { return writeDeb(w, plimsoll.Version, "amd64", entries, day) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		all[kind] = b.Bytes()
	}
	return all
}

// version asks a program that was written a moment ago: another test's child may
// still hold the file open, which the system calls busy.
func version(program string) ([]byte, error) {
	for {
		out, err := exec.Command(program, "--version").CombinedOutput()
		if err == nil || !strings.Contains(err.Error(), "text file busy") {
			return out, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// dpkg itself reads the package, where there is one.
func lookIntoPackage(t *testing.T, deb string) {
	t.Helper()
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		t.Log("no dpkg-deb: the package is not looked into")
		return
	}
	info, err := exec.Command(dpkg, "--info", deb).CombinedOutput()
	if err != nil || !strings.Contains(string(info), "Package: plimsoll") || !strings.Contains(string(info), "Architecture: "+runtime.GOARCH) {
		t.Errorf("dpkg-deb --info: %v\n%s", err, info)
	}
	root := t.TempDir()
	if out, err := exec.Command(dpkg, "--extract", deb, root).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb --extract: %v\n%s", err, out)
	}
	for _, name := range []string{"usr/bin/shipgate", "usr/bin/shipgate-mcp", "usr/share/man/man1/shipgate.1.gz", "usr/share/bash-completion/completions/plimsoll", "usr/share/doc/plimsoll/copyright"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("the package: %v", err)
		}
	}
}

func TestBadCallsBuildNothing(t *testing.T) {
	for _, args := range [][]string{
		{"-version", "1.0; rm"}, {"-version", "1.0"}, {"-only", "plan9/mips"}, {"stray"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		if err := run(t.Context(), append([]string{"-out", dir}, args...)); err == nil {
			t.Errorf("dist %v was taken", args)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("dist %v made a folder", args)
		}
	}
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func unpack(t *testing.T, name string) map[string][]byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(read(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}
