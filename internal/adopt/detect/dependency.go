package detect

import (
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// projectFiles make the folder they lie in a project of its own.
var projectFiles = []string{
	"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "package.json", "go.mod",
}

// dependencyNames are the packages of the frameworks as they are installed; one
// that ends in - is a beginning.
var dependencyNames = []struct {
	name string
	kind Type
}{
	{"openai-agents", AgentsSDK},
	{"google-adk", ADK},
	{"langchain", LangChain},
	{"langchain-", LangChain},
	{"langgraph", LangChain},
	{"langgraph-", LangChain},
	{"crewai", CrewAI},
	{"crewai-tools", CrewAI},
	{"@modelcontextprotocol/sdk", MCPServer},
	{"@modelcontextprotocol/server", MCPServer},
	{"github.com/modelcontextprotocol/go-sdk", MCPServer},
	{"github.com/mark3labs/mcp-go", MCPServer},
	{"openai", OpenAI},
	{"anthropic", Anthropic},
	{"@anthropic-ai/sdk", Anthropic},
}

// foreignNames are packages of agents that no reader reads yet.
var foreignNames = []struct{ name, is string }{
	{"@openai/agents", "the OpenAI Agents SDK for JavaScript"},
	{"@langchain/core", "LangChain for JavaScript"},
	{"@langchain/langgraph", "LangChain for JavaScript"},
	{"@google/adk", "the Agent Development Kit for JavaScript"},
	{"@mastra/core", "Mastra"},
	{"google.golang.org/adk", "the Agent Development Kit for Go"},
}

// dependencies reads the files that declare what a project is built from, and
// the names of projects. Lock files declare nothing.
func (s *survey) dependencies() {
	var names []string
	for _, f := range s.files {
		if f.reason == "" {
			names = append(names, f.name)
		}
	}
	slices.SortFunc(names, byDepth)
	for _, name := range names {
		base := path.Base(name)
		switch {
		case base == "pyproject.toml":
			s.pyproject(name)
		case base == "package.json":
			s.packageJSON(name)
		case base == "go.mod":
			s.goMod(name)
		case base == "Pipfile":
			s.pipfile(name)
		case strings.HasPrefix(base, "requirements") && (strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".in")):
			s.requirements(name)
		}
	}
	slices.Sort(s.out.Signals.Declared)
	s.out.Signals.Declared = slices.Compact(s.out.Signals.Declared)
	s.out.Signals.Declared = s.out.Signals.Declared[:min(len(s.out.Signals.Declared), maxListed)]
	s.project(s.opt.Name, "")
	for _, name := range s.deeper {
		s.project(name, "")
	}
}

// project adds a candidate for the name of the project. What a file below the
// workspace's own folder says comes after the name of that folder.
func (s *survey) project(name, file string) {
	if strings.Contains(file, "/") {
		s.deeper = append(s.deeper, name)
		return
	}
	if name = shown(name); name != "" && !slices.Contains(s.out.ProjectNames, name) && len(s.out.ProjectNames) < 20 {
		s.out.ProjectNames = append(s.out.ProjectNames, name)
	}
}

// depends takes one declared dependency.
func (s *survey) depends(file string, line int, name string) {
	for _, d := range dependencyNames {
		if name == d.name || strings.HasSuffix(d.name, "-") && strings.HasPrefix(name, d.name) {
			s.declared[d.kind] = true
			s.out.Signals.Declared = append(s.out.Signals.Declared, file+": "+shown(name))
			s.hit(hit{kind: d.kind, file: file, line: line, strength: Medium, role: "dependency", what: "declares the dependency " + name})
			return
		}
	}
	for _, f := range foreignNames {
		if name == f.name {
			s.unsupported(f.is, file, line, "declares the dependency "+name)
		}
	}
}

// requirement is the name of a requirement as pip writes it, normalised.
func requirement(text string) string {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	})
	if end >= 0 {
		text = text[:end]
	}
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(text))
}

func (s *survey) requirements(name string) {
	text, ok := s.read(name)
	if !ok {
		return
	}
	line := 0
	for row := range strings.SplitSeq(string(text), "\n") {
		if line++; !strings.HasPrefix(strings.TrimSpace(row), "#") {
			if n := requirement(row); n != "" {
				s.depends(name, line, n)
			}
		}
	}
}

// parsed is a structured file that detection reads for names; what is broken is
// said and gives none.
func (s *survey) parsed(name string, parse func([]byte) (source.Value, *source.ParseError)) source.Value {
	text, ok := s.read(name)
	if !ok {
		return source.Value{}
	}
	text, _ = source.TrimBOM(text)
	v, err := parse(text)
	if err != nil {
		s.note("unreadable_file", name, err.Pos.Line, "could not be parsed; what it declares is not known")
		return source.Value{}
	}
	return v
}

func (s *survey) pyproject(name string) {
	v := s.parsed(name, source.ParseTOML)
	s.project(v.At("project", "name").Str(), name)
	s.project(v.At("tool", "poetry", "name").Str(), name)
	lists := []source.Value{v.At("project", "dependencies")}
	for _, table := range []source.Value{v.At("project", "optional-dependencies"), v.Get("dependency-groups")} {
		for _, m := range table.Members {
			lists = append(lists, m.Value)
		}
	}
	for _, l := range lists {
		for _, item := range l.Items {
			if n := requirement(item.Str()); n != "" {
				s.depends(name, item.Pos.Line, n)
			}
		}
	}
	poetry := v.At("tool", "poetry")
	tables := []source.Value{poetry.Get("dependencies"), poetry.Get("dev-dependencies")}
	for _, group := range poetry.Get("group").Members {
		tables = append(tables, group.Value.Get("dependencies"))
	}
	s.tables(name, tables)
}

func (s *survey) tables(name string, tables []source.Value) {
	for _, t := range tables {
		for _, m := range t.Members {
			s.depends(name, m.Pos.Line, requirement(m.Key))
		}
	}
}

func (s *survey) pipfile(name string) {
	v := s.parsed(name, source.ParseTOML)
	s.tables(name, []source.Value{v.Get("packages"), v.Get("dev-packages")})
}

func (s *survey) packageJSON(name string) {
	v := s.parsed(name, source.ParseJSON)
	s.project(v.Get("name").Str(), name)
	for _, key := range []string{"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"} {
		for _, m := range v.Get(key).Members {
			s.depends(name, m.Pos.Line, m.Key)
		}
	}
}

// goMod reads the module's name and its direct requirements.
func (s *survey) goMod(name string) {
	text, ok := s.read(name)
	if !ok {
		return
	}
	line, block := 0, false
	for row := range strings.SplitSeq(string(text), "\n") {
		line++
		row, comment, _ := strings.Cut(row, "//")
		words := strings.Fields(row)
		switch {
		case len(words) == 0:
		case words[0] == "module" && len(words) == 2:
			s.project(path.Base(strings.Trim(words[1], `"`)), name)
		case words[0] == "require" && len(words) == 2 && words[1] == "(":
			block = true
		case words[0] == ")":
			block = false
		case strings.TrimSpace(comment) == "indirect":
		case words[0] == "require" && len(words) == 3:
			s.depends(name, line, words[1])
		case block && len(words) == 2:
			s.depends(name, line, words[0])
		}
	}
}
