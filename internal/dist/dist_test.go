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
	here := "linux/" + runtime.GOARCH
	first, second := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	for _, dir := range []string{first, second} {
		t.Setenv("TMPDIR", t.TempDir())
		if err := run(t.Context(), []string{"-out", dir, "-only", here}); err != nil {
			t.Fatal(err)
		}
	}
	names := listing(t, first)
	archive := "plimsoll-" + plimsoll.Version + "-linux-" + runtime.GOARCH + ".tar.gz"
	deb := "plimsoll_" + plimsoll.Version + "_" + runtime.GOARCH + ".deb"
	bare := "shipgate_" + plimsoll.Version + "_linux_" + runtime.GOARCH
	if want := []string{"SHA256SUMS", archive, deb, bare}; !slices.Equal(names, want) || !slices.Equal(listing(t, second), want) {
		t.Fatalf("dist wrote %v and %v, want %v", names, listing(t, second), want)
	}
	for _, name := range names {
		if !bytes.Equal(read(t, filepath.Join(first, name)), read(t, filepath.Join(second, name))) {
			t.Errorf("%s differs between two builds", name)
		}
	}
	sums := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	sums.Dir = first
	if out, err := sums.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}

	files := unpack(t, filepath.Join(first, archive))
	top := strings.TrimSuffix(archive, ".tar.gz") + "/"
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
