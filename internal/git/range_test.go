package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A range is the merge base of two commits against the second. The working tree
// and the index of the checkout play no part (docs/spec/boundary.md §2.4, ruling
// R15).
func TestARangeIsReadFromItsTwoTrees(t *testing.T) {
	t.Parallel()
	const told = `files .claude/settings.json
		range .claude/settings.json: harmless -> grant
		record .claude/settings.json edited 100644 -1 +1`
	r := newRepo(t, files{settings: harmless, "notes.txt": "one\n"})
	r.git("tag", "base")
	r.commit(files{settings: grant})
	r.git("tag", "head")
	// A checkout that holds something else, in the index and on disk.
	r.stage(files{settings: wider, "shipgate.yaml": manifest("tools"), "CLAUDE.md": advice})
	r.write(files{settings: harmless, ".gitattributes": "* filter=crypt\n", "policies/agent-boundary.shipgate.yaml": "id: x\n"})
	in := r.input(refs("base", "head"))
	expect(t, in, told)
	if in.Manifest.Present || len(in.Policy.Workspace) > 0 {
		t.Errorf("the checkout was read: %+v %+v", in.Manifest, in.Policy)
	}
	for _, ref := range []string{"HEAD", r.git("rev-parse", "head")[:12], "main", "refs/tags/head", "base..head^0"} {
		got, err := r.acquire(refs("base", ref))
		if strings.Contains(ref, "..") {
			if err == nil {
				t.Errorf("%s was taken for a commit", ref)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		expect(t, got, told)
	}
	t.Run("both ways and the same commit", func(t *testing.T) {
		expect(t, r.input(refs("head", "head")), `files`)
		expect(t, r.input(refs("head", "base")), `files`) // the merge base is the head itself
	})
}

func TestTheBaseOfARangeIsTheMergeBase(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{settings: harmless, "notes.txt": "one\n"})
	r.git("checkout", "-q", "-b", "side")
	r.commit(files{"notes.txt": "two\n"})
	r.git("checkout", "-q", "main")
	r.commit(files{settings: grant})
	expect(t, r.input(refs("main", "side")), `
		files notes.txt
		record notes.txt edited 100644 -1 +1`)
	r.git("checkout", "-q", "side")
	r.git("merge", "-q", "-m", "merged", "main")
	expect(t, r.input(refs("main", "side")), `
		files notes.txt
		record notes.txt edited 100644 -1 +1`)
}

// What git would believe about the history is not believed.
func TestForgedHistoryIsNotBelieved(t *testing.T) {
	t.Parallel()
	base := files{settings: harmless}
	told := `files .claude/settings.json
		range .claude/settings.json: harmless -> grant
		record .claude/settings.json edited 100644 -1 +1`
	for name, forge := range map[string]func(r *repo){
		"a graft makes the head a root": func(r *repo) {
			r.write(files{".git/info/grafts": r.git("rev-parse", "HEAD") + "\n"})
		},
		"the base is replaced by the head": func(r *repo) {
			r.git("replace", r.git("rev-parse", "HEAD~1"), r.git("rev-parse", "HEAD"))
		},
		"the old text is replaced by the new": func(r *repo) {
			r.git("replace", r.git("rev-parse", "HEAD~1:"+settings), r.git("rev-parse", "HEAD:"+settings))
		},
		"a commit graph of another history": func(r *repo) {
			r.git("commit-graph", "write", "--reachable")
			r.git("config", "core.commitGraph", "true")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, base)
			first := r.git("rev-parse", "HEAD")
			r.commit(files{settings: grant})
			forge(r)
			expect(t, r.input(refs(first, "main")), told)
		})
	}
}

func TestChangesOfARange(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 20)
	for _, row := range []struct {
		name       string
		base, next files
		want       string
	}{
		{
			"added, edited, deleted",
			files{"AGENTS.md": advice, "CLAUDE.md": advice, "x.txt": "x\n"},
			files{"AGENTS.md": laxer, "CLAUDE.md": "", settings: grant, "x.txt": "y\n"},
			`files .claude/settings.json AGENTS.md CLAUDE.md x.txt
			 range .claude/settings.json: absent -> grant
			 range AGENTS.md: advice -> laxer
			 range CLAUDE.md: advice -> absent [deleted]
			 record .claude/settings.json new 100644 -0 +1
			 record AGENTS.md edited 100644 -1 +1
			 record CLAUDE.md deleted 100644 -1 +0
			 record x.txt edited 100644 -1 +1`,
		},
		{
			"renamed into the boundary: what it held elsewhere is no base",
			files{"docs/a.md": long},
			files{"docs/a.md": "", "CLAUDE.md": long + "more\n"},
			fmt.Sprintf(`files CLAUDE.md docs/a.md
			 range CLAUDE.md: absent -> %q
			 record CLAUDE.md renamed from docs/a.md 100644 -0 +1`, long+"more\n"),
		},
		{
			"renamed out of the boundary",
			files{"CLAUDE.md": long},
			files{"CLAUDE.md": "", "docs/a.md": long},
			fmt.Sprintf(`files CLAUDE.md docs/a.md
			 range CLAUDE.md: %q -> absent [deleted]
			 issue rename_out_requires_review CLAUDE.md
			 record docs/a.md renamed from CLAUDE.md 100644`, long),
		},
		{
			"renamed within the boundary",
			files{"a/CLAUDE.md": long},
			files{"a/CLAUDE.md": "", "b/CLAUDE.md": long},
			fmt.Sprintf(`files a/CLAUDE.md b/CLAUDE.md
			 range a/CLAUDE.md: %q -> absent [deleted]
			 range b/CLAUDE.md: absent -> %q
			 record b/CLAUDE.md renamed from a/CLAUDE.md 100644`, long, long),
		},
		{
			"copied",
			files{"docs/a.md": long},
			files{"CLAUDE.md": long},
			fmt.Sprintf(`files CLAUDE.md
			 range CLAUDE.md: absent -> %q
			 record CLAUDE.md new 100644 -0 +20`, long),
		},
		{
			"an empty file",
			files{"x.txt": "x\n", "AGENTS.md": advice},
			files{"CLAUDE.md": "\n", "AGENTS.md": "\n"},
			`files AGENTS.md CLAUDE.md
			 range AGENTS.md: advice -> "\n"
			 range CLAUDE.md: absent -> "\n"
			 record AGENTS.md edited 100644 -1 +1
			 record CLAUDE.md new 100644 -0 +1`,
		},
		{
			"line ends count between two objects",
			files{"CLAUDE.md": "one\ntwo\n"},
			files{"CLAUDE.md": "one\r\ntwo\r\n"},
			`files CLAUDE.md
			 range CLAUDE.md: "one\ntwo\n" -> "one\r\ntwo\r\n"
			 record CLAUDE.md edited 100644 -2 +2`,
		},
		{
			"content that looks like a patch",
			files{"CLAUDE.md": "a\n", "x.txt": "a\n"},
			files{"CLAUDE.md": "a\rdiff --git a/x b/x\r@@ -1 +1 @@\r\n", "x.txt": "diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@ f\n* Unmerged path z\n"},
			`files CLAUDE.md x.txt
			 range CLAUDE.md: "a\n" -> "a\rdiff --git a/x b/x\r@@ -1 +1 @@\r\n"
			 record CLAUDE.md edited 100644 -1 +3
			 record x.txt edited 100644 -1 +5`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, row.base)
			r.commit(row.next)
			expect(t, r.input(refs("HEAD~1", "HEAD")), row.want)
		})
	}
	t.Run("a mode alone, and beside a text", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{".codex/config.toml": advice, "CLAUDE.md": advice})
		r.write(files{"CLAUDE.md": laxer})
		r.git("add", "-A")
		r.git("update-index", "--chmod=+x", ".codex/config.toml", "CLAUDE.md")
		r.git("commit", "-q", "-m", "next")
		expect(t, r.input(refs("HEAD~1", "HEAD")), `
			files .codex/config.toml CLAUDE.md
			range .codex/config.toml: advice -> advice [mode-only]
			range CLAUDE.md: advice -> laxer
			record .codex/config.toml edited 100644..100755
			record CLAUDE.md edited 100644..100755 -1 +1`)
	})
	t.Run("the text after a hunk header depends on drivers and is dropped", func(t *testing.T) {
		t.Parallel()
		body := "func keep() {\n" + strings.Repeat("\t_ = 1\n", 10) + "}\n"
		r := newRepo(t, files{"a.go": body})
		r.commit(files{"a.go": strings.Replace(body, "}\n", "\tnew()\n}\n", 1)})
		text := string(r.input(refs("HEAD~1", "HEAD")).Text)
		if !strings.Contains(text, "\n@@ -9,4 +9,5 @@\n") || strings.Contains(text, "@@ func") {
			t.Errorf("got %s", text)
		}
	})
}

// Manifest and policies are the head commit's; a --policy file is the disk's.
func TestWhatAHeadCommitSaysOfTheGate(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{
		"shipgate.yaml": manifest("tools"), "conf/agent.yaml": "id: linked\n", "conf/shipgate.yaml": manifest("a.json"),
		"policies/agent-boundary.shipgate.yaml": "-> ../conf/agent.yaml", "policies/host-boundary.shipgate.yaml": "-> none",
		"tools/a.json": "{}\n",
	})
	r.commit(files{"tools/a.json": "[]\n"})
	r.remove("shipgate.yaml", "policies", "conf/agent.yaml")
	in := r.input(refs("HEAD~1", "HEAD"))
	if !in.Manifest.Present || !slices.Equal(in.Manifest.Declared, []string{"tools"}) {
		t.Errorf("manifest %+v", in.Manifest)
	}
	if got := in.Policy.Workspace["policies/agent-boundary.shipgate.yaml"]; string(got.Bytes) != "id: linked\n" || got.Err != "" {
		t.Errorf("a linked policy: %+v", got)
	}
	if got := in.Policy.Workspace["policies/host-boundary.shipgate.yaml"]; !got.Found || got.Err == "" {
		t.Errorf("a policy that is a link to nowhere: %+v", got)
	}
	if _, there := in.Policy.Workspace["policies/codex-boundary.shipgate.yaml"]; there {
		t.Error("a policy that is not there")
	}
	t.Run("another manifest, and one beside a workspace", func(t *testing.T) {
		in := r.input(refs("HEAD~1", "HEAD"), config("conf/shipgate.yaml"))
		if in.Manifest.Path != "conf/shipgate.yaml" || !slices.Equal(in.Manifest.Declared, []string{"conf/a.json"}) {
			t.Errorf("manifest %+v", in.Manifest)
		}
		in = r.input(refs("HEAD~1", "HEAD"), workspace("conf"))
		if in.Manifest.Path != "conf/shipgate.yaml" || !in.Manifest.Present {
			t.Errorf("manifest %+v", in.Manifest)
		}
	})
	t.Run("over 512 KiB", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"shipgate.yaml": manifest("tools") + strings.Repeat("#\n", 256<<10)})
		in := r.input(refs("HEAD", "HEAD"))
		expect(t, in, `
			files
			issue input_oversized shipgate.yaml`)
		if in := r.input(); len(in.Manifest.Declared) != 1 {
			t.Errorf("on disk 4 MiB are read: %+v", in.Manifest)
		}
	})
	t.Run("an explicit policy", func(t *testing.T) {
		t.Parallel()
		outside := filepath.Join(t.TempDir(), "strict.yaml")
		if err := os.WriteFile(outside, []byte("id: outside\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		r := newRepo(t, files{"conf/p.yaml": "id: committed\n", "way": "-> conf"})
		r.write(files{"conf/p.yaml": "id: on disk\n", "second.yaml": "-> conf/p.yaml"})
		for given, want := range map[string]string{
			"conf/p.yaml": "id: on disk\n", outside: "id: outside\n", "none.yaml": "missing",
			"second.yaml": "unread", "way/p.yaml": "unread", "conf": "unread",
		} {
			for mode, edit := range map[string]func(*requestOf){"worktree": nil, "range": refs("HEAD", "HEAD")} {
				edits := []func(*requestOf){policy(given)}
				if edit != nil {
					edits = append(edits, edit)
				}
				f := r.input(edits...).Policy.Explicit
				got := string(f.Bytes)
				switch {
				case !f.Found:
					got = "missing"
				case f.Err != "":
					got = "unread"
				}
				if got != want {
					t.Errorf("%s in a %s: %q, want %q", given, mode, got, want)
				}
			}
		}
	})
}

// The wording of an adoption needs a base that carries no manifest (§5.3).
func TestAdoptionIsProven(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		base, next files
		proven     bool
	}{
		{"a first manifest", files{"a.yaml": "x: 1\n"}, files{"shipgate.yaml": manifest()}, true},
		{"beside other new files", files{"a.yaml": "x: 1\n"}, files{"shipgate.yaml": manifest(), "b.yaml": "y: 1\n"}, true},
		{"the base has one under another name", files{"conf/gate.yml": manifest()}, files{"shipgate.yaml": manifest()}, false},
		{"the base has YAML that nobody can read", files{"a.yaml": ": : :\n"}, files{"shipgate.yaml": manifest()}, true},
		{"edited", files{"shipgate.yaml": manifest()}, files{"shipgate.yaml": manifest("x")}, false},
		{"two of them", files{"a.txt": "x\n"}, files{"shipgate.yaml": manifest(), "sub/shipgate.yaml": manifest("x")}, false},
		{"a YAML file goes", files{"a.yaml": "x: 1\n"}, files{"shipgate.yaml": manifest(), "a.yaml": ""}, false},
		{"a YAML file too large to read", files{"a.yaml": strings.Repeat("#\n", 300<<10)}, files{"shipgate.yaml": manifest()}, false},
		{"no manifest at all", files{"a.txt": "x\n"}, files{"a.txt": "y\n"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, row.base)
			for p, text := range row.next {
				if text == "" {
					r.remove(p)
				} else {
					r.write(files{p: text})
				}
			}
			if got := r.input().Manifest.AdoptionProven; got != row.proven {
				t.Errorf("in the working tree: %v", got)
			}
			r.commit(nil)
			if got := r.input(refs("HEAD~1", "HEAD")).Manifest.AdoptionProven; got != row.proven {
				t.Errorf("in the range: %v", got)
			}
		})
	}
}

// What lies at the sources that a changed manifest names (§5.3).
func TestSourceKinds(t *testing.T) {
	t.Parallel()
	text := "version: '1'\nproject: {name: shop}\nagent: {name: clerk}\ntool_sources:\n"
	for _, s := range []string{
		"mcp, path: a.json", "mcp, path: none.json", "mcp, path: linked.json", "mcp, path: tools", "mcp, path: way/a.json",
		"codex_plugin, path: plug", "codex_plugin, path: shop/marketplace.json", "mcp, path: ../out.json",
	} {
		text += "  - {id: x, type: " + s + "}\n"
	}
	r := newRepo(t, files{
		"shipgate.yaml": manifest(), "a.json": "{}\n", "linked.json": "-> a.json", "tools/b.json": "{}\n", "way": "-> tools",
		"plug/.codex-plugin/plugin.json": "{}\n", "shop/marketplace.json": `{"plugins":[{"source":"./packs/one"},{"source":"https://example.org/x"}]}`,
		"shop/packs/one/x": "y\n",
	})
	r.write(files{"shipgate.yaml": text})
	check := func(t *testing.T, kinds map[string]string, declared []string) {
		t.Helper()
		want := map[string]string{"a.json": "file", "tools": "dir", "plug": "plugin", "shop/marketplace.json": "marketplace"}
		if fmt.Sprint(kinds) != fmt.Sprint(want) {
			t.Errorf("kinds %v, want %v", kinds, want)
		}
		wantDeclared := []string{"a.json", "linked.json", "none.json", "plug", "shop/marketplace.json", "shop/packs/one", "tools", "way/a.json"}
		if !slices.Equal(declared, wantDeclared) {
			t.Errorf("declared %q, want %q", declared, wantDeclared)
		}
	}
	in := r.input()
	check(t, in.Manifest.SourceKinds, in.Manifest.Declared)
	r.commit(nil)
	in = r.input(refs("HEAD~1", "HEAD"))
	check(t, in.Manifest.SourceKinds, in.Manifest.Declared)
}

// A gate workflow that runs the repository's own action (§5.1 rule 10).
func TestTheRepositorysOwnAction(t *testing.T) {
	t.Parallel()
	const workflow = ".github/workflows/agents-shipgate.yml"
	const uses = "jobs:\n  gate:\n    steps:\n      - uses: './'\n"
	gateAction := "name: Agents Shipgate\nruns:\n  using: composite\n  steps:\n    - run: shipgate check\n      shell: bash\n"
	for name, row := range map[string]struct {
		action files
		want   bool
	}{
		"is the gate":     {files{"action.yml": gateAction}, true},
		"another name":    {files{"action.yaml": gateAction}, true},
		"is another":      {files{"action.yml": "runs:\n  using: composite\n  steps:\n    - run: make\n      shell: bash\n"}, false},
		"is not there":    {nil, false},
		"is not readable": {files{"action.yml": ": : :\n"}, false},
		"is a link":       {files{"action.yml": "-> kit.yml", "kit.yml": gateAction}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := files{workflow: "jobs: {}\n"}
			for p, text := range row.action {
				base[p] = text
			}
			r := newRepo(t, base)
			r.commit(files{workflow: uses})
			if got := change(t, r.input(refs("HEAD~1", "HEAD")), workflow, "git_range").ActionUsesGate; got != row.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// Ids of 64 digits come with an empty tree of their own.
func TestARepositoryWithSHA256(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{"CLAUDE.md": "-> AGENTS.md", "AGENTS.md": advice, settings: harmless}, "--object-format=sha256")
	r.write(files{"AGENTS.md": laxer})
	r.git("update-index", "--assume-unchanged", settings)
	r.write(files{settings: grant})
	const told = `files .claude/settings.json AGENTS.md
		SIDE .claude/settings.json: harmless -> grant
		SIDE AGENTS.md: advice -> laxer
		SIDE CLAUDE.md: advice -> laxer [link:AGENTS.md,AGENTS.md unlisted]
		`
	expect(t, r.input(), strings.ReplaceAll(told, "SIDE", "disk")+`
		record AGENTS.md edited 100644 -1 +1
		record .claude/settings.json edited 100644 -1 +1`)
	r.git("update-index", "--no-assume-unchanged", settings)
	r.commit(nil)
	expect(t, r.input(refs("HEAD~1", "HEAD")), strings.ReplaceAll(told, "SIDE", "range")+`
		record .claude/settings.json edited 100644 -1 +1
		record AGENTS.md edited 100644 -1 +1`)
}

// Linked worktrees, submodules and .git files are repositories like any other.
func TestWhereTheGitFolderLies(t *testing.T) {
	t.Parallel()
	const told = `files .claude/settings.json
		disk .claude/settings.json: harmless -> grant
		record .claude/settings.json edited 100644 -1 +1`
	t.Run("a linked worktree", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{settings: harmless})
		r.git("worktree", "add", "-q", "../second", "HEAD")
		second := &repo{t: t, root: r.at("../second")}
		second.write(files{settings: grant})
		r.write(files{settings: wider})
		expect(t, second.input(), told)
	})
	t.Run("a .git file", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{settings: harmless})
		if err := os.Rename(r.at(".git"), r.at("../kept")); err != nil {
			t.Fatal(err)
		}
		r.write(files{".git": "gitdir: ../kept\n", settings: grant})
		expect(t, r.input(), told)
	})
	t.Run("a .git link", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{settings: harmless})
		if err := os.Rename(r.at(".git"), r.at("../kept")); err != nil {
			t.Fatal(err)
		}
		r.write(files{".git": "-> ../kept", settings: grant})
		expect(t, r.input(), told)
	})
	t.Run("a submodule", func(t *testing.T) {
		t.Parallel()
		kit := newRepo(t, files{settings: harmless})
		r := newRepo(t, files{"a.txt": "x\n"})
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", kit.root, "kit")
		sub := &repo{t: t, root: r.at("kit")}
		sub.write(files{settings: grant})
		expect(t, sub.input(), told)
		in := sub.input(workspace(".claude"))
		if in.Manifest.Path != ".claude/shipgate.yaml" {
			t.Errorf("manifest %+v", in.Manifest)
		}
	})
	t.Run("objects of another repository", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{settings: harmless})
		r.git("clone", "-q", "--shared", ".", "../second")
		second := &repo{t: t, root: r.at("../second")}
		second.write(files{settings: grant})
		expect(t, second.input(), told)
	})
	t.Run("everything packed", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{settings: harmless})
		r.git("gc", "-q")
		r.write(files{settings: grant})
		expect(t, r.input(), told)
	})
}
