//go:build linux

package shipgate_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileTexts are texts by syntax that cost a careless reader the square of
// their length, its stack or all memory; "any" are for every file. Each is under
// the limit of a file unless it is about the limit.
var hostileTexts = map[string]map[string]func() string{
	"any": {
		"empty":             always(""),
		"NUL":               always(strings.Repeat("\x00", 1000)),
		"bytes of no text":  always("\xff\xfe\xfd{\"tools\":[]}"),
		"a byte order mark": always("\ufeff{\"tools\":[{\"name\":\"x\"}]}\n"),
		"CRLF":              always("{\"tools\":[\r\n{\"name\":\"x\"}\r\n]}\r\n"),
		"noise":             noise,
		"50 MiB":            repeated("", "a", 50<<20, ""),
		"blank lines":       repeated("", "\n", 9<<20, ""),
		"cut off":           always(`{"tools":[{"name":"x"`),
		"a conflict":        always("<<<<<<< ours\n{}\n=======\n[]\n>>>>>>> theirs\n"),
	},
	"json": {
		"deep lists":      nested("[", "]", 200_000),
		"deep objects":    nested(`{"a":`, "}", 200_000),
		"a deep schema":   bracketed(`{"tools":[{"name":"x","inputSchema":`, nested(`{"properties":{"a":`, "}}", 50_000), `}]}`),
		"a long name":     repeated(`{"tools":[{"name":"`, "a", 9<<20, `"}]}`),
		"many keys":       counted("{", `"k%d":1,`, 400_000, `"k":1}`),
		"100,000 tools":   counted(`{"tools":[`, `{"name":"t%d"},`, 100_000, `{"name":"t"}]}`),
		"tools of a name": repeated(`{"tools":[`, `{"name":"t"},`, 1_300_000, `{"name":"t"}]}`),
		"a key twice":     always(`{"tools":[],"tools":[{"name":"x"}],"nodes":[],"nodes":[],"name":"a","name":"b"}`),
		"50 MiB of list":  repeated(`{"tools":[`, " ", 50<<20, `]}`),
		"many parameters": counted(`{"tools":[{"name":"x","inputSchema":{"type":"object","properties":{`, `"p%d":{"type":"string"},`, 200_000, `"p":{}}}}]}`),
		"recursive $ref":  always(`{"tools":[{"name":"x","inputSchema":{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{"$ref":"#/$defs/a"}}}}}}]}`),
		"regular bait":    always(`{"tools":[{"name":"x","description":"` + strings.Repeat("a", 50_000) + `!","inputSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}}]}`),
	},
	"yaml": {
		"a bomb of aliases":   aliasBomb("[", "]", "*%c", ","),
		"a bomb of merges":    aliasBomb("{<<: [", "]}", "*%c", ","),
		"an alias in itself":  always("a: &a [*a]\n"),
		"deep flow":           nested("[", "]", 200_000),
		"deep dashes":         repeated("", "- ", 200_000, "a\n"),
		"a key twice":         always("a: 1\na: 2\n"),
		"anchors":             counted("", "k%[1]d: &a%[1]d x\n", 100_000, ""),
		"documents":           repeated("", "---\na: 1\n", 900_000, ""),
		"a string that stays": repeated(`a: "`, `\`, 5<<20, ""),
		"comments":            repeated("", "#\n", 8<<20, "a: 1\n"),
		"many keys":           counted("a: {", "k%d: 1, ", 300_000, "k: 1}\n"),
		"recursive $ref":      always(openAPI + `        A: {type: object, properties: {a: {$ref: "#/components/schemas/A"}, b: {$ref: "#/components/schemas/B"}}}` + "\n" + `        B: {$ref: "#/components/schemas/B"}` + "\n"),
		"wide $ref":           wide,
		"100,000 operations":  counted("openapi: 3.1.0\ninfo: {title: a, version: \"1\"}\npaths:\n", "  /a%[1]d: {get: {operationId: o%[1]d}}\n", 100_000, ""),
	},
	"toml": {
		"deep lists":    nested("a = [", "]", 200_000),
		"a deep table":  repeated("[a", ".a", 400_000, "]\n"),
		"many servers":  counted("", "[mcp_servers.s%d]\ncommand=\"x\"\n", 100_000, ""),
		"a table twice": always("[a]\nx=1\n[a]\nx=2\n"),
		"a long string": repeated("a = \"\"\"", "x", 9<<20, ""),
		"lists":         repeated("", "[[a]]\n", 3<<20, ""),
		"deep inline":   repeated("a={", "b={", 300_000, ""),
	},
	"py": {
		"deep brackets": nested("(", ")", 200_000),
		"signs":         repeated("x = ", "-", 1<<20, "1\n"),
		"a long chain":  repeated("x = a", ".b", 2<<20, "\n"),
		"calls":         repeated("x = f", "()", 1<<20, "\n"),
		"a long text":   repeated(`x = """`, "a", 9<<20, ""),
		"open strings":  repeated("x = ", `f"{`, 300_000, ""),
		"elif":          repeated("if a:\n pass\n", "elif b:\n pass\n", 3<<20, ""),
		"many tools":    counted("from agents import function_tool\n", "@function_tool\ndef f%d(a: int) -> int:\n    return 1\n", 100_000, ""),
		"aliases":       counted("from agents import function_tool\na = function_tool\n", "a = a\nb%d = a\n", 50_000, "@b49999\ndef f(): pass\n"),
		"classes":       chained("class A0: pass\n", "class A%d(A%d): pass\n", 50_000, ""),
		"doubled lists": chained("from agents import Agent\nl0 = [f]\n", "l%d = l%[2]d + l%[2]d\n", 60, "a = Agent(name=\"a\", tools=l60)\n"),
		"doubled text":  chained("from agents import Agent, function_tool\ns0 = \"aaaaaaaaaa\"\n", "s%d = s%[2]d + s%[2]d\n", 60, "@function_tool(name_override=s60)\ndef f(): pass\na = Agent(name=s60, tools=[f])\n"),
		"huge counts":   always("from agents import Agent\na = Agent(name=\"a\" * 10**10, tools=[f] * 10**10)\nb = Agent(name=\"%9999999999d\" % 1)\n"),
		"a circle":      always("from agents import Agent\nfrom .main import *\na = b\nb = a\nx = Agent(name=\"x\", tools=[*x.tools, *y])\ny = [*y]\n"),
	},
	"ts": {
		"deep brackets": nested("(", ")", 200_000),
		"arrows":        repeated("const x = ", "() => ", 1<<20, "1\n"),
		"templates":     repeated("const x = ", "`${", 300_000, ""),
		"an expression": repeated("const x = /", "[", 1<<20, ""),
		"types":         repeated("const x: ", "A<", 600_000, ""),
		"choices":       repeated("const x = ", "a ? b : ", 2<<20, "1\n"),
		"a long chain":  repeated("const x = z", ".string()", 2<<20, "\n"),
		"a comment":     repeated("/*", "*", 9<<20, ""),
		"many tools":    counted(mcpServer, "s.registerTool(\"t%d\", {}, async () => ({}));\n", 100_000, ""),
		"doubled lists": chained("const a0 = [1];\n", "const a%d = [...a%[2]d, ...a%[2]d];\n", 60, ""),
		"doubled text":  chained(mcpServer+"const s0 = \"aaaaaaaaaa\";\n", "const s%d = s%[2]d + s%[2]d;\n", 60, "s.registerTool(s60, {}, async () => ({}));\n"),
		"loops":         counted(mcpServer+"const l = [", "\"x%d\",", 3000, "\"x\"];\nfor (const a of l) for (const b of l) for (const c of l) s.registerTool(a + b + c, {}, async () => ({}));\n"),
	},
	"go": {
		"deep brackets": nested("package main\nvar x = (", ")", 200_000),
		"signs":         repeated("package main\nvar x = ", "-", 1<<20, "1\n"),
		"types":         repeated("package main\nvar x ", "[]", 1<<20, "int\n"),
		"a long text":   repeated("package main\nvar x = `", "a", 9<<20, ""),
		"functions":     repeated("package main\nvar x = ", "func(){", 700_000, ""),
		"many tools":    counted(goServer, "s.AddTool(mcp.NewTool(\"t%d\"), nil)\n", 100_000, "}\n"),
		"doubled text":  chained(goServer+"const s0 = \"aaaaaaaaaa\"\n", "const s%d = s%[2]d + s%[2]d\n", 60, "s.AddTool(mcp.NewTool(s60), nil)\n}\n"),
		"huge shifts":   always("package main\nconst x = 1 << 1000000000\nconst y = x << 1000000000\n"),
	},
}

const (
	openAPI = `openapi: 3.1.0
info: {title: a, version: "1"}
paths:
  /a: {post: {operationId: x, requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/A"}}}}}}
components:
    schemas:
`
	mcpServer = "import { McpServer } from \"@modelcontextprotocol/sdk/server/mcp.js\";\nconst s = new McpServer({ name: \"a\", version: \"1\" });\n"
	goServer  = "package main\nimport \"github.com/mark3labs/mcp-go/mcp\"\nimport \"github.com/mark3labs/mcp-go/server\"\nfunc main() {\ns := server.NewMCPServer(\"a\", \"1\")\n"
)

func always(text string) func() string { return func() string { return text } }

// repeated is unit again and again, size bytes of it.
func repeated(begin, unit string, size int, end string) func() string {
	return func() string { return begin + strings.Repeat(unit, size/len(unit)) + end }
}

func nested(open, shut string, depth int) func() string {
	return func() string { return strings.Repeat(open, depth) + strings.Repeat(shut, depth) }
}

func bracketed(begin string, middle func() string, end string) func() string {
	return func() string { return begin + middle() + end }
}

// counted is unit with a number, n times.
func counted(begin, unit string, n int, end string) func() string {
	return func() string {
		var b strings.Builder
		b.WriteString(begin)
		for i := range n {
			fmt.Fprintf(&b, unit, i)
		}
		return b.String() + end
	}
}

// chained is unit with its number and the number before it, n times.
func chained(begin, unit string, n int, end string) func() string {
	return func() string {
		var b strings.Builder
		b.WriteString(begin)
		for i := range n {
			fmt.Fprintf(&b, unit, i+1, i)
		}
		return b.String() + end
	}
}

// aliasBomb is twenty anchors, each nine times the one before it.
func aliasBomb(open, shut, unit, comma string) func() string {
	return func() string {
		text := "a: &a {x: 1}\n"
		for c := 'b'; c <= 'u'; c++ {
			text += fmt.Sprintf("%c: &%c ", c, c) + open + strings.TrimSuffix(strings.Repeat(fmt.Sprintf(unit+comma, c-1), 9), comma) + shut + "\n"
		}
		return text
	}
}

// wide is thirty schemas, each of which names the next ten times.
func wide() string {
	var b strings.Builder
	b.WriteString(strings.Replace(openAPI, "schemas/A\"", "schemas/A0\"", 1))
	for i := range 30 {
		fmt.Fprintf(&b, "        A%d: {type: object, properties: {", i)
		for k := range 10 {
			fmt.Fprintf(&b, "p%d: {$ref: \"#/components/schemas/A%d\"}, ", k, i+1)
		}
		b.WriteString("}}\n")
	}
	return b.String() + "        A30: {type: string}\n"
}

// noise is a megabyte of any bytes, the same each time.
func noise() string {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same bytes each time are wanted
	b := make([]byte, 1<<20)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

func TestTenThousandSourcesAreRead(t *testing.T) {
	binary := build(t, t.TempDir(), "shipgate")
	rows := counted(hostileHead+"tool_sources:\n", "  - {id: s%d, type: mcp, path: none.json}\n", 10_000, "")()
	dir := hostileRepo(t, rows)
	writeHostile(t, dir, "none.json", "[ ]")
	o := attempt(t, binary, dir, "verify", "--base", "HEAD", "--today", "2026-11-30")
	o.survives(t)
	if got := leftDecision(t, dir); got == "" || got == "mergeable" {
		t.Errorf("exit code %d, decision %q: %.300s", o.code, got, o.stderr)
	}
}

// Two sources that say the opposite of one tool are no ground to trust either.
func TestContradictionsAreNoEvidence(t *testing.T) {
	binary := build(t, t.TempDir(), "shipgate")
	dir := hostileRepo(t, hostileHead+"tool_sources:\n  - {id: a, type: mcp, path: a.json}\n  - {id: b, type: mcp, path: b.json}\n")
	for name, hint := range map[string]string{"a.json": `"readOnlyHint":true`, "b.json": `"destructiveHint":true,"readOnlyHint":true`} {
		writeHostile(t, dir, name, `[{"name":"erase","description":"Only reads.","inputSchema":{"type":"object"},"annotations":{`+hint+`}}]`)
	}
	judgeHostile(t, binary, dir, "a.json")
}

// Files that commands are given besides what a manifest names.
func TestHostileFilesOfOtherCommandsAreRefused(t *testing.T) {
	binary := build(t, t.TempDir(), "shipgate")
	commands := map[string][]string{
		"verify --baseline":            {"verify", "--base", "HEAD", "--baseline", "given"},
		"baseline verify":              {"baseline", "verify", "--baseline", "given"},
		"baseline save":                {"baseline", "save", "--from", "given", "--reason", "x", "--expires", "2030-01-01"},
		"capability diff, the earlier": {"capability", "diff", "--base", "given", "--head", "given"},
		"apply-patches":                {"apply-patches", "--from", "given", "--apply"},
		"explain-finding":              {"explain-finding", "fp_0123456789abcdef", "--from", "given"},
	}
	for name, args := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := hostileRepo(t, sourceOf("mcp", "none.json")+"baseline: {audit_log: none.json}\n")
			for _, what := range []string{"deep lists", "deep objects", "many keys", "a key twice", "50 MiB of list", "NUL", "bytes of no text", "noise", "empty", "cut off"} {
				bait := hostileTexts["json"][what]
				if bait == nil {
					bait = hostileTexts["any"][what]
				}
				t.Run(what, func(t *testing.T) {
					writeHostile(t, dir, "given", bait())
					o := attempt(t, binary, dir, args...)
					o.named(t, []int{2, 3, 6}, "given")
				})
			}
			t.Run("a pipe", func(t *testing.T) {
				at := filepath.Join(dir, "given")
				if err := os.Remove(at); err != nil {
					t.Fatal(err)
				}
				if err := mkfifo(at); err != nil {
					t.Fatal(err)
				}
				o := attempt(t, binary, dir, args...)
				o.named(t, []int{2, 3}, "given")
			})
		})
	}
}
