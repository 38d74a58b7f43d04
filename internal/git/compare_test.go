package git_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Git trusts time stamps and flags; protected paths are compared by their bytes
// (docs/spec/boundary.md §2.2, ruling R17).
func TestWhatGitCallsCleanIsComparedByItsBytes(t *testing.T) {
	t.Parallel()
	base := files{settings: harmless, "notes.txt": "one\n"}
	const seen = `files .claude/settings.json
		 disk .claude/settings.json: harmless -> grant
		 record .claude/settings.json edited 100644 -1 +1`
	for _, row := range []struct {
		name string
		do   func(r *repo)
		want string
	}{
		{"assume-unchanged", func(r *repo) {
			r.git("update-index", "--assume-unchanged", settings)
			r.write(files{settings: grant})
		}, seen},
		{"skip-worktree", func(r *repo) {
			r.git("update-index", "--skip-worktree", settings)
			r.write(files{settings: grant})
		}, seen},
		{"both flags", func(r *repo) {
			r.git("update-index", "--skip-worktree", settings)
			r.git("update-index", "--assume-unchanged", settings)
			r.write(files{settings: grant})
		}, seen},
		{"the file system monitor's flag", func(r *repo) {
			r.git("config", "core.fsmonitor", "true")
			r.try("update-index", "--fsmonitor")                 //nolint:errcheck // not on every system
			r.try("update-index", "--fsmonitor-valid", settings) //nolint:errcheck // not on every system
			r.try("fsmonitor--daemon", "stop")                   //nolint:errcheck // it may not run
			r.write(files{settings: grant})
		}, seen},
		{"an old time stamp and the size of before", func(r *repo) {
			r.git("config", "core.trustctime", "false")
			r.git("config", "core.checkStat", "minimal")
			same := strings.Replace(grant, "*", "*        ", 1)
			if len(same) != len(harmless) {
				r.t.Fatalf("sizes %d and %d", len(same), len(harmless))
			}
			old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
			touch := func() {
				if err := os.Chtimes(r.at(settings), old, old); err != nil {
					r.t.Fatal(err)
				}
			}
			touch()
			r.git("update-index", "--refresh", settings)
			r.write(files{settings: same})
			touch()
			if out := r.git("status", "--porcelain"); out != "" {
				r.t.Fatalf("git sees it: %s", out)
			}
		}, `files .claude/settings.json
		    disk .claude/settings.json: harmless -> "{\"permissions\":{\"allow\":[\"Bash(*        )\"]}}\n"
		    record .claude/settings.json edited 100644 -1 +1`},
		{"a split index", func(r *repo) {
			r.git("config", "core.splitIndex", "true")
			r.git("update-index", "--split-index")
			r.write(files{settings: grant})
		}, seen},
		{"an index of version 4 with an untracked cache", func(r *repo) {
			r.git("update-index", "--index-version", "4")
			r.git("update-index", "--force-untracked-cache")
			r.write(files{settings: grant})
		}, seen},
		{"staged and assume-unchanged: both after-states", func(r *repo) {
			r.stage(files{settings: wider})
			r.git("update-index", "--assume-unchanged", settings)
			r.write(files{settings: grant})
		}, `files .claude/settings.json
		    disk .claude/settings.json: harmless -> grant
		    index .claude/settings.json: harmless -> wider
		    record .claude/settings.json edited 100644 -1 +1
		    staged .claude/settings.json edited 100644 -1 +1`},
		{"assume-unchanged and gone", func(r *repo) {
			r.git("update-index", "--assume-unchanged", settings)
			r.remove(settings)
		}, `files .claude/settings.json
		    disk .claude/settings.json: harmless -> absent [deleted]
		    record .claude/settings.json deleted 100644 -1 +0`},
		{"assume-unchanged, now a link", func(r *repo) {
			r.git("update-index", "--assume-unchanged", settings)
			r.write(files{settings: "-> ../kit.json", "kit.json": grant})
		}, `files .claude/settings.json
		    disk .claude/settings.json: harmless -> grant [link:none,kit.json]
		    record .claude/settings.json deleted 100644 -1 +0
		    record .claude/settings.json new 120000 -0 +1`},
		{"an intended addition that is assume-unchanged: no listing has it", func(r *repo) {
			r.write(files{"CLAUDE.md": advice})
			r.git("add", "-N", "CLAUDE.md")
			r.git("update-index", "--assume-unchanged", "CLAUDE.md")
		}, `files CLAUDE.md
		    disk CLAUDE.md: absent -> advice
		    record CLAUDE.md new 100644 -0 +1`},
		{"a skip-worktree flag of any file that is there", func(r *repo) {
			r.git("config", "sparse.expectFilesOutsideOfPatterns", "true")
			r.git("config", "core.sparseCheckout", "false")
			r.git("update-index", "--skip-worktree", "notes.txt")
			r.write(files{"notes.txt": "two\n"})
		}, `files notes.txt
		    record notes.txt edited 100644 -1 +1`},
		{"a file that no host reads keeps its flag", func(r *repo) {
			r.git("update-index", "--assume-unchanged", "notes.txt")
			r.write(files{"notes.txt": "two\n"})
		}, `files`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, base)
			row.do(r)
			expect(t, r.input(), row.want)
		})
	}
	t.Run("a clean filter that is gone again", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		// The filter shows git the text of before, whatever lies on disk.
		r.write(files{".git/info/attributes": "*.json filter=hide\n", settings: grant, "kept": harmless})
		r.git("config", "filter.hide.clean", "cat "+r.at("kept"))
		r.git("add", settings)
		r.git("config", "--unset", "filter.hide.clean")
		r.remove(".git/info/attributes", "kept")
		expect(t, r.input(), seen)
	})
	t.Run("a clean filter that stages another text, and is gone again", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		r.write(files{".git/info/attributes": "*.json filter=hide\n", settings: grant, "kept": wider})
		r.git("config", "filter.hide.clean", "cat "+r.at("kept"))
		r.git("add", settings)
		r.git("config", "--unset", "filter.hide.clean")
		r.remove(".git/info/attributes", "kept")
		expect(t, r.input(), `
			files .claude/settings.json
			disk .claude/settings.json: harmless -> grant
			index .claude/settings.json: harmless -> wider
			record .claude/settings.json edited 100644 -1 +1
			staged .claude/settings.json edited 100644 -1 +1`)
	})
	t.Run("the permissions on disk do not enter a record of our own", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		r.git("update-index", "--chmod=+x", settings)
		r.git("commit", "-q", "-m", "executable")
		r.git("update-index", "--assume-unchanged", settings)
		r.write(files{settings: grant})
		expect(t, r.input(), `
			files .claude/settings.json
			disk .claude/settings.json: harmless -> grant
			record .claude/settings.json edited 100755 -1 +1`)
	})
	t.Run("a declared tool source is protected, too", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"shipgate.yaml": manifest("tools/a.json"), "tools/a.json": "{}\n"})
		r.git("update-index", "--assume-unchanged", "tools/a.json")
		r.write(files{"tools/a.json": "{\"tools\": []}\n"})
		expect(t, r.input(), `
			files tools/a.json
			record tools/a.json edited 100644 -1 +1`)
	})
}

// manifest declares tool sources at the paths.
func manifest(paths ...string) string {
	text := "version: '1'\nproject: {name: shop}\nagent: {name: clerk}\ntool_sources:\n"
	for _, p := range paths {
		text += "  - {id: x, type: mcp, path: " + p + "}\n"
	}
	return text
}

// Disk against index: CRLF over LF is no change and LF over CRLF is one, what
// ever the settings say. Object against object: every byte counts.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	lf := "one\ntwo\n"
	rows := map[string]struct { // by the folder of each one's AGENTS.md
		head, disk string
		changed    bool
	}{
		"CRLF over LF":          {lf, crlf(lf), false},
		"some CRLF over LF":     {lf, "one\r\ntwo\n", false},
		"CRLF over CRLF":        {crlf(lf), crlf(lf), false},
		"LF over CRLF":          {crlf(lf), lf, true},
		"some LF over CRLF":     {crlf(lf), "one\r\ntwo\n", true},
		"a CR inside a line":    {lf, "one\r\rtwo\n", true},
		"CR CR LF over CR LF":   {crlf(lf), "one\r\r\ntwo\r\r\n", false},
		"a CR at the very end":  {"one", "one\r", true},
		"CRLF and another text": {lf, crlf("one\nthree\n"), true},
	}
	// What no host reads is compared by git, which heeds "-text".
	heads, disks := files{"notes.txt": lf}, files{"notes.txt": crlf(lf)}
	var want []string
	for dir, row := range rows {
		p := dir + "/AGENTS.md"
		heads[p], disks[p] = row.head, row.disk
		if row.changed {
			want = append(want, p)
		}
	}
	slices.Sort(want)
	for setting, arrange := range map[string]func(r *repo){
		"no setting":       func(*repo) {},
		"autocrlf":         func(r *repo) { r.git("config", "core.autocrlf", "true") },
		"an eol attribute": func(r *repo) { r.write(files{".git/info/attributes": "* text eol=crlf\n"}) },
		"no text":          func(r *repo) { r.write(files{".git/info/attributes": "* -text\n"}) },
	} {
		t.Run("with "+setting, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, heads)
			arrange(r)
			r.write(disks)
			in := r.input()
			files := want
			if setting == "no text" {
				files = slices.Sorted(slices.Values(append(slices.Clone(want), "notes.txt")))
			}
			if !slices.Equal(in.ChangedFiles, files) {
				t.Errorf("changed %q, want %q", in.ChangedFiles, files)
			}
			for _, p := range want {
				if c := change(t, in, p, "git_worktree"); string(c.Old.Bytes) != heads[p] || string(c.New.Bytes) != disks[p] {
					t.Errorf("%s: texts %q and %q", p, c.Old.Bytes, c.New.Bytes)
				}
			}
		})
	}
	t.Run("staged CRLF over LF of HEAD", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"AGENTS.md": lf})
		r.stage(files{"AGENTS.md": crlf(lf)})
		expect(t, r.input(), `
			files AGENTS.md
			disk AGENTS.md: "one\ntwo\n" -> "one\r\ntwo\r\n"
			record AGENTS.md edited 100644 -2 +2`)
	})
}

// What a sparse checkout leaves off the disk is not changed, and is read from
// the index wherever a rule reads it.
func TestSparseCheckouts(t *testing.T) {
	t.Parallel()
	base := files{
		"src/app.go": "package app\n", "pkg/AGENTS.md": advice, "pkg/notes.txt": "n\n",
		"policies/agent-boundary.shipgate.yaml": "id: strict\n", "shipgate.yaml": manifest("tools/a.json"),
		"tools/a.json": "{}\n", "conf/settings.json": grant, "CLAUDE.md": advice,
	}
	sparse := func(r *repo, how ...string) {
		r.git("update-index", "--refresh") // git leaves what it takes for edited
		r.git(append([]string{"sparse-checkout", "set"}, how...)...)
		if _, err := os.Lstat(r.at("pkg")); err == nil {
			r.t.Fatal("the checkout is not sparse")
		}
	}
	for _, row := range []struct {
		name string
		do   func(r *repo)
		want string
	}{
		{"cone", func(r *repo) { sparse(r, "--cone", "src") }, `files`},
		{"cone with a sparse index", func(r *repo) { sparse(r, "--cone", "--sparse-index", "src") }, `files`},
		{"patterns", func(r *repo) { sparse(r, "--no-cone", "/src/", "/CLAUDE.md") }, `files`},
		{
			"a boundary file is written outside the cone",
			func(r *repo) { sparse(r, "--cone", "src"); r.write(files{"pkg/AGENTS.md": laxer}) },
			`files pkg/AGENTS.md
			 disk pkg/AGENTS.md: advice -> laxer
			 record pkg/AGENTS.md edited 100644 -1 +1`,
		},
		{
			"the same with a sparse index",
			func(r *repo) { sparse(r, "--cone", "--sparse-index", "src"); r.write(files{"pkg/AGENTS.md": laxer}) },
			`files pkg/AGENTS.md
			 disk pkg/AGENTS.md: advice -> laxer
			 record pkg/AGENTS.md edited 100644 -1 +1`,
		},
		{
			"a staged edit outside the cone",
			func(r *repo) {
				r.stage(files{"pkg/AGENTS.md": laxer})
				sparse(r, "--cone", "src")
				r.remove("pkg")
				r.git("update-index", "--skip-worktree", "pkg/AGENTS.md")
			},
			`files pkg/AGENTS.md
			 disk pkg/AGENTS.md: advice -> laxer
			 record pkg/AGENTS.md edited 100644 -1 +1`,
		},
		{
			"a link whose target the checkout left out",
			func(r *repo) { sparse(r, "--cone", "src"); r.write(files{"CLAUDE.md": "-> pkg/notes.txt"}) },
			`files CLAUDE.md
			 disk CLAUDE.md: advice -> "n\n" [link:none,pkg/notes.txt]
			 record CLAUDE.md deleted 100644 -1 +0
			 record CLAUDE.md new 120000 -0 +1`,
		},
		{
			"a folder of the cone becomes a link to another",
			func(r *repo) { sparse(r, "--cone", "src"); r.write(files{".claude": "-> conf"}) },
			`files .claude
			 issue input_symlink_or_external .claude
			 link points .claude
			 record .claude new 120000 -0 +1`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, base)
			row.do(r)
			expect(t, r.input(), row.want)
		})
	}
	t.Run("policy and manifest are read from the index", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		sparse(r, "--no-cone", "/src/")
		in := r.input()
		policy := in.Policy.Workspace["policies/agent-boundary.shipgate.yaml"]
		if string(policy.Bytes) != "id: strict\n" || policy.Err != "" {
			t.Errorf("policy %+v", policy)
		}
		if !in.Manifest.Present || !slices.Equal(in.Manifest.Declared, []string{"tools/a.json"}) {
			t.Errorf("manifest %+v", in.Manifest)
		}
	})
}

// Only a regular file with one name is read. Whatever else lies at an adapter
// path is a change that cannot be read, and never blocks the check.
func TestWhatIsNoPlainFileAtAnAdapterPath(t *testing.T) {
	t.Parallel()
	const unread = `files .claude/settings.json
		disk .claude/settings.json: harmless -> (input_symlink_or_external)
		issue input_symlink_or_external .claude/settings.json`
	const untracked = `files .mcp.json
		disk .mcp.json: absent -> (input_symlink_or_external)
		issue input_symlink_or_external .mcp.json
		record .mcp.json new 100644`
	for _, row := range []struct {
		name string
		do   func(r *repo)
		want string
	}{
		{"a second name of an edited file", func(r *repo) {
			r.write(files{settings: grant})
			link(r, settings, "elsewhere")
		}, unread + `
			record .claude/settings.json edited 100644 -1 +1`},
		{"a second name of an unchanged file", func(r *repo) { link(r, settings, "elsewhere") }, `files`},
		{"an untracked second name", func(r *repo) {
			r.write(files{"elsewhere": grant})
			link(r, "elsewhere", ".mcp.json")
		}, untracked},
		{"a file without permission", func(r *repo) {
			r.write(files{settings: grant})
			if err := os.Chmod(r.at(settings), 0); err != nil {
				r.t.Fatal(err)
			}
			if _, err := os.ReadFile(r.at(settings)); err == nil {
				r.t.Skip("nothing is unreadable here")
			}
		}, unread},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, files{settings: harmless})
			row.do(r)
			expect(t, r.input(), row.want)
		})
	}
}

func link(r *repo, from, to string) {
	r.t.Helper()
	if err := os.Link(r.at(from), r.at(to)); err != nil {
		r.t.Fatal(err)
	}
}

// A side is read up to 1 MiB, the manifest up to 4 MiB on disk.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 1<<20+1) + "\n"
	r := newRepo(t, files{"AGENTS.md": advice, "CLAUDE.md": huge, "data.bin": "\x00\n"})
	r.write(files{"AGENTS.md": huge, "CLAUDE.md": advice, "data.bin": huge + "\x00"})
	expect(t, r.input(), `
		files AGENTS.md CLAUDE.md data.bin
		disk AGENTS.md: advice -> (input_oversized)
		disk CLAUDE.md: (input_oversized) -> advice
		issue input_oversized AGENTS.md
		issue input_oversized CLAUDE.md
		record AGENTS.md edited 100644 -1 +1
		record CLAUDE.md edited 100644 -1 +1
		record data.bin edited 100644 binary`)
}

// Names are bytes. One that is not portable is reported, whatever it is.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, issues := range map[string]string{
		".claude/commands/plain.md":      "",
		".claude/commands/ü.md":          "",
		".claude/commands/two words.md":  "",
		".claude/commands/\"quoted\".md": "",
		".claude/commands/tab\there.md":  "issue diff_path_invalid NAME\n",
		".claude/commands/li\nne.md":     "issue diff_path_invalid NAME\nissue path_not_diff_representable NAME\n",
		".claude/commands/back\\slash":   "issue diff_path_invalid NAME\n",
		".claude/commands/\xe9.md":       "issue diff_path_invalid .claude/commands/\ufffd.md\n",
		".claude/commands/a b/x.md":      "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, files{"notes.txt": "one\n"})
			r.write(files{name: advice})
			in := r.input()
			want := "files NAME\ndisk NAME: absent -> advice\n" + issues + "record NAME new 100644 -0 +1\n"
			if got, want := story(in), strings.ReplaceAll(want, "NAME", name); got != want {
				t.Errorf("untracked: got\n%s\nwant\n%s", got, want)
			}
			r.git("add", "-A")
			r.git("commit", "-q", "-m", "next")
			r.write(files{name: laxer})
			want = "files NAME\ndisk NAME: advice -> laxer\n" + issues + "record NAME edited 100644 -1 +1\n"
			want = strings.ReplaceAll(want, "issue path_not_diff_representable NAME\n", "") // of untracked names
			if got, want := story(r.input()), strings.ReplaceAll(want, "NAME", name); got != want {
				t.Errorf("tracked: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A new spelling of a name that a host reads is a file of its own.
func TestCaseVariantsAreSeen(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"false", "true"} {
		r := newRepo(t, files{"AGENTS.md": advice})
		r.git("config", "core.ignoreCase", setting)
		r.write(files{"agents.md": laxer, ".CLAUDE/Settings.json": grant})
		if _, err := os.Stat(r.at("Agents.MD")); err == nil {
			t.Skip("this file system folds case")
		}
		expect(t, r.input(), `
			files .CLAUDE/Settings.json agents.md
			disk .CLAUDE/Settings.json: absent -> grant
			disk agents.md: absent -> laxer
			record .CLAUDE/Settings.json new 100644 -0 +1
			record agents.md new 100644 -0 +1`)
	}
}
