package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/md5" //nolint:gosec // the format of a Debian package names its files by it
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/cli/plimsoll"
	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/manual"
)

// entry is a file of an archive; name is slash separated.
type entry struct {
	name    string
	text    []byte
	program bool
}

func (e entry) mode() int64 {
	if e.program {
		return 0o755
	}
	return 0o644
}

// pages is what every system gets besides programs.
func pages(version string, day time.Time) ([]entry, error) {
	var entries []entry
	for _, name := range []string{"LICENSE", "README.md", "docs/licences.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("%w; dist is run from the top of the checkout", err)
		}
		entries = append(entries, entry{name: path.Base(name), text: text})
	}
	for _, root := range []*cobra.Command{shipgate.Commands(), plimsoll.Commands()} {
		man, err := manual.Man(root, version, day)
		if err != nil {
			return nil, err
		}
		shells, err := manual.Completions(root)
		if err != nil {
			return nil, err
		}
		for _, f := range man {
			entries = append(entries, entry{name: "man/" + f.Name, text: f.Text})
		}
		for _, f := range shells {
			entries = append(entries, entry{name: "completion/" + f.Name, text: f.Text})
		}
	}
	return entries, nil
}

func writeTarGz(w io.Writer, top string, entries []entry, day time.Time) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, e := range entries {
		e.name = path.Join(top, e.name)
		if err := addTar(t, e, day); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

// addTar adds a file that belongs to root and to no user of the machine.
func addTar(t *tar.Writer, e entry, day time.Time) error {
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.text)), Mode: e.mode(), ModTime: day,
		Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
	}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := t.Write(e.text)
	return err
}

func writeZip(w io.Writer, top string, entries []entry, day time.Time) error {
	z := zip.NewWriter(w)
	for _, e := range entries {
		h := &zip.FileHeader{Name: path.Join(top, e.name), Method: zip.Deflate, Modified: day}
		h.SetMode(os.FileMode(e.mode())) //nolint:gosec // two small constants
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.text); err != nil {
			return err
		}
	}
	return z.Close()
}

const control = `Package: plimsoll
Version: %s
Architecture: %s
Maintainer: The Plimsoll authors <maintainers@plimsoll.dev>
Installed-Size: %d
Depends: git (>= 1:2.39)
Section: devel
Priority: optional
Homepage: https://plimsoll.dev
Description: one governed path from a request to a release, for coding agents
 shipgate reads a git change and tells a coding agent what it may do next.
 shipgate-mcp offers it to agents as read-only tools. plimsoll keeps the
 contracts of the path from a request to a release, and proves them.
`

// writeDeb writes a Debian package: an ar archive of a version, the control
// files and the tree (deb(5)).
func writeDeb(w io.Writer, version, arch string, entries []entry, day time.Time) error {
	tree := placed(entries)
	var sums strings.Builder
	size := 0
	for _, e := range tree {
		size += (len(e.text) + 1023) / 1024
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(e.text), e.name) //nolint:gosec // see the import
	}
	controls := []entry{
		{name: "control", text: fmt.Appendf(nil, control, version, arch, size)},
		{name: "md5sums", text: []byte(sums.String())},
	}
	var meta, data bytes.Buffer
	if err := writeTree(&meta, controls, day); err != nil {
		return err
	}
	if err := writeTree(&data, tree, day); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "!<arch>\n"); err != nil {
		return err
	}
	for _, m := range []entry{{name: "debian-binary", text: []byte("2.0\n")}, {name: "control.tar.gz", text: meta.Bytes()}, {name: "data.tar.gz", text: data.Bytes()}} {
		if _, err := fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.name, day.Unix(), 0, 0, "100644", len(m.text)); err != nil {
			return err
		}
		if len(m.text)%2 == 1 {
			m.text = append(m.text, '\n')
		}
		if _, err := w.Write(m.text); err != nil {
			return err
		}
	}
	return nil
}

// placed is the same files where Debian has them. Manual pages are compressed,
// as its policy wants.
func placed(entries []entry) []entry {
	var tree []entry
	for _, e := range entries {
		shell, isShell := strings.CutPrefix(e.name, "completion/")
		switch {
		case e.program:
			e.name = "usr/bin/" + e.name
		case strings.HasPrefix(e.name, "man/"):
			e.name, e.text = "usr/share/man/man1/"+path.Base(e.name)+".gz", zipped(e.text)
		case isShell && strings.HasPrefix(shell, "bash/"):
			e.name = "usr/share/bash-completion/completions/" + path.Base(e.name)
		case isShell && strings.HasPrefix(shell, "zsh/"):
			e.name = "usr/share/zsh/vendor-completions/" + path.Base(e.name)
		case isShell && strings.HasPrefix(shell, "fish/"):
			e.name = "usr/share/fish/vendor_completions.d/" + path.Base(e.name)
		case isShell:
			continue
		case e.name == "LICENSE":
			e.name = "usr/share/doc/plimsoll/copyright"
		default:
			e.name = "usr/share/doc/plimsoll/" + e.name
		}
		tree = append(tree, e)
	}
	return tree
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one of the package's
	_, _ = z.Write(text)                                  // a bytes.Buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// writeTree writes a compressed tar with every folder before what is in it.
func writeTree(w io.Writer, entries []entry, day time.Time) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	folders := map[string]bool{}
	for _, e := range entries {
		for dir := path.Dir(e.name); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	names := []string{}
	for dir := range folders {
		names = append(names, dir)
	}
	slices.Sort(names)
	for _, dir := range append([]string{"."}, names...) {
		h := &tar.Header{Typeflag: tar.TypeDir, Name: "./" + dir + "/", Mode: 0o755, ModTime: day, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if dir == "." {
			h.Name = "./"
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
	}
	for _, e := range entries {
		e.name = "./" + e.name
		if err := addTar(t, e, day); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}
