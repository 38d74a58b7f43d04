package git_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/git"
)

func TestWhatTheHeadHoldsBesideTheWorkingTree(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{"a/shipgate.yaml": declared, "a/t.json": "one", "a/gone.json": "x", "a/turns": "file", "a/deep/was/x": "x"})
	r.git("update-ref", "refs/remotes/origin/main", "HEAD")
	besides := func() []git.Beside {
		t.Helper()
		p := r.pair(func(req *git.PairRequest) { req.Config = "a/shipgate.yaml" })
		all, err := p.Besides(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	r.write(files{"a/t.json": "unstaged"})
	if all := besides(); len(all) != 0 {
		t.Fatalf("nothing is committed or staged: %d states", len(all))
	}
	r.git("commit", "-qam", "two")
	r.write(files{"a/t.json": "staged", "a/new/one/y": "y"})
	r.remove("a/gone.json")
	r.remove("a/turns")
	r.remove("a/deep/was/x")
	r.write(files{"a/turns/inner": "folder", "a/deep/was": "file"})
	r.git("add", "-A")
	r.write(files{"a/t.json": "unstaged"})
	all := besides()
	if len(all) != 2 || all[0].Staged || !all[1].Staged {
		t.Fatalf("%d states, want the commit and what is staged", len(all))
	}
	for name, want := range map[string][2]string{
		"t.json":      {"unstaged", "staged"},
		"gone.json":   {"x", "<missing>"},
		"turns":       {"file", ""},
		"turns/inner": {"<missing>", "folder"},
		"deep/was":    {"", "file"},
		"deep/was/x":  {"x", "<missing>"},
		"new/one/y":   {"<missing>", "y"},
	} {
		for i, want := range want {
			if got := read(t, all[i].Dir, name); got != want && want != "" {
				t.Errorf("%s of state %d: %q, want %q", name, i, got, want)
			}
			if got := read(t, all[i].Root, "a/"+name); got != read(t, all[i].Dir, name) {
				t.Errorf("%s differs when read from the root", name)
			}
		}
	}
	head := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	p := r.pair(func(req *git.PairRequest) { req.Config, req.Base, req.Head = "a/shipgate.yaml", "origin/main", head })
	if all, err := p.Besides(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("a commit has no working tree: %d states, %v", len(all), err)
	}
}
