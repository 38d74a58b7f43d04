package script_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"plimsoll.dev/internal/verify/script"
)

// A compiler and a full parser must see the same calls of methods, with the
// same literal arguments, as we read from the tokens.
func TestAFullParserSeesTheSameCalls(t *testing.T) {
	compared, calls := 0, 0
	compare := func(t *testing.T, files fs.FS, name string) {
		t.Helper()
		src, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		theirs, ok := theirCalls(name, src)
		if !ok {
			return // not for this compiler either
		}
		file, failure := script.Parse(name, src)
		if failure != nil {
			t.Errorf("%s: %v", name, failure)
			return
		}
		var ours []string
		found, failure := file.Calls(names(theirs)...)
		if failure != nil {
			t.Errorf("%s: %v", name, failure)
		}
		for _, call := range found {
			ours = append(ours, ourCall(file, call))
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s: %d calls, they see %d\nonly ours:\n%s\nonly theirs:\n%s", name, len(ours), len(theirs), only(ours, theirs), only(theirs, ours))
		}
		compared++
		calls += len(ours)
	}
	own := os.DirFS("testdata")
	walk := func(root fs.FS) {
		err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if d.Name() == "fuzz" || d.Name() == "node_modules" {
					return fs.SkipDir
				}
				return nil
			}
			if ext := path.Ext(name); ext == ".ts" || ext == ".js" || ext == ".mjs" {
				compare(t, root, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	walk(own)
	if compared < 3 {
		t.Fatalf("%d of our files were compared", compared)
	}
	// The sources that come with the compiler.
	where, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/evanw/esbuild").Output()
	if err != nil {
		t.Skip("the go command does not say where the module is:", err)
	}
	walk(os.DirFS(strings.TrimSpace(string(where))))
	t.Logf("%d files, %d calls compared", compared, calls)
}

func only(a, b []string) string {
	left := map[string]int{}
	for _, s := range b {
		left[s]++
	}
	var out []string
	for _, s := range a {
		if left[s]--; left[s] < 0 && len(out) < 12 {
			out = append(out, "  "+s[:min(len(s), 300)])
		}
	}
	return strings.Join(out, "\n")
}

func names(calls []string) []string {
	var out []string
	for _, c := range calls {
		name, _, _ := strings.Cut(c, "(")
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func ourCall(f *script.File, call *script.Expr) string {
	var args []string
	for _, a := range call.Args {
		args = append(args, ours(f, a))
	}
	return call.X.Text + "(" + strings.Join(args, ", ") + ")"
}

// ours is the literal part of an expression; ? is what is no literal.
func ours(f *script.File, e *script.Expr) string {
	switch e.Kind {
	case script.String:
		return strconv.Quote(e.Text)
	case script.Number:
		return number(e.Text)
	case script.Bool:
		return e.Text
	case script.Null:
		return "null"
	case script.Function:
		return "fn"
	case script.Spread:
		return "..." + ours(f, e.X)
	case script.Member:
		// The compiler writes the members of enumerations out.
		if e.X.Kind == script.Name {
			if b := f.Lookup(e.X.Text, e.At); b != nil && b.How == script.ByEnum {
				p := &script.Program{Load: func(*script.File, string) *script.File { return nil }}
				if r := p.Reduce(script.Node{File: f, Expr: e}); r.Kind() == script.String || r.Kind() == script.Number {
					return ours(f, r.Expr)
				}
			}
		}
	case script.Array:
		var items []string
		for _, a := range e.Args {
			items = append(items, ours(f, a))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case script.Object:
		var items []string
		for _, p := range e.Props {
			key := p.Key
			switch {
			case p.Value.Kind == script.Spread:
				items = append(items, ours(f, p.Value))
				continue
			case p.KeyExpr != nil:
				key = "[" + ours(f, p.KeyExpr) + "]"
			}
			items = append(items, key+": "+ours(f, p.Value))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return "?"
}

func number(raw string) string {
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return "?"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// theirCalls compiles TypeScript to JavaScript, parses it, and collects the
// calls of methods.
func theirCalls(name string, src []byte) ([]string, bool) {
	if path.Ext(name) == ".ts" {
		result := api.Transform(string(src), api.TransformOptions{
			Loader: api.LoaderTS, Target: api.ESNext, LogLevel: api.LogLevelSilent,
			TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true,"experimentalDecorators":true}}`,
		})
		if len(result.Errors) > 0 {
			return nil, false
		}
		src = result.Code
	} else if len(src) > 1 && src[0] == '#' && src[1] == '!' {
		src = append([]byte("//"), src...)
	}
	tree, err := js.Parse(parse.NewInputBytes(src), js.Options{})
	if err != nil {
		return nil, false
	}
	v := &collector{}
	js.Walk(v, tree)
	return v.calls, true
}

type collector struct{ calls []string }

func (c *collector) Exit(js.INode) {}

func (c *collector) Enter(n js.INode) js.IVisitor {
	call, ok := n.(*js.CallExpr)
	if !ok {
		return c
	}
	name := ""
	switch x := call.X.(type) {
	case *js.DotExpr:
		switch y := x.Y.(type) {
		case js.LiteralExpr:
			name = string(y.Data)
		case *js.LiteralExpr:
			name = string(y.Data)
		}
	case *js.IndexExpr:
		if s := theirs(x.Y); strings.HasPrefix(s, `"`) {
			name, _ = strconv.Unquote(s)
		}
	}
	if name == "" {
		return c
	}
	var args []string
	for _, a := range call.Args.List {
		s := theirs(a.Value)
		if a.Rest {
			s = "..." + s
		}
		args = append(args, s)
	}
	c.calls = append(c.calls, name+"("+strings.Join(args, ", ")+")")
	return c
}

// theirs is the literal part of an expression of the other parser.
func theirs(e js.IExpr) string {
	switch e := e.(type) {
	case *js.LiteralExpr:
		return literal(e.TokenType, e.Data)
	case js.LiteralExpr:
		return literal(e.TokenType, e.Data)
	case *js.TemplateExpr:
		if e.Tag == nil && len(e.List) == 0 {
			return literal(js.StringToken, e.Tail)
		}
	case *js.CommaExpr:
		return theirs(e.List[len(e.List)-1])
	case *js.GroupExpr:
		return theirs(e.X)
	case *js.UnaryExpr:
		if s := theirs(e.X); e.Op == js.NegToken && s != "?" {
			if lit, ok := e.X.(*js.LiteralExpr); ok && js.IsNumeric(lit.TokenType) {
				return number("-" + s)
			}
		}
		if e.Op == js.AwaitToken {
			return theirs(e.X)
		}
	case *js.ArrowFunc, *js.FuncDecl, *js.MethodDecl:
		return "fn"
	case *js.ArrayExpr:
		var items []string
		for _, item := range e.List {
			s := "?"
			if item.Value != nil {
				s = theirs(item.Value)
			}
			if item.Spread {
				s = "..." + s
			}
			items = append(items, s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case *js.ObjectExpr:
		var items []string
		for _, p := range e.List {
			items = append(items, property(p))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return "?"
}

func property(p js.Property) string {
	if p.Spread {
		return "..." + theirs(p.Value)
	}
	name, value := p.Name, theirs(p.Value)
	if method, ok := p.Value.(*js.MethodDecl); ok {
		name = &method.Name.PropertyName
		if method.Get || method.Set {
			value = "?"
		}
	}
	if name == nil || !name.IsSet() {
		if v, ok := p.Value.(*js.Var); ok {
			return string(v.Data) + ": ?"
		}
		return "?"
	}
	if name.Computed != nil {
		return "[" + theirs(name.Computed) + "]: " + value
	}
	key := string(name.Literal.Data)
	if name.Literal.TokenType == js.StringToken {
		key, _ = strconv.Unquote(literal(js.StringToken, name.Literal.Data))
	}
	return key + ": " + value
}

func literal(kind js.TokenType, data []byte) string {
	switch kind {
	case js.StringToken, js.TemplateToken:
		return strconv.Quote(cook(string(data[1 : len(data)-1])))
	case js.TrueToken, js.FalseToken, js.NullToken:
		return string(data)
	case js.HexadecimalToken, js.BinaryToken, js.OctalToken:
		n, err := strconv.ParseInt(strings.ReplaceAll(string(data), "_", ""), 0, 64)
		if err != nil {
			return "?"
		}
		return number(strconv.FormatInt(n, 10))
	}
	if js.IsNumeric(kind) {
		return number(strings.TrimSuffix(strings.ReplaceAll(string(data), "_", ""), "n"))
	}
	return "?"
}

// cook unescapes by way of JSON, apart from our own code: a compiler prints few
// kinds of escapes.
func cook(raw string) string {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' || i+1 >= len(raw) {
			switch {
			case c == '"':
				b.WriteString(`\"`)
			case c < 0x20:
				fmt.Fprintf(&b, `\u%04x`, c)
			default:
				b.WriteByte(c)
			}
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'n', 't', 'r', 'b', 'f', '\\', 'u':
			if c == 'u' && i+1 < len(raw) && raw[i+1] == '{' {
				n, _ := strconv.ParseInt(raw[i+2:i+strings.IndexByte(raw[i:], '}')], 16, 32)
				b.WriteString(string(rune(n)))
				i += strings.IndexByte(raw[i:], '}')
				continue
			}
			b.WriteByte('\\')
			b.WriteByte(c)
		case '"':
			b.WriteString(`\"`)
		case 'x':
			b.WriteString(`\u00` + raw[i+1:i+3])
			i += 2
		case 'v':
			b.WriteString(`\u000b`)
		case '0':
			b.WriteString(`\u0000`)
		case '\n':
		default:
			b.WriteByte(c)
		}
	}
	var out string
	if err := json.Unmarshal([]byte(`"`+b.String()+`"`), &out); err != nil {
		return raw
	}
	return out
}
