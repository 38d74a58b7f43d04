package git_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Whatever is edited, staged, unstaged, intended, flagged and committed: each
// after-state shows exactly the texts that git and the disk have, the changed
// files are exactly the changed ones, and what happens elsewhere changes nothing.
func TestEveryAfterStateHasTheTextsThatGitAndTheDiskHave(t *testing.T) {
	t.Parallel()
	base := files{}
	for i := range 12 {
		base[fmt.Sprintf("p%d/AGENTS.md", i)] = advice
	}
	for i := range 4 {
		base[fmt.Sprintf("u%d/notes.txt", i)] = advice
	}
	names := slices.Sorted(maps.Keys(base))
	texts := rapid.SampledFrom([]string{advice, laxer, "one\ntwo\n", "one\r\ntwo\r\n", "\n", "no end", "caf\u00e9\n"})
	rapid.Check(t, func(rt *rapid.T) {
		s := &sequence{repo: newRepo(t, base), intended: map[string]bool{}, flagged: map[string]bool{}}
		for range rapid.IntRange(1, 3).Draw(rt, "ticks") {
			steps := map[string]string{}
			for _, p := range names {
				step := rapid.SampledFrom([]string{"", "write", "write", "remove", "add", "rm --cached", "add -N", "flag"}).Draw(rt, p)
				steps[p] = step
				if step == "write" {
					s.repo.write(files{p: texts.Draw(rt, "text of "+p)})
				}
			}
			s.tick(steps)
			if rapid.IntRange(0, 5).Draw(rt, "commit") == 0 {
				s.repo.git("commit", "-q", "--allow-empty", "-m", "next")
			}
		}
		heads, index := s.objects("HEAD:", names), s.objects(":", names)
		in := s.repo.input()
		var wantFiles []string
		got := map[string]string{}
		for _, c := range in.Changes {
			got[c.Path+"@"+token(c.Source)] = side(c.Old) + " -> " + side(c.New)
		}
		want := map[string]string{}
		for _, p := range names {
			head, staged, disk := heads[p], index[p], s.disk(p)
			if s.intended[p] {
				staged = nil
			}
			inHead, onDisk := same(head, staged), holds(disk, staged)
			protected := p[0] == 'p'
			seen := protected || staged != nil && !s.flagged[p]
			if s.intended[p] || !inHead || !onDisk && seen {
				wantFiles = append(wantFiles, p)
			}
			if !protected {
				continue
			}
			if split := !inHead && !onDisk; split {
				want[p+"@index"] = told(head) + " -> " + told(staged)
			}
			if !holds(disk, head) || !inHead && onDisk {
				want[p+"@disk"] = told(head) + " -> " + told(disk)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			rt.Errorf("changes (-want +got):\n%s", d)
		}
		if d := cmp.Diff(wantFiles, in.ChangedFiles); d != "" {
			rt.Errorf("changed files (-want +got):\n%s", d)
		}
		s.repo.write(files{"elsewhere/a.txt": laxer, "b.go": laxer})
		s.repo.git("add", "elsewhere")
		if d := cmp.Diff(in.Changes, s.repo.input().Changes); d != "" {
			rt.Errorf("other files changed the changes:\n%s", d)
		}
	})
}

// sequence is a repository in which things happen, with what git cannot be
// asked for afterwards.
type sequence struct {
	repo     *repo
	intended map[string]bool
	flagged  map[string]bool
}

// tick does one step for each path, all of one kind with one command. A step
// that makes no sense for a path is left out.
func (s *sequence) tick(steps map[string]string) {
	inIndex := map[string]bool{}
	for _, p := range strings.Split(s.repo.git("ls-files", "-z"), "\x00") {
		inIndex[p] = true
	}
	by := map[string][]string{}
	for _, p := range slices.Sorted(maps.Keys(steps)) {
		there := s.disk(p) != nil
		step := steps[p]
		switch step {
		case "remove":
			if there {
				s.repo.remove(p)
			}
		case "add":
			if there || inIndex[p] {
				by[step] = append(by[step], p)
				delete(s.intended, p)
			}
		case "rm --cached":
			if inIndex[p] {
				by[step] = append(by[step], p)
				delete(s.intended, p)
				delete(s.flagged, p)
			}
		case "add -N":
			if there && !inIndex[p] {
				by[step] = append(by[step], p)
				s.intended[p] = true
			}
		case "flag":
			if inIndex[p] && !s.intended[p] {
				by[step] = append(by[step], p)
				s.flagged[p] = true
			}
		}
	}
	run := func(list []string, args ...string) {
		if len(list) > 0 {
			s.repo.git(append(append(args, "--"), list...)...)
		}
	}
	// git add takes a flagged path for unchanged.
	var freed []string
	for _, p := range by["add"] {
		if s.flagged[p] {
			freed = append(freed, p)
			delete(s.flagged, p)
		}
	}
	run(freed, "update-index", "--no-assume-unchanged")
	run(by["add"], "add", "-A")
	run(by["rm --cached"], "rm", "-q", "--cached", "-f")
	run(by["add -N"], "add", "-N")
	run(by["flag"], "update-index", "--assume-unchanged")
}

func (s *sequence) disk(p string) *string {
	data, err := os.ReadFile(s.repo.at(p))
	if err != nil {
		return nil
	}
	text := string(data)
	return &text
}

// objects is what git has under a prefix such as "HEAD:", for each path.
func (s *sequence) objects(prefix string, names []string) map[string]*string {
	cmd := exec.Command("git", "cat-file", "--batch")
	cmd.Dir = s.repo.root
	cmd.Stdin = strings.NewReader(prefix + strings.Join(names, "\n"+prefix) + "\n")
	out, err := cmd.Output()
	if err != nil {
		s.repo.t.Fatal(err)
	}
	texts := map[string]*string{}
	for _, p := range names {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		out = rest
		if bytes.HasSuffix(line, []byte(" missing")) {
			continue
		}
		size, err := strconv.Atoi(string(line[bytes.LastIndexByte(line, ' ')+1:]))
		if err != nil {
			s.repo.t.Fatal(err)
		}
		text := string(out[:size])
		texts[p], out = &text, out[size+1:]
	}
	return texts
}

func same(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// holds says whether the disk has an object's text, CRLF standing for LF.
func holds(disk, object *string) bool {
	return same(disk, object) || disk != nil && object != nil && strings.ReplaceAll(*disk, "\r\n", "\n") == *object
}

func told(text *string) string {
	if text == nil {
		return "absent"
	}
	if name := named[*text]; name != "" {
		return name
	}
	return fmt.Sprintf("%q", *text)
}
