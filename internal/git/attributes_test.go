package git_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// Both sides of a protected path are raw bytes: no attribute stands between a
// rule and what lies there (docs/spec/boundary.md §2.3).
func TestAttributesHideNoText(t *testing.T) {
	t.Parallel()
	base, next := files{}, files{}
	for i, line := range []string{
		"* -diff", "* binary", "* -text", "* text eol=crlf", "* text=auto", "* diff=none", "* ident", "* export-ignore",
		"* -merge", "* whitespace=-all", "* linguist-generated", "* working-tree-encoding=UTF-16", "* odd",
	} {
		p := fmt.Sprintf("%c/CLAUDE.md", 'a'+i)
		base[p], next[p] = advice, laxer
		next[fmt.Sprintf("%c/.gitattributes", 'a'+i)] = line + "\n"
	}
	next[".gitattributes"] = "[attr]odd -diff -text\n"
	for name, private := range map[string]string{"in the tree": "", "in the tree and private": "* -diff -text ident\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, base)
			r.write(next)
			r.write(files{".git/info/attributes": private})
			in := r.input()
			if got := len(in.Changes); got != len(base) || len(in.Records) != got || len(in.Issues) > 0 {
				t.Fatal(story(in))
			}
			for i, c := range in.Changes {
				if string(c.Old.Bytes) != advice || string(c.New.Bytes) != laxer {
					t.Errorf("%s: %q -> %q", c.Path, c.Old.Bytes, c.New.Bytes)
				}
				if rec := in.Records[i]; rec.Binary || len(rec.Added()) != 1 || len(rec.Removed()) != 1 {
					t.Errorf("%s: record %s", c.Path, record(&rec))
				}
			}
		})
	}
	t.Run("an expanded $Id$ differs from its object", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"CLAUDE.md": "$Id$\n", ".gitattributes": "*.md ident\n"})
		r.write(files{"CLAUDE.md": "$Id: 0123 $\n"})
		expect(t, r.input(), `
			files CLAUDE.md
			disk CLAUDE.md: "$Id$\n" -> "$Id: 0123 $\n"
			record CLAUDE.md edited 100644 -1 +1`)
	})
}

// A record that git calls binary is read raw where a rule reads the path; a NUL
// there is a reason to stop, elsewhere it is not (§2.4).
func TestBinaryRecords(t *testing.T) {
	t.Parallel()
	base := files{
		".gitattributes": "* -diff\n", settings: harmless, "prompts/x.md": "one\n", "app.py": "x = 1\n", "package-lock.json": "{}\n",
		"logo.png": "\x89PNG\x00\n", ".claude/skills/x/logo.png": "\x89PNG\x00\n", "tools/a.bin": "\x00\n", "shipgate.yaml": manifest("tools"),
	}
	r := newRepo(t, base)
	r.write(files{
		settings: grant, "prompts/x.md": "two\n", "app.py": "x = 2\n", "package-lock.json": "[]\n",
		"logo.png": "\x89PNG\x00\x00\n", ".claude/skills/x/logo.png": "\x89PNG\x00\x00\n", "tools/a.bin": "\x00\x00\n",
	})
	const records = `
		record .claude/settings.json edited 100644 -1 +1
		record .claude/skills/x/logo.png edited 100644 binary
		record app.py edited 100644 -1 +1
		record logo.png edited 100644 binary
		record package-lock.json edited 100644 binary
		record prompts/x.md edited 100644 -1 +1
		record tools/a.bin edited 100644 binary`
	const told = `files .claude/settings.json .claude/skills/x/logo.png app.py logo.png package-lock.json prompts/x.md tools/a.bin
		SIDE .claude/settings.json: harmless -> grant
		SIDE .claude/skills/x/logo.png: "" -> ""
		SIDE prompts/x.md: "" -> ""
		issue input_binary .claude/skills/x/logo.png
		issue input_binary tools/a.bin` + records
	expect(t, r.input(), strings.ReplaceAll(told, "SIDE", "disk"))
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "next")
	expect(t, r.input(refs("HEAD~1", "HEAD")), strings.ReplaceAll(told, "SIDE", "range"))
	t.Run("a NUL in a text that git shows", func(t *testing.T) {
		t.Parallel()
		far := strings.Repeat("line\n", 4000) + "\x00\n" // beyond where git looks
		r := newRepo(t, files{"AGENTS.md": advice, "app.go": advice})
		r.write(files{"AGENTS.md": far, "app.go": far})
		expect(t, r.input(), `
			files AGENTS.md app.go
			disk AGENTS.md: advice -> (input_binary)
			issue input_binary AGENTS.md
			record AGENTS.md edited 100644 -1 +4001
			record app.go edited 100644 -1 +4001`)
	})
}

// Bytes that are not UTF-8 matter only where a rule reads them (ruling R16).
func TestLatin1(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{"AGENTS.md": advice, "legacy.c": "/* caf\xe9 */\n", ".claude/agents/x.md": "\xe9\n"})
	r.write(files{"AGENTS.md": "caf\xe9\n", "legacy.c": "/* th\xe9 */\n", ".claude/agents/x.md": "\xe8\n"})
	const told = `files .claude/agents/x.md AGENTS.md legacy.c
		SIDE .claude/agents/x.md: "" -> ""
		SIDE AGENTS.md: advice -> (input_non_utf8)
		issue input_non_utf8 AGENTS.md
		record .claude/agents/x.md edited 100644 -1 +1
		record AGENTS.md edited 100644 -1 +1
		record legacy.c edited 100644 -1 +1`
	expect(t, r.input(), strings.ReplaceAll(told, "SIDE", "disk"))
	r.commit(nil)
	expect(t, r.input(refs("HEAD~1", "HEAD")), strings.ReplaceAll(told, "SIDE", "range"))
}

// A filter stands between the stored and the shown text: where a touched
// protected path has one on a side, neither text is known (§2.3).
func TestFilters(t *testing.T) {
	t.Parallel()
	const unknown = `files .claude/settings.json
		disk .claude/settings.json: (input_filtered) -> (input_filtered)
		issue input_filtered .claude/settings.json
		record .claude/settings.json edited 100644`
	lines := []struct {
		attributes string
		filtered   bool
	}{
		{"*.json filter=crypt", true},
		{"*.json filter", true}, // set, without a value
		{"*.json filter=", true},
		{"*.json filter=unset", true}, // a driver of this name
		{"*.json filter=unspecified", true},
		{"*.json secret", true}, // a macro of the root
		{"*.json -filter", false},
		{"*.json filter=crypt\n*.json -filter", false},
		{"*.json filter=crypt\n*.json !filter", false},
		{"*.png filter=lfs", false},
		{"# no filter here", false},
	}
	base, next := files{".gitattributes": "[attr]secret filter=crypt\n"}, files{}
	for i, l := range lines {
		p := fmt.Sprintf("%c/.mcp.json", 'a'+i)
		base[p], next[p] = "{}\n", "[]\n"
		base[fmt.Sprintf("%c/.gitattributes", 'a'+i)] = l.attributes + "\n"
	}
	t.Run("by the line of the attributes file", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		r.write(next)
		in := r.input()
		for i, l := range lines {
			p := fmt.Sprintf("%c/.mcp.json", 'a'+i)
			c := change(t, in, p, "git_worktree")
			if got := c.New.Unresolved == "boundary_input_filtered" && c.Old.Unresolved == c.New.Unresolved; got != l.filtered {
				t.Errorf("%q: %s -> %s", l.attributes, side(c.Old), side(c.New))
			}
		}
	})
	t.Run("in info/attributes", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{settings: harmless})
		r.write(files{settings: grant, ".git/info/attributes": "*.json filter=crypt\n"})
		expect(t, r.input(), unknown)
	})
	t.Run("in info/attributes, a driver named unset", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{settings: harmless})
		r.write(files{settings: grant, ".git/info/attributes": "*.json filter=unset\n"})
		expect(t, r.input(), unknown)
	})
	for _, row := range []struct {
		name string
		base files
		do   func(r *repo)
		want string
	}{
		{
			"an untouched path",
			files{settings: harmless, ".gitattributes": "*.json filter=crypt\n", "notes.txt": "one\n"},
			func(r *repo) { r.write(files{"notes.txt": "two\n"}) },
			`files notes.txt
			 record notes.txt edited 100644 -1 +1`,
		},
		{
			"the attribute comes with the change",
			files{settings: harmless},
			func(r *repo) { r.write(files{settings: grant, ".gitattributes": "*.json filter=crypt\n"}) },
			unknown,
		},
		{
			"the attribute goes with the change",
			files{settings: harmless, ".gitattributes": "*.json filter=crypt\n"},
			func(r *repo) { r.write(files{settings: grant, ".gitattributes": "\n"}) },
			`files .claude/settings.json .gitattributes
			 disk .claude/settings.json: (input_filtered) -> (input_filtered)
			 issue input_filtered .claude/settings.json
			 record .claude/settings.json edited 100644
			 record .gitattributes edited 100644 -1 +1`,
		},
		{
			"the attributes file is gone from disk and still in the index",
			files{settings: harmless, ".gitattributes": "*.json filter=crypt\n"},
			func(r *repo) { r.write(files{settings: grant}); r.remove(".gitattributes") },
			`files .claude/settings.json .gitattributes
			 disk .claude/settings.json: (input_filtered) -> (input_filtered)
			 issue input_filtered .claude/settings.json
			 record .claude/settings.json edited 100644
			 record .gitattributes deleted 100644 -1 +0`,
		},
		{
			"the attributes file is a link: git does not follow it and takes the index's",
			files{settings: harmless, ".gitattributes": "\n"},
			func(r *repo) {
				r.stage(files{".gitattributes": "*.json filter=crypt\n"})
				r.write(files{settings: grant, ".gitattributes": "-> kit"})
			},
			`files .claude/settings.json .gitattributes
			 disk .claude/settings.json: (input_filtered) -> (input_filtered)
			 issue input_filtered .claude/settings.json
			 record .claude/settings.json edited 100644
			 record .gitattributes deleted 100644 -1 +0
			 record .gitattributes new 120000 -0 +1
			 staged .gitattributes edited 100644 -1 +1`,
		},
		{
			"a path that rules do not read",
			files{".claude/agents/x.md": "one\n", ".gitattributes": "*.md filter=crypt\n"},
			func(r *repo) { r.write(files{".claude/agents/x.md": "two\n"}) },
			`files .claude/agents/x.md
			 disk .claude/agents/x.md: "" -> ""
			 issue input_filtered .claude/agents/x.md
			 record .claude/agents/x.md edited 100644`,
		},
		{
			"a declared tool source",
			files{"shipgate.yaml": manifest("tools"), "tools/a.json": "{}\n", ".gitattributes": "tools/* filter=crypt\n"},
			func(r *repo) { r.write(files{"tools/a.json": "[]\n"}) },
			`files tools/a.json
			 issue input_filtered tools/a.json
			 record tools/a.json edited 100644`,
		},
		{
			"an untracked path",
			files{".gitattributes": "*.json filter=crypt\n"},
			func(r *repo) { r.write(files{settings: grant}) },
			`files .claude/settings.json
			 disk .claude/settings.json: absent -> (input_filtered)
			 issue input_filtered .claude/settings.json
			 record .claude/settings.json new 100644 -0 +1`,
		},
		{
			"the target of a link",
			files{"CLAUDE.md": "-> docs/rules.txt", "docs/rules.txt": advice, ".gitattributes": "docs/* filter=crypt\n"},
			func(r *repo) { r.write(files{"docs/rules.txt": laxer}) },
			`files docs/rules.txt
			 disk CLAUDE.md: (input_filtered) -> (input_filtered) [link:docs/rules.txt,docs/rules.txt unlisted]
			 issue input_filtered CLAUDE.md
			 record docs/rules.txt edited 100644`,
		},
		{
			"a path that no rule is about stops nothing",
			files{"notes.txt": "one\n", ".gitattributes": "*.txt filter=crypt\n"},
			func(r *repo) { r.write(files{"notes.txt": "two\n"}) },
			`files notes.txt
			 record notes.txt edited 100644`,
		},
		{
			"a staged and edited path",
			files{settings: harmless, ".gitattributes": "*.json filter=crypt\n"},
			func(r *repo) { r.stage(files{settings: grant}); r.write(files{settings: wider}) },
			`files .claude/settings.json
			 disk .claude/settings.json: (input_filtered) -> (input_filtered)
			 index .claude/settings.json: (input_filtered) -> (input_filtered)
			 issue input_filtered .claude/settings.json
			 record .claude/settings.json edited 100644
			 staged .claude/settings.json edited 100644`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, row.base)
			row.do(r)
			expect(t, r.input(), row.want)
		})
	}
	t.Run("the record of a filtered path binds the bytes on disk", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"notes.txt": "one\n", ".gitattributes": "*.txt filter=crypt\n"})
		text := func(content string) string {
			r.write(files{"notes.txt": content})
			return string(r.input().Text)
		}
		id := r.git("rev-parse", "HEAD:notes.txt")
		two := text("two\n")
		want := "diff --git a/notes.txt b/notes.txt\nindex " + id + ".." + r.git("hash-object", "--no-filters", "notes.txt") + "\n"
		if two != want {
			t.Errorf("got %q, want %q", two, want)
		}
		if text("three\n") == two {
			t.Error("two contents have one text")
		}
	})
}

// In a range the attributes are those of the two trees, wherever they stand.
func TestFiltersOfATree(t *testing.T) {
	t.Parallel()
	const attributes = "*.md filter=crypt\n# a line\n# and another\n"
	rows := map[string]struct { // by a folder of the same name
		before, after files // beside a CLAUDE.md
		filtered      bool
	}{
		"on both sides":       {files{".gitattributes": attributes}, nil, true},
		"only after":          {nil, files{".gitattributes": attributes}, true},
		"only before":         {files{".gitattributes": attributes}, files{".gitattributes": "\n"}, true},
		"deleted":             {files{".gitattributes": attributes + "1"}, files{".gitattributes": ""}, true},
		"renamed away":        {files{".gitattributes": attributes + "2"}, files{".gitattributes": "", "old.txt": attributes + "2"}, true},
		"renamed to":          {files{"old.txt": attributes + "3"}, files{"old.txt": "", ".gitattributes": attributes + "3"}, true},
		"moved up":            {files{"x/.gitattributes": attributes + "4"}, files{"x/.gitattributes": "", ".gitattributes": attributes + "4"}, true},
		"a macro of the root": {files{".gitattributes": "*.md odd\n"}, nil, true},
		"in a folder below":   {files{"x/.gitattributes": attributes}, nil, false},
		"on another path":     {files{".gitattributes": "*.png filter=lfs\n"}, nil, false},
		"masked/after": {
			files{"../.gitattributes": attributes + "5", "old.txt": "*.md -filter\n# 6\n# 6\n"},
			files{"../.gitattributes": "\n", "old.txt": "", ".gitattributes": "*.md -filter\n# 6\n# 6\n"},
			true,
		},
		"in the checkout alone": {nil, nil, false},
	}
	base, next := files{".gitattributes": "[attr]odd filter=crypt\n"}, files{}
	for dir, row := range rows {
		base[dir+"/CLAUDE.md"], next[dir+"/CLAUDE.md"] = advice, laxer
		for p, text := range row.before {
			base[path.Join(dir, p)] = text
		}
		for p, text := range row.after {
			next[path.Join(dir, p)] = text
		}
	}
	t.Run("by what the two trees have", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		r.commit(next)
		r.write(files{"in the checkout alone/.gitattributes": "* filter=other\n"})
		in := r.input(refs("HEAD~1", "HEAD"))
		for dir, row := range rows {
			c := change(t, in, dir+"/CLAUDE.md", "git_range")
			if got := c.New.Unresolved == "boundary_input_filtered"; got != row.filtered {
				t.Errorf("%s: %s -> %s", dir, side(c.Old), side(c.New))
			}
		}
	})
	t.Run("the target of a link", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"CLAUDE.md": "-> docs/rules.txt", "docs/rules.txt": advice, ".gitattributes": "docs/* filter=crypt\n"})
		r.commit(files{"docs/rules.txt": laxer})
		expect(t, r.input(refs("HEAD~1", "HEAD")), `
			files docs/rules.txt
			range CLAUDE.md: (input_filtered) -> (input_filtered) [link:docs/rules.txt,docs/rules.txt unlisted]
			issue input_filtered CLAUDE.md
			record docs/rules.txt edited 100644 -1 +1`)
	})
}

// A file that Git LFS keeps is unchanged when its bytes are those that the
// committed pointer names (§2.2).
func TestLFS(t *testing.T) {
	t.Parallel()
	pointer := func(content string, ext ...string) string {
		sum := sha256.Sum256([]byte(content))
		return "version https://git-lfs.github.com/spec/v1\n" + strings.Join(ext, "") +
			fmt.Sprintf("oid sha256:%s\nsize %d\n", hex.EncodeToString(sum[:]), len(content))
	}
	const large = "a large picture\n"
	const attributes = "*.bin filter=lfs diff=lfs merge=lfs -text\n.mcp.json filter=lfs\n"
	rows := map[string]struct { // by the name of the file
		stored, lies string
		changed      bool
	}{
		"as pointed at":           {pointer(large), large, false},
		"with extensions":         {pointer(large, "ext-0-foo sha256:0000\n"), large, false},
		"still a pointer on disk": {pointer(large), pointer(large), false},
		"edited":                  {pointer(large), "another picture\n", true},
		"edited, size kept":       {pointer(large), "A large picture\n", true},
		"with a line too many":    {pointer(large) + "x\n", large, true},
		"no pointer":              {"version 1\n", large, true},
	}
	base, next := files{".gitattributes": attributes}, files{}
	var want []string
	for name, row := range rows {
		base[name+".bin"], next[name+".bin"] = row.stored, row.lies
		if row.changed {
			want = append(want, name+".bin")
		}
	}
	slices.Sort(want)
	t.Run("by what is stored and what lies on disk", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, base)
		r.write(next)
		if got := r.input().ChangedFiles; !slices.Equal(got, want) {
			t.Errorf("changed files %q, want %q", got, want)
		}
	})
	t.Run("another filter", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"a.bin": pointer(large), ".gitattributes": "*.bin filter=other\n"})
		r.write(files{"a.bin": large})
		expect(t, r.input(), `
			files a.bin
			record a.bin edited 100644`)
	})
	t.Run("a boundary file as pointed at", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{".mcp.json": pointer("{}\n"), ".gitattributes": attributes})
		r.write(files{".mcp.json": "{}\n"})
		expect(t, r.input(), `files`)
	})
	t.Run("an edited boundary file", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{".mcp.json": pointer("{}\n"), ".gitattributes": attributes})
		r.write(files{".mcp.json": "[]\n"})
		expect(t, r.input(), `
			files .mcp.json
			disk .mcp.json: (input_filtered) -> (input_filtered)
			issue input_filtered .mcp.json
			record .mcp.json edited 100644`)
	})
	t.Run("a staged pointer, its file on disk", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t, files{"a.bin": pointer(large), ".gitattributes": attributes})
		r.stage(files{"a.bin": pointer("new\n")})
		r.write(files{"a.bin": "new\n"})
		expect(t, r.input(), `
			files a.bin
			record a.bin edited 100644`)
	})
	for _, ignored := range []string{"", ".gitattributes\n"} {
		t.Run("the attribute comes with the change; ignored: "+strings.TrimSpace(ignored), func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, files{"a.bin": pointer(large)})
			r.write(files{"a.bin": large, ".gitattributes": attributes, ".git/info/exclude": ignored})
			expect(t, r.input(), `
				files a.bin
				record a.bin edited 100644`)
		})
	}
}
