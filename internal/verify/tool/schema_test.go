package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// line is a parameter in one line: name:type, ! when required, then what is
// known of it.
func line(p tool.Parameter) string {
	var b strings.Builder
	b.WriteString(p.Name + ":" + p.Type)
	if p.Required {
		b.WriteString("!")
	}
	if p.Minimum+p.Maximum != "" {
		fmt.Fprintf(&b, " [%s,%s]", p.Minimum, p.Maximum)
	}
	if p.Enum != nil {
		fmt.Fprintf(&b, " %v", p.Enum)
	}
	if p.Format != "" {
		b.WriteString(" " + p.Format)
	}
	if p.Default != nil {
		fmt.Fprintf(&b, " =%v", p.Default)
	}
	if p.Description != "" {
		fmt.Fprintf(&b, " %q", p.Description)
	}
	return b.String()
}

func TestParametersOfASchema(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"nothing", `{}`, ""},
		{"any object", `{"type":"object"}`, ""},
		{"no schema", `null`, ""},
		{"a plain value becomes input", `{"type":"string","description":"d"}`, `input:string! "d"`},
		{"a list becomes input", `{"items":{"type":"string"}}`, `input:array!`},
		{"properties in the order of their names", `{"properties":{"b":{"type":"number","maximum":5},"a":{"type":"string"}},"required":["b"]}`, `a:string; b:number! [,5]`},
		{"a list of types", `{"properties":{"a":{"type":["string","null"]}}}`, `a:string|null`},
		{"types that only the keywords show", `{"properties":{"a":{"enum":["x",1]},"b":{"properties":{}},"c":{"items":{}},"d":{},"e":{"const":3}}}`, `a:enum [x 1]; b:object; c:array; d:; e:enum [3]`},
		{"exclusive bounds", `{"properties":{"a":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10}}}`, `a:integer [0,10]`},
		{"a boolean exclusive bound is none", `{"properties":{"a":{"type":"integer","maximum":9,"exclusiveMaximum":true}}}`, `a:integer [,9]`},
		{"a local reference, and what stands beside it", `{"properties":{"a":{"$ref":"#/$defs/A","description":"mine"}},"$defs":{"A":{"type":"integer","maximum":3,"description":"theirs"}}}`, `a:integer [,3] "mine"`},
		{"a reference to nowhere", `{"properties":{"a":{"$ref":"#/$defs/B"}}}`, `a:`},
		{"a reference to itself", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, `a:`},
		{"may be null", `{"properties":{"a":{"anyOf":[{"type":"integer","maximum":7},{"type":"null"}],"default":1}}}`, `a:integer|null [,7] =1`},
		{"two alternatives of a value keep no bound", `{"properties":{"a":{"anyOf":[{"type":"integer","maximum":7},{"type":"string"}]}}}`, `a:integer|string`},
		{"all parts", `{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}},"required":["b"]}],"required":["a"]}`, `a:string!; b:string!`},
		{"alternatives are optional", `{"properties":{"k":{"type":"string"}},"required":["k"],"oneOf":[{"properties":{"a":{"type":"number","maximum":5}},"required":["a"]},{"properties":{"a":{"type":"number"},"k":{"enum":["x"]}}}]}`, `a:number; k:string!`},
		{"nullable of OpenAPI 3.0", `{"properties":{"a":{"type":"string","nullable":true,"format":"date"}}}`, `a:string|null date`},
		{"the root is a reference", `{"$ref":"#/definitions/R","definitions":{"R":{"type":"object","properties":{"x":{"type":"boolean"}}}}}`, `x:boolean`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := source.ParseJSON([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range tool.Parameters(tool.Plain(v)) {
				got = append(got, line(p))
			}
			if g := strings.Join(got, "; "); g != c.want {
				t.Errorf("got  %s\nwant %s", g, c.want)
			}
		})
	}
}

func TestSchemasThatLoopEnd(t *testing.T) {
	for _, schema := range []string{
		`{"allOf":[{"$ref":"#"},{"$ref":"#"}],"properties":{"a":{}}}`,
		`{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}],"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]}}}`,
		`{"$ref":"#"}`,
	} {
		v, err := source.ParseJSON([]byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		tool.Parameters(tool.Plain(v))
	}
}

func TestParseSaysWhereAndNeverWhat(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.yaml", "a: 1\na: hidden\n", "a.yaml:2: is not valid YAML, or holds a key twice"},
		{"a.json", "{\"a\": hidden}", "a.json:1: is not valid JSON, or holds a key twice"},
		{"a.yml", "  {\"a\": 1, \"a\": 2}", "a.yml:1: is not valid JSON, or holds a key twice"},
	} {
		_, err := tool.Parse(c.name, []byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if v, err := tool.Parse("x.yaml", []byte("\ufeffa: [.inf, 1.50, 2020-01-01]")); err != nil {
		t.Error(err)
	} else if got := fmt.Sprint(tool.Plain(v)); got != "map[a:[inf 1.5 2020-01-01]]" {
		t.Error(got)
	}
}

func TestManyParametersOfAlternativesAreOneOfEachName(t *testing.T) {
	var properties []string
	for i := range 40 {
		properties = append(properties, fmt.Sprintf(`"p%02d":{"type":"integer","maximum":%d}`, i, i))
	}
	all := strings.Join(properties, ",")
	v, err := source.ParseJSON([]byte(fmt.Sprintf(
		`{"properties":{%s},"allOf":[{"properties":{%s},"required":["p39"]}],"anyOf":[{"properties":{%s,"q":{"maximum":1}}},{"properties":{%s,"q":{"maximum":2}}}],"required":["p00"]}`,
		all, all, all, all,
	)))
	if err != nil {
		t.Fatal(err)
	}
	params := tool.Parameters(tool.Plain(v))
	if len(params) != 41 || line(params[40]) != "q:" {
		t.Fatalf("%d parameters, the last is %s", len(params), line(params[len(params)-1]))
	}
	for i, p := range params[:40] {
		want := fmt.Sprintf("p%02d:integer [,%d]", i, i)
		if i == 0 || i == 39 {
			want = fmt.Sprintf("p%02d:integer! [,%d]", i, i)
		}
		if line(p) != want {
			t.Errorf("got %s, want %s", line(p), want)
		}
	}
}
