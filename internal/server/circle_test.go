package server_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/server"
)

func TestOnlyFilesInTheFolderOfDocumentsAreRead(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "private.md"), "not yours")
	write(filepath.Join(dir, "minutes", "march.md"), "the greenhouse opens at nine")
	write(filepath.Join(dir, "long.md"), strings.Repeat("x", 1<<20+1))
	if runtime.GOOS != "windows" {
		if err := os.Symlink(filepath.Join(outside, "private.md"), filepath.Join(dir, "link.md")); err != nil {
			t.Fatal(err)
		}
	}
	l := server.Library(dir)
	p, err := l.Read(t.Context(), envelope.Reference{Kind: envelope.RefDocument, ID: "minutes/march.md"})
	if err != nil || string(p.Text) != "the greenhouse opens at nine" || p.Level != envelope.Circle {
		t.Errorf("%+v, %v", p, err)
	}
	for _, id := range []string{"../" + filepath.Base(outside) + "/private.md", filepath.Join(outside, "private.md"), "link.md", "minutes", "gone.md", "", "long.md"} {
		if p, err := l.Read(t.Context(), envelope.Reference{Kind: envelope.RefDocument, ID: id}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%q: %d bytes, %v", id, len(p.Text), err)
		}
	}
}
