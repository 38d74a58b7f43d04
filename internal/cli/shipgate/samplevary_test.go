package shipgate_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/effect"
)

// sampleWords are the words of each sample that may as well be others: parts of
// the names of tools, functions, types, variables, modules, folders and scopes.
// No word that says what a tool does is among them.
var sampleWords = map[string][]string{
	"python-agent":    {"book", "shelf", "loan", "reader", "extend", "isbn", "desk", "library", "catalogue", "session"},
	"typescript-mcp":  {"room", "seat", "calendar", "reply", "minute", "when"},
	"go-mcp":          {"build", "registry", "promote", "stage", "branch", "handler", "commit"},
	"openapi-service": {"parcel", "redirect", "event", "shop", "login", "limit"},
	"n8n-flow":        {"house", "bed", "water", "gardener", "minutes", "green"},
	"monorepo":        {"article", "mailer", "searcher", "price", "country", "catalog", "apps", "assistant", "greeting"},
}

// fruits are words that mean nothing to any rule.
var fruits = []string{
	"kiwi", "maple", "otter", "pebble", "lantern", "harbor", "meadow", "saddle", "thimble", "cobalt", "walnut", "ferret",
	"turnip", "pigeon", "violin", "marble", "canyon", "glacier", "puffin", "tundra", "zephyr", "quartz", "juniper", "falcon",
}

// A variant is a sample as another team would have written it.
type variant struct {
	files map[string]string
	names func(string) string
	told  []string // what was drawn
}

// vary writes a sample again with other names, in another layout and style.
func vary(t interface{ Fatal(args ...any) }, sample string, files map[string]string, seed uint64) *variant {
	r := rand.New(rand.NewPCG(seed, 11))
	v := &variant{}
	pick := r.Perm(len(fruits))
	others := map[string]string{}
	for i, word := range sampleWords[sample] {
		others[word] = fruits[pick[i]]
	}
	v.names = renaming(others)
	v.files = maps.Clone(files)
	chance := func(what string) bool {
		yes := r.IntN(2) == 0
		if yes {
			v.told = append(v.told, what)
		}
		return yes
	}
	if chance("merged files") {
		merge(v.files, sample)
	}
	if dir := []string{"", "lib/", "backend/agent/"}[r.IntN(3)]; dir != "" {
		v.told = append(v.told, "below "+dir)
		v.files = below(v.files, dir)
	}
	style(r, v.files, chance)
	if chance("other file formats") {
		if err := reformat(v.files); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(v.files)) {
		switch path.Ext(p) {
		case ".yaml", ".yml":
			text, err := otherYAML(r, v.files[p])
			if err != nil {
				t.Fatal(p, err)
			}
			v.files[p] = text
		case ".json":
			text, err := otherJSON(r, v.files[p])
			if err != nil {
				t.Fatal(p, err)
			}
			v.files[p] = text
		}
	}
	renamed := map[string]string{}
	for p, text := range v.files {
		if p != "shipgate.yaml" {
			p = v.names(p)
		}
		renamed[p] = v.names(text)
	}
	v.files = renamed
	if chance("CRLF") {
		for p, text := range v.files {
			v.files[p] = strings.ReplaceAll(text, "\n", "\r\n")
		}
	}
	return v
}

// renaming replaces words wherever a name or a text has them as a part: loan in
// extend_loan, listLoans and LOANS, and not in another word.
func renaming(others map[string]string) func(string) string {
	all := strings.Join(slices.Sorted(maps.Keys(others)), "|")
	word := regexp.MustCompile(`(?i)` + all)
	return func(text string) string {
		var out strings.Builder
		rest, before := text, byte(0)
		for {
			m := word.FindStringIndex(rest)
			if m == nil {
				return out.String() + rest
			}
			at, end := m[0], m[1]
			if at > 0 {
				before = rest[at-1]
			}
			found := rest[at:end]
			other := others[strings.ToLower(found)]
			low := 'a' <= found[0] && found[0] <= 'z'
			switch {
			case low && 'a' <= before && before <= 'z': // the end of another word
				other = found
			case !low && found == strings.ToUpper(found):
				other = strings.ToUpper(other)
			case !low:
				other = strings.ToUpper(other[:1]) + other[1:]
			}
			out.WriteString(rest[:at] + other)
			rest, before = rest[end:], rest[end-1]
		}
	}
}

// merge puts two source files into one, where a sample has two that fit.
func merge(files map[string]string, sample string) {
	switch sample {
	case "python-agent":
		imports, body, _ := strings.Cut(files["desk/tools/loans.py"], "\n\n\n")
		head, rest, _ := strings.Cut(files["desk/tools/books.py"], "\n\n\n")
		files["desk/tools/books.py"] = head + imports[strings.Index(imports, "\n"):] + "\n\n\n" + rest + "\n\n" + body
		files["desk/agent.py"] = strings.Replace(files["desk/agent.py"], "desk.tools.loans", "desk.tools.books", 1)
		delete(files, "desk/tools/loans.py")
	case "typescript-mcp":
		_, body, _ := strings.Cut(files["src/tools/rooms.ts"], "\n\n")
		files["src/tools/bookings.ts"] += "\n" + body
		files["src/index.ts"] = strings.Replace(files["src/index.ts"], "tools/rooms.js", "tools/bookings.js", 1)
		delete(files, "src/tools/rooms.ts")
	case "go-mcp":
		files["tools/tools.go"] += strings.TrimPrefix(files["tools/args.go"], "package tools\n")
		delete(files, "tools/args.go")
	case "monorepo":
		_, body, _ := strings.Cut(files["apps/assistant/pricing.py"], "\n\n\n")
		at := "apps/assistant/assistant.py"
		files[at] = strings.Replace(files[at], "from .pricing import price_with_tax\n", "import agents\n\n\n"+body, 1)
		delete(files, "apps/assistant/pricing.py")
	}
}

var manifestPath = regexp.MustCompile(`(path: |entrypoint: |workflows: \[|credential_stubs: \[)([\w./-]+)`)

// below moves everything but the manifest into a folder.
func below(files map[string]string, dir string) map[string]string {
	out := map[string]string{}
	for p, text := range files {
		if p == "shipgate.yaml" {
			out[p] = manifestPath.ReplaceAllStringFunc(text, func(s string) string {
				m := manifestPath.FindStringSubmatch(s)
				return m[1] + path.Join(dir, m[2])
			})
			continue
		}
		out[dir+p] = text
	}
	return out
}

var (
	indentation   = regexp.MustCompile(`(?m)^( +|\t+)`)
	plainQuotes   = regexp.MustCompile(`([^"\w])"([^"'\\\n]*)"([^"])`)
	trailingComma = regexp.MustCompile(`,(\n\s*[)\]}])`)
	lineSemicolon = regexp.MustCompile(`(?m);$`)
	exportedFunc  = regexp.MustCompile(`(?s)export function (\w+)(\(server: McpServer, calendar: Calendar\)) \{(.*?\n)\}\n`)
	bareDecorator = regexp.MustCompile(`(?m)^(@(?:\w+\.)?function_tool)$`)
)

// style rewrites source code without changing what it means.
func style(r *rand.Rand, files map[string]string, chance func(string) bool) {
	quotes, commas, remarks := chance("single quotes"), chance("no trailing commas"), chance("remarks")
	alias, other, spread := chance("aliases"), chance("other forms"), chance("indentation")
	width := []string{"\t", "  ", "      "}[r.IntN(3)]
	for p, text := range files {
		switch path.Ext(p) {
		case ".py":
			if other {
				text = bareDecorator.ReplaceAllString(text, "$1()")
			}
			if alias {
				text = strings.NewReplacer(
					"from agents import function_tool\n", "import agents as kit\n", "from agents import RunContextWrapper, function_tool\n", "import agents as kit\nfrom agents import RunContextWrapper\n",
					"@function_tool", "@kit.function_tool", "import Agent\n", "import Agent as Worker\n", "import Agent, handoff", "import Agent as Worker, handoff as to",
					"= Agent", "= Worker", "handoff(", "to(",
				).Replace(text)
			}
			if commas {
				text = trailingComma.ReplaceAllString(text, "$1")
			}
			if quotes {
				text = plainQuotes.ReplaceAllString(text, "$1'$2'$3")
			}
			if remarks {
				text = strings.ReplaceAll(text, "\n\n\n@", "\n\n\n# what follows is offered to the model\n\n@")
			}
			if spread {
				text = reindent(text, "    ", width)
			}
		case ".ts":
			if other {
				text = exportedFunc.ReplaceAllString(text, "export const $1 = $2: void => {$3};\n")
			}
			if alias {
				text = strings.ReplaceAll(text, "import type {", "import {")
				text = strings.NewReplacer("{ McpServer }", "{ McpServer as Host }", "McpServer", "Host", "{ z }", "* as zod", "z.", "zod.").Replace(text)
				text = strings.ReplaceAll(text, "{ Host as Host }", "{ McpServer as Host }")
			}
			if commas {
				text = trailingComma.ReplaceAllString(text, "$1")
			}
			if quotes {
				text = plainQuotes.ReplaceAllString(text, "$1'$2'$3")
				text = lineSemicolon.ReplaceAllString(text, "")
			}
			if remarks {
				text = strings.ReplaceAll(text, "  server.registerTool(", "  // offered to the model: server.registerTool(\"not_this\")\n  server.registerTool(")
			}
			if spread {
				text = reindent(text, "  ", width)
			}
		case ".go":
			if alias {
				text = strings.NewReplacer(`"github.com/modelcontextprotocol/go-sdk/mcp"`, `sdk "github.com/modelcontextprotocol/go-sdk/mcp"`, "mcp.", "sdk.").Replace(text)
			}
			if other {
				text = strings.NewReplacer("Name:        listBuilds", `Name: "list_builds"`, "Name:        promoteBuild", "Name: promoteBuild").Replace(text)
			}
			if remarks {
				text = strings.ReplaceAll(text, "\tmcp.AddTool(", "\t/* mcp.AddTool(server, nothing) */\n\tmcp.AddTool(")
			}
			if spread {
				text = reindent(text, "\t", width)
			}
		}
		files[p] = text
	}
}

func reindent(text, from, to string) string {
	return indentation.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, from, to) })
}

// surfaceFacts is what verification knows of a side, without any place: tools,
// who has them, what they do and what proves it.
func surfaceFacts(s *effect.Surface) []string {
	agents, tools := map[string]string{}, map[string]string{}
	for _, n := range s.Graph.Nodes {
		agents[n.ID] = n.Name
	}
	var facts []string
	for _, t := range s.Catalog {
		tools[t.ID] = t.Name
		kinds := []string{}
		for i := range t.Members {
			kinds = append(kinds, t.Members[i].Origin.Type+" "+string(t.Members[i].Confidence))
		}
		facts = append(facts, fmt.Sprintf("tool %s: %s %v %q", t.Name, s.Reach[t.ID], kinds, t.Description))
		for _, p := range t.Params {
			facts = append(facts, fmt.Sprintf("input %s.%s %s required=%t [%s,%s] %v", t.Name, p.Name, p.Type, p.Required, p.Minimum, p.Maximum, p.Enum))
		}
	}
	for _, e := range s.Graph.Edges {
		facts = append(facts, fmt.Sprintf("edge %s %s -> %s%s complete=%t", e.Kind, agents[e.From], tools[e.Tool], agents[e.To], e.Complete))
	}
	for _, a := range s.Actions {
		facts = append(facts, fmt.Sprintf("action %s by %s: %s %v scopes=%v %s %s approval=%t/%t confirm=%t idempotency=%t audit=%t rollback=%t owner=%s pass=%t",
			a.Tool.Name, agents[a.AgentID], a.Effect, a.RiskTags, a.Scopes, a.Mode, a.AuthType, a.Approval.Known, a.Approval.Value,
			a.Confirmation, a.Idempotency.Value, a.AuditLog.Value, a.Rollback.Value, a.Owner, a.Assessment.PassEligible))
		for _, i := range a.Assessment.Issues {
			facts = append(facts, "issue "+a.Tool.Name+" "+i.Kind)
		}
	}
	facts = append(facts, "graph "+s.Graph.Status+" "+agents[s.Graph.Root])
	slices.Sort(facts)
	return facts
}

func loadFacts(files map[string]string) ([]string, error) {
	tree := fstest.MapFS{}
	for p, text := range files {
		tree[p] = &fstest.MapFile{Data: []byte(text)}
	}
	side, err := verify.Load(tree, verify.LoadOptions{Name: "shipgate.yaml", Today: "2026-11-30"})
	if err != nil {
		return nil, err
	}
	facts := surfaceFacts(side.Surface)
	for _, w := range side.Surface.Reading.Warnings {
		facts = append(facts, "warning "+w.Code)
	}
	for i := range side.Surface.Reading.Dynamic {
		facts = append(facts, "dynamic "+side.Surface.Reading.Dynamic[i].Reason)
	}
	return facts, nil
}

// readOtherwise is how a variant of a sample is read otherwise than the sample.
func readOtherwise(t interface{ Fatal(args ...any) }, sample string, files map[string]string, want []string, seed uint64) string {
	v := vary(t, sample, files, seed)
	named := make([]string, len(want))
	for i, fact := range want {
		named[i] = v.names(fact)
	}
	got, err := loadFacts(v.files)
	if err != nil {
		return fmt.Sprintf("seed %d, %v: %v\n%s", seed, v.told, err, v.files["shipgate.yaml"])
	}
	slices.Sort(named)
	slices.Sort(got)
	if diff := cmp.Diff(named, got); diff != "" {
		return fmt.Sprintf("seed %d, %v:\n%s", seed, v.told, diff)
	}
	return ""
}

const sampleSeeds = 24

// No reader knows a sample: under other names, in other files and in another
// hand the same tools, agents, edges and effects come out.
func TestSamplesAreReadWhateverTheyAreCalled(t *testing.T) {
	t.Parallel()
	all := map[string]map[string]string{}
	for _, name := range sampleNames {
		files := sampleFiles(t, name)
		all[name] = files
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := loadFacts(files)
			if err != nil || len(want) < 8 {
				t.Fatalf("%d facts, %v", len(want), err)
			}
			for seed := range uint64(sampleSeeds) {
				if diff := readOtherwise(t, name, files, want, seed); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(sampleNames).Draw(t, "sample")
		files := all[name]
		want, err := loadFacts(files)
		if err != nil {
			t.Fatal(err)
		}
		if diff := readOtherwise(t, name, files, want, rapid.Uint64().Draw(t, "seed")); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What the readers give is what the decision rests on: a variant passes like its
// sample, in a repository of its own.
func TestVariantsOfSamplesPass(t *testing.T) {
	t.Parallel()
	for i, name := range sampleNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := vary(t, name, sampleFiles(t, name), uint64(100+i))
			if a := newSampleRepo(t, v.files).verify(t); a.Decision != "passed" || !a.CanMerge {
				t.Errorf("%v: %s: %s", v.told, a.Decision, a.Release.Reason)
			}
		})
	}
}

// A tool that destroys is found by its place in any hand, and decided alike.
func TestAToolThatDestroysIsFoundInAnyHand(t *testing.T) {
	t.Parallel()
	for _, c := range sampleAdditions {
		t.Run(c.sample+"/"+path.Base(c.file), func(t *testing.T) {
			t.Parallel()
			base := sampleFiles(t, c.sample)
			head := edited(t, edited(t, base, c.code...), c.bind...)
			for seed := range uint64(3) {
				before, after := vary(t, c.sample, base, 200+seed), vary(t, c.sample, head, 200+seed)
				r := newSampleRepo(t, before.files)
				r.put(t, after.files)
				a := r.verify(t)
				if a.Decision != c.decision || a.CanMerge || a.Review.Added != 1 || a.Review.Removed+a.Review.Modified != 0 || len(a.Review.TopChanges) != 1 {
					t.Fatalf("seed %d, %v: %s (%s): %+v", seed, after.told, a.Decision, a.Release.Reason, a.Review)
				}
				row := a.Review.TopChanges[0]
				lines := strings.Split(after.files[row.SourcePath], "\n")
				name := after.names(c.tool)
				if row.Subject != name || row.SourceLine < 1 || row.SourceLine > len(lines) {
					t.Fatalf("seed %d, %v: %+v", seed, after.told, row)
				}
				// From its line on the tool is named before any other line names one.
				rest := strings.Join(lines[row.SourceLine-1:], "\n")
				at := strings.Index(rest, spelled(name, c.sample))
				for _, fact := range surfaceNames(t, after.files) {
					if other := strings.Index(rest, `"`+fact+`"`); fact != name && other >= 0 && other < at && strings.Contains(rest[other:at], "\n") {
						t.Errorf("seed %d, %v: %s:%d is the place of %s", seed, after.told, row.SourcePath, row.SourceLine, fact)
					}
				}
				if at < 0 || strings.Count(rest[:at], "\n") > 25 {
					t.Errorf("seed %d, %v: %s is not at %s:%d\n%s", seed, after.told, name, row.SourcePath, row.SourceLine, rest[:min(len(rest), 400)])
				}
			}
		})
	}
}

// spelled is a tool's name as its source writes it: n8n shows a node's name.
func spelled(name, sample string) string {
	if sample == "n8n-flow" {
		return strings.ReplaceAll(name, "_", " ")
	}
	return name
}

func surfaceNames(t *testing.T, files map[string]string) []string {
	t.Helper()
	facts, err := loadFacts(files)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range facts {
		if name, ok := strings.CutPrefix(f, "tool "); ok {
			name, _, _ = strings.Cut(name, ":")
			names = append(names, name)
		}
	}
	return names
}
