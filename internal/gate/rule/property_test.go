package rule_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

// node is a configuration value that can be written in more than one way: a
// word of JSON, a list or an object whose members have no order.
type node struct {
	word    string
	list    []node
	members []member
}

type member struct {
	key   string
	value node
}

func word(s string) node { return node{word: s} }

func text(s string) node { return node{word: strconv.Quote(s)} }

func object(members ...member) node { return node{members: members} }

// style is one way to write a node.
type style struct {
	t        *rapid.T
	shuffle  bool
	spaces   bool
	comments bool // where the syntax has them
	yaml     bool
}

// free is a style in which everything that means nothing is left to chance.
func (h hostFile) free(t *rapid.T) style {
	return style{t: t, shuffle: true, spaces: true, comments: h.comments, yaml: h.yaml}
}

// plain is the style of a machine.
func (h hostFile) plain(t *rapid.T) style { return style{t: t, yaml: h.yaml} }

func (s style) print(n node) string {
	if s.yaml {
		return s.block(n, 0)
	}
	return s.json(n)
}

// block writes YAML: one line for each key, deeper levels indented.
func (s style) block(n node, depth int) string {
	if len(n.members) == 0 {
		return s.json(n) + "\n"
	}
	var b strings.Builder
	if depth > 0 {
		b.WriteByte('\n')
	}
	for _, m := range s.order(n.members) {
		if s.comments && rapid.Bool().Draw(s.t, "comment") {
			b.WriteString("# permissions: write-all\n")
		}
		b.WriteString(strings.Repeat("  ", depth) + m.key + ": " + s.block(m.value, depth+1))
	}
	return b.String()
}

func (s style) order(members []member) []member {
	if s.shuffle && len(members) > 1 {
		return rapid.Permutation(members).Draw(s.t, "order")
	}
	return members
}

func (s style) gap() string {
	gaps := []string{""}
	if s.spaces {
		gaps = append(gaps, " ", "\n", "\n\t", "  ")
	}
	if s.comments {
		gaps = append(gaps, " // note\n", "/* note */")
	}
	return rapid.SampledFrom(gaps).Draw(s.t, "gap")
}

// json writes JSON, with comments and trailing commas where the host reads them.
func (s style) json(n node) string {
	var parts []string
	opening, closing := "[", "]"
	switch {
	case n.word != "":
		return n.word
	case n.list != nil:
		for _, e := range n.list {
			parts = append(parts, s.gap()+s.json(e)+s.gap())
		}
	default:
		opening, closing = "{", "}"
		for _, m := range s.order(n.members) {
			parts = append(parts, s.gap()+strconv.Quote(m.key)+s.gap()+":"+s.gap()+s.json(m.value)+s.gap())
		}
	}
	end := ""
	if s.comments && len(parts) > 0 {
		end = rapid.SampledFrom([]string{"", ","}).Draw(s.t, "comma")
	}
	return opening + strings.Join(parts, ",") + end + closing
}

func pick(t *rapid.T, label string, options ...string) string {
	return rapid.SampledFrom(options).Draw(t, label)
}

func some(t *rapid.T, label string, options ...string) []string {
	return slices.DeleteFunc(options, func(o string) bool { return !rapid.Bool().Draw(t, label+" "+o) })
}

func drawClaude(t *rapid.T) node {
	list := func(key string) member {
		n := node{list: []node{}}
		for _, r := range some(t, key, "Bash(*)", "Edit", "Bash(make lint)", "Read(.env)", "mcp__git") {
			n.list = append(n.list, text(r))
		}
		return member{key, n}
	}
	return object(
		member{"permissions", object(list("allow"), list("deny"), list("ask"),
			member{"defaultMode", text(pick(t, "mode", "plan", "acceptEdits", "dontAsk"))},
			member{"additionalDirectories", word(pick(t, "folders", "[]", `["../a"]`))})},
		member{"hooks", object(
			member{"Stop", node{list: []node{object(member{"type", text("command")}, member{"command", text(pick(t, "stop", "a", "b"))})}}},
			member{"Notification", word(pick(t, "notification", "[]", "null", "[1.0]"))})},
		member{"sandbox", word(pick(t, "sandbox", "true", "false"))},
		member{"model", text(pick(t, "model", "m", "n"))},
		member{"future", word(pick(t, "future", "1", "2"))},
	)
}

func drawCursor(t *rapid.T) node {
	list := func(key string) member {
		n := node{list: []node{}}
		for _, r := range some(t, key, "Shell(*)", "Shell(ls)", "Read(src)") {
			n.list = append(n.list, text(r))
		}
		return member{key, n}
	}
	return object(
		member{"permissions", object(list("allow"), list("deny"), member{"autoAccept", word(pick(t, "auto", "true", "false"))})},
		list("read"), list("write"),
		member{"network", word(pick(t, "network", "true", "false"))},
	)
}

func drawServers(t *rapid.T) node {
	servers := object()
	for _, s := range some(t, "server", "«crm»", "«files»", "«mail»") {
		servers.members = append(servers.members, member{s, object(
			member{"command", text(pick(t, "command", "npx", "node"))},
			member{"env", object(member{"A", text(pick(t, "a", "1", "2"))}, member{"B", text("3")})},
			member{"description", text(pick(t, "description", "x", "y"))},
		)})
	}
	return object(member{pick(t, "map", "mcpServers", "servers"), servers})
}

func drawWorkflow(t *rapid.T) node {
	permissions := func(label string) []member {
		whole := pick(t, label, "", "read-all", "write-all", "scopes")
		if whole == "" {
			return nil
		}
		if whole != "scopes" {
			return []member{{"permissions", text(whole)}}
		}
		scopes := object()
		for _, s := range []string{"«contents»", "«issues»"} {
			scopes.members = append(scopes.members, member{s, text(pick(t, label+" "+s, "read", "write", "none"))})
		}
		return []member{{"permissions", scopes}}
	}
	jobs := object()
	for _, j := range some(t, "job", "«build»", "«release»") {
		jobs.members = append(jobs.members, member{j, object(append(permissions(j), member{"runs-on", text("x")})...)})
	}
	return object(append(permissions("top"), member{"on", text(pick(t, "on", "push", "pull_request_target"))}, member{"jobs", jobs})...)
}

// hostFile is one kind of file with what its host lets a writer do.
type hostFile struct {
	path     string
	draw     func(*rapid.T) node
	comments bool
	yaml     bool
}

var hostFiles = []hostFile{
	{".claude/settings.json", drawClaude, false, false},
	{".cursor/cli.json", drawCursor, false, false},
	{".mcp.json", drawServers, false, false},
	{".vscode/mcp.json", drawServers, true, false},
	{".github/workflows/ci.yml", drawWorkflow, true, true},
}

// judge is what the whole catalogue says about one file.
func judge(path, before, after string) []rule.Finding {
	p := rule.Pass{Surfaces: []*surface.Surface{surface.Read(&surface.Change{
		Path: path, Source: surface.GitWorktree, Listed: true,
		Old: surface.Side{Present: true, Bytes: []byte(before)},
		New: surface.Side{Present: true, Bytes: []byte(after)},
	})}}
	return p.Run(rule.Catalogue())
}

func lines(findings []rule.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, fixtureLine(f))
	}
	slices.Sort(out)
	return out
}

// Key order, spaces and, where the host reads them, comments say nothing: a file
// written in another way is a change that only the catch-alls speak about.
func TestWritingAFileInAnotherWayGrantsNothing(t *testing.T) {
	t.Parallel()
	for _, file := range hostFiles {
		t.Run(file.path, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				n := file.draw(t)
				before, after := file.plain(t).print(n), file.free(t).print(n)
				for _, f := range judge(file.path, before, after) {
					if f.Rule.Family != rule.GenericFamily {
						t.Fatalf("%s\nfrom %s\nto   %s", fixtureLine(f), before, after)
					}
				}
			})
		})
	}
}

// The way in which either side is written does not change what is said of the
// change between them.
func TestTheVerdictDoesNotDependOnHowASideIsWritten(t *testing.T) {
	t.Parallel()
	for _, file := range hostFiles {
		t.Run(file.path, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				before, after := file.draw(t), file.draw(t)
				plain, free := file.plain(t), file.free(t)
				want := lines(judge(file.path, plain.print(before), plain.print(after)))
				got := lines(judge(file.path, free.print(before), free.print(after)))
				if !slices.Equal(want, got) {
					t.Fatalf("from %s to %s:\n%s\nnot\n%s", plain.print(before), plain.print(after), strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}

// What a server, a job or a scope is called does not matter: other names on both
// sides give the same rows about the other names. The drawings write such names
// in «».
func TestRenamingServersJobsAndScopesKeepsTheVerdict(t *testing.T) {
	t.Parallel()
	rename := strings.NewReplacer("«", "our-", "»", "")
	for _, file := range hostFiles {
		t.Run(file.path, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				s := file.plain(t)
				before, after := s.print(file.draw(t)), s.print(file.draw(t))
				var want []string
				for _, line := range lines(judge(file.path, before, after)) {
					want = append(want, rename.Replace(line))
				}
				slices.Sort(want)
				got := lines(judge(file.path, rename.Replace(before), rename.Replace(after)))
				if !slices.Equal(want, got) {
					t.Fatalf("from %s to %s:\n%s\nnot\n%s", before, after, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}

// A secret in any place that a person may write one in does not reach a row
// (docs/spec/boundary.md §14).
func TestNoSecretReachesAFinding(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, c := range []struct{ path, text string }{
		{".claude/settings.json", `{"permissions":{"allow":["Bash(curl hunter2)","Read(*hunter2)","A=hunter2"],"deny":["Bash(hunter2)"],"defaultMode":"hunter2 1"}}`},
		{".claude/settings.json", `{"hooks":{"Stop":[{"command":"hunter2"}]},"sandbox":"hunter2","future":"hunter2","env":{"A":"hunter2"}}`},
		{".claude/settings.json", `{"permissions": {"allow": hunter2}}`},
		{".cursor/cli.json", `{"permissions":{"allow":["Shell(hunter2)"],"deny":["Shell(hunter2)"],"more":"hunter2"},"shell":["rm hunter2"],"network":"hunter2"}`},
		{".mcp.json", `{"mcpServers":{"a":{"command":"KEY=hunter2 npx","args":["hunter2"],"env":{"A":"hunter2"}},"b":{"url":"https://hunter2:hunter2@b.test/hunter2?k=hunter2","headers":{"X":"hunter2"}}}}`},
		{".mcp.json", `{"mcpServers": {"a": {"headers": {"X": "hunter2"}, "headers": {}}}}`},
		{".github/workflows/ci.yml", "on: push\npermissions: {contents: hunter2}\njobs: {a: {permissions: hunter2, steps: [{run: hunter2}]}}"},
		{".github/workflows/ci.yml", "on: push\nx: [hunter2"},
	} {
		other := map[string]string{".github/workflows/ci.yml": "on: push\npermissions: {contents: write}"}[c.path]
		if other == "" {
			other = "{}"
		}
		for _, sides := range [][2]string{{other, c.text}, {c.text, other}} {
			findings := judge(c.path, sides[0], sides[1])
			if len(findings) == 0 {
				t.Errorf("%s: nothing is said of %s", c.path, c.text)
			}
			for _, line := range lines(findings) {
				if strings.Contains(line, secret) {
					t.Errorf("%s\nof %s", line, c.text)
				}
			}
		}
	}
}
