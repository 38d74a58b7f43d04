package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/surface"
)

// Each repository below tries to start a program of its own, or to show the
// check another change than the one that is there. The sentinel proves that
// nothing ran; the text proves that the change was seen; the snapshot proves
// that nothing was written (docs/spec/boundary.md §2.3, ruling R17).
func TestNothingOfAHostileRepositoryRuns(t *testing.T) {
	t.Parallel()
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
				r.program(".git/hooks/"+n, run)
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
		"a filter without a name":     attribute("*.txt filter=", "filter..clean", "RUN", "filter..process", "RUN"),
		"filters in old spelling": func(r *repo, run string) {
			r.append(".git/config", "[FILTER.Loud]\n\tclean = \""+run+"\"\n")
			r.write(files{".gitattributes": "*.txt filter=loud\n"})
		},
		"a filter behind a macro":       attribute("[attr]odd filter=evil\n*.txt odd", "filter.evil.clean", "RUN"),
		"index extensions":              func(r *repo, _ string) { r.git("update-index", "--force-untracked-cache", "--split-index") },
		"settings of a split index":     config("core.splitIndex", "true", "splitIndex.maxPercentChange", "0", "core.untrackedCache", "true", "feature.manyFiles", "true"),
		"time stamps that do not count": config("core.trustctime", "false", "core.checkStat", "minimal", "core.ignoreStat", "true"),
		"folding names":                 config("core.ignoreCase", "true", "core.precomposeUnicode", "true", "core.symlinks", "false", "core.fileMode", "true"),
		"line ends":                     config("core.autocrlf", "true", "core.eol", "crlf", "core.safecrlf", "true", "core.whitespace", "cr-at-eol"),
		"big files":                     config("core.bigFileThreshold", "1", "core.quotePath", "true", "core.abbrev", "4"),
		"ignored submodules":            config("submodule.active", ".", "diff.ignoreSubmodules", "all", "status.submoduleSummary", "true"),
		"a programs folder in the repository": func(r *repo, run string) {
			r.program("bin/git", run)
			r.write(files{".git/info/exclude": "bin\n"})
			r.path = r.at("bin")
		},
		"a link to a programs folder in the repository": func(r *repo, run string) {
			r.program("bin/git", run)
			r.write(files{".git/info/exclude": "bin\n"})
			r.path = filepath.Join(r.t.TempDir(), "tools")
			if err := os.Symlink(r.at("bin"), r.path); err != nil {
				r.t.Fatal(err)
			}
		},
		"a relative programs folder": func(r *repo, run string) {
			r.program("bin/git", run)
			r.write(files{".git/info/exclude": "bin\n"})
			r.path = "bin" + string(os.PathListSeparator) + "."
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, files{settings: harmless, "notes.txt": "one\n", "src/app.go": "package app\n"})
			sentinel := filepath.Join(t.TempDir(), "ran")
			arrange(r, "touch "+sentinel)
			r.write(files{settings: grant, "notes.txt": "two\n"})
			os.Remove(sentinel)

			in := r.input()

			if got := string(change(t, in, settings, surface.GitWorktree).New.Bytes); got != grant {
				t.Errorf("the change was not seen: new text %q", got)
			}
			if _, err := os.Lstat(sentinel); err == nil {
				t.Error("a program of the repository ran")
			}
			if want := []string{settings, "notes.txt"}; !slices.Equal(in.ChangedFiles, want) {
				t.Errorf("changed files %q", in.ChangedFiles)
			}
		})
	}
}
