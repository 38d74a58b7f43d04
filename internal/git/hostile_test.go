package git_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/surface"
)

const (
	settings = ".claude/settings.json"
	harmless = `{"permissions":{"allow":["Bash(make lint)"]}}` + "\n"
	grant    = `{"permissions":{"allow":["Bash(*)"]}}` + "\n"
)

// Each repository below tries to start a program of its own, or to show the
// check another change than the one that is there. The sentinel proves that
// nothing ran; the text proves that the change was seen; the snapshot proves
// that nothing was written (docs/spec/boundary.md §2.3, ruling R17).
func TestNothingOfAHostileRepositoryRuns(t *testing.T) {
	type arrangement func(r *repo, run string)
	config := func(pairs ...string) arrangement {
		return func(r *repo, run string) {
			for i := 0; i < len(pairs); i += 2 {
				r.git("config", "--add", pairs[i], strings.ReplaceAll(pairs[i+1], "RUN", run))
			}
		}
	}
	attribute := func(line string, pairs ...string) arrangement {
		return func(r *repo, run string) {
			config(pairs...)(r, run)
			r.write(files{".gitattributes": line + "\n"})
		}
	}
	hook := func(names ...string) arrangement {
		return func(r *repo, run string) {
			for _, n := range names {
				script := "#!/bin/sh\n" + run + "\n"
				if err := os.WriteFile(filepath.Join(r.root, ".git/hooks", n), []byte(script), 0o755); err != nil {
					r.t.Fatal(err)
				}
			}
		}
	}
	for name, arrange := range map[string]arrangement{
		"fsmonitor":                config("core.fsmonitor", "RUN"),
		"fsmonitor hook version 2": config("core.fsmonitor", "RUN", "core.fsmonitorHookVersion", "2"),
		"external diff":            config("diff.external", "RUN"),
		"external diff driver":     attribute("*.json diff=evil", "diff.evil.command", "RUN"),
		"textconv":                 attribute("*.json diff=evil", "diff.evil.textconv", "RUN", "diff.evil.cachetextconv", "true"),
		"clean and smudge filter":  attribute("*.txt filter=evil", "filter.evil.clean", "RUN", "filter.evil.smudge", "RUN", "filter.evil.required", "true"),
		"process filter":           attribute("*.txt filter=evil", "filter.evil.process", "RUN", "filter.evil.required", "true"),
		"filter name with equals":  attribute("*.txt filter=a=b", "filter.a=b.clean", "RUN"),
		"hooksPath": func(r *repo, run string) {
			hook("post-index-change")(r, run)
			r.git("config", "core.hooksPath", ".git/hooks")
		},
		"hooks":              hook("post-index-change", "fsmonitor-watchman", "pre-auto-gc", "reference-transaction"),
		"pager":              config("core.pager", "RUN", "pager.diff", "RUN", "pager.status", "RUN"),
		"aliases":            config("alias.status", "!RUN", "alias.diff", "!RUN", "alias.ls-files", "!RUN", "alias.cat-file", "!RUN"),
		"credential and ssh": config("credential.helper", "!RUN", "core.sshCommand", "RUN", "core.askPass", "RUN", "core.gitProxy", "RUN"),
		"editor and gpg":     config("core.editor", "RUN", "gpg.program", "RUN", "sequence.editor", "RUN"),
		"submodule update":   config("submodule.kit.update", "!RUN", "submodule.recurse", "true", "diff.submodule", "log"),
		"included config": func(r *repo, run string) {
			r.write(files{".git/more": "[core]\n\tfsmonitor = \"" + run + "\"\n[filter \"late\"]\n\tclean = \"" + run + "\"\n"})
			r.git("config", "include.path", "more")
			r.write(files{".gitattributes": "*.txt filter=late\n"})
		},
		"conditional include": func(r *repo, run string) {
			r.write(files{".git/more": "[diff]\n\texternal = \"" + run + "\"\n"})
			r.git("config", "includeIf.gitdir:**.path", "more")
		},
		"worktree config": func(r *repo, run string) {
			r.git("config", "extensions.worktreeConfig", "true")
			r.git("config", "--worktree", "core.fsmonitor", run)
			r.git("config", "--worktree", "diff.external", run)
		},
		"another work tree":           config("core.worktree", "../elsewhere"),
		"bare":                        config("core.bare", "true"),
		"grafts and replace refs":     func(r *repo, _ string) { r.write(files{".git/info/grafts": r.git("rev-parse", "HEAD") + "\n"}) },
		"diff settings":               config("diff.noprefix", "true", "diff.mnemonicPrefix", "true", "diff.context", "0", "diff.relative", "true", "diff.orderFile", "x", "color.ui", "always", "diff.ignoreSubmodules", "all", "diff.algorithm", "patience", "diff.suppressBlankEmpty", "true"),
		"status settings":             config("status.showUntrackedFiles", "no", "status.relativePaths", "true", "status.short", "true", "status.branch", "true", "status.renames", "copies"),
		"attributes that hide text":   attribute("* -diff -text\n*.json binary"),
		"private attributes":          func(r *repo, _ string) { r.write(files{".git/info/attributes": "* -diff binary\n"}) },
		"partial clone with a helper": config("remote.origin.promisor", "true", "remote.origin.url", "ext::RUN", "remote.origin.partialclonefilter", "blob:none", "protocol.ext.allow", "always"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, files{settings: harmless, "notes.txt": "one\n", "src/app.go": "package app\n"})
			sentinel := filepath.Join(t.TempDir(), "ran")
			arrange(r, "touch "+sentinel)
			r.write(files{settings: grant, "notes.txt": "two\n"})
			os.Remove(sentinel)
			before := r.snapshot()

			in := r.input()

			if got := string(change(t, in, settings, surface.GitWorktree).New.Bytes); got != grant {
				t.Errorf("the change was not seen: new text %q", got)
			}
			if _, err := os.Lstat(sentinel); err == nil {
				t.Error("a program of the repository ran")
			}
			if after := r.snapshot(); !maps.Equal(before, after) {
				t.Error("the repository was written to")
			}
		})
	}
}

// Flags and stale time stamps make Git call an edited file clean.
func TestFlagsHideNothing(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(flag, func(t *testing.T) {
			r := newRepo(t, files{settings: harmless})
			r.git("update-index", flag, settings)
			r.write(files{settings: grant})
			c := change(t, r.input(), settings, surface.GitWorktree)
			if string(c.Old.Bytes) != harmless || string(c.New.Bytes) != grant {
				t.Errorf("old %q, new %q", c.Old.Bytes, c.New.Bytes)
			}
		})
	}
	t.Run("absent behind assume-unchanged is a deletion", func(t *testing.T) {
		r := newRepo(t, files{settings: harmless})
		r.git("update-index", "--assume-unchanged", settings)
		r.remove(settings)
		if c := change(t, r.input(), settings, surface.GitWorktree); !c.Deleted {
			t.Error("the deletion was not seen")
		}
	})
	t.Run("absent behind skip-worktree is a sparse checkout", func(t *testing.T) {
		r := newRepo(t, files{settings: harmless})
		r.git("update-index", "--skip-worktree", settings)
		r.remove(settings)
		if in := r.input(); len(in.ChangedFiles) != 0 {
			t.Errorf("changed files %v", in.ChangedFiles)
		}
	})
}

func TestADamagedObjectIsNotRead(t *testing.T) {
	r := newRepo(t, files{settings: harmless})
	id := r.git("rev-parse", "HEAD:"+settings)
	loose := filepath.Join(r.root, ".git/objects", id[:2], id[2:])
	r.write(files{"other": "{}\n"})
	forged := r.git("hash-object", "-w", "other")
	data, err := os.ReadFile(filepath.Join(r.root, ".git/objects", forged[:2], forged[2:]))
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(loose, 0o644)
	if err := os.WriteFile(loose, data, 0o644); err != nil {
		t.Fatal(err)
	}
	r.write(files{settings: grant})
	if _, err := r.acquire(); err == nil || !strings.Contains(err.Error(), "does not match its id") {
		t.Errorf("got %v", err)
	}
}
