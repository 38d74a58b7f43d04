//go:build unix

package git_test

import (
	"syscall"
	"testing"
	"time"
)

// A pipe blocks whoever opens it, and git gives up when it meets one.
func TestAPipeIsNeitherReadNorWaitedFor(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, path, want string
	}{
		{"in place of a boundary file", settings, `
			files .claude/settings.json notes.txt
			disk .claude/settings.json: harmless -> (input_symlink_or_external)
			issue input_symlink_or_external .claude/settings.json
			record notes.txt edited 100644 -1 +1
			record .claude/settings.json edited 100644 -1 +0`},
		{"in place of any other file", "src/app.go", `
			files notes.txt src/app.go
			record notes.txt edited 100644 -1 +1
			record src/app.go edited 100644 -1 +0`},
		{"untracked, under a host's name", ".mcp.json", `
			files notes.txt
			record notes.txt edited 100644 -1 +1`},
		{"as the manifest", "shipgate.yaml", `
			files notes.txt shipgate.yaml
			disk shipgate.yaml: absent -> (input_symlink_or_external) [manifest]
			issue input_symlink_or_external shipgate.yaml
			record notes.txt edited 100644 -1 +1
			record shipgate.yaml new 100644`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, files{settings: harmless, "notes.txt": "one\n", "src/app.go": "package app\n"})
			r.write(files{"notes.txt": "two\n"})
			r.remove(row.path)
			if err := syscall.Mkfifo(r.at(row.path), 0o644); err != nil {
				t.Skip(err)
			}
			expect(t, r.input(), row.want)
		})
	}
}

func TestAPipeInASideIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{"shipgate.yaml": declared})
	if err := syscall.Mkfifo(r.at("t.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool, 1)
	p := r.pair(nil)
	go func() {
		f, err := p.Head.Open("t.json")
		if err == nil {
			info, _ := f.Stat()
			if info == nil || info.Mode().IsRegular() {
				t.Error("a pipe looks like a file")
			}
			f.Close()
		}
		done <- true
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for a pipe")
	}
}
