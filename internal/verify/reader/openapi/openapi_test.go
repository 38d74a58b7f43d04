package openapi_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/openapi"
	"plimsoll.dev/internal/verify/tool"
)

func parse(t *testing.T, text string) *tool.Reading {
	t.Helper()
	r, err := openapi.Parse("api.yaml", []byte(text), "openapi", "api")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show is one tool in one line.
func show(t tool.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", t.Name, t.Locator())
	for _, p := range t.Params {
		fmt.Fprintf(&b, " %s:%s", p.Name, p.Type)
		if p.Required {
			b.WriteString("!")
		}
		if p.Maximum != "" {
			b.WriteString("<=" + p.Maximum)
		}
	}
	fmt.Fprintf(&b, " | %s %v", t.Auth.Type, t.Auth.Scopes)
	if t.Auth.Anonymous {
		b.WriteString(" anonymous")
	}
	if t.Auth.Differ {
		b.WriteString(" differ")
	}
	return b.String()
}

func shown(r *tool.Reading) []string {
	var out []string
	for _, t := range r.Tools {
		out = append(out, show(t))
	}
	return out
}

func codes(r *tool.Reading) []string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, w.Code+"@"+w.Origin.Pointer)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestTheSampleDocument(t *testing.T) {
	s := manifest.Source{ID: "support", Type: "openapi", Path: "support-tools.openapi.yaml"}
	r, err := openapi.ReadSource(nil, s, os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "tools", shown(r), []string{
		"refund_status_lookup GET /refunds/{payment_id}/status payment_id:string! | oauth2 []",
		"stripe.create_refund POST /refunds amount:number! currency:string! payment_id:string! | oauth2 [stripe:refunds:write]",
		"shopify.cancel_order POST /orders/{order_id}/cancel order_id:string! reason:string! | oauth2 [shopify:orders:write]",
		"zendesk.update_ticket PATCH /tickets/{ticket_id} ticket_id:string! updates:object! | oauth2 [zendesk:tickets:write]",
	})
	first := r.Tools[0]
	if first.Description != "Look up refund status by payment identifier.\nReturns refund status only and does not modify payment records." {
		t.Errorf("%q", first.Description)
	}
	if got := canonical.UTF8.String(first.Annotations); got != `{"httpMethod":"GET","path":"/refunds/{payment_id}/status","readOnlyHint":true}` {
		t.Error(got)
	}
	if o := first.Origin; o.Pointer != "/paths/~1refunds~1{payment_id}~1status/get" || o.Start.Line != 72 || o.EndLine < 80 || o.Path != s.Path || first.Confidence != tool.High {
		t.Errorf("%+v", o)
	}
	if got := canonical.UTF8.String(first.Output); got != `{"properties":{"status":{"type":"string"}},"type":"object"}` {
		t.Error(got)
	}
	if r.Tools[1].Annotations["retryPolicy"] != "automatic" {
		t.Errorf("%v", r.Tools[1].Annotations)
	}
}

func TestADocumentOf31(t *testing.T) {
	text, err := os.ReadFile("testdata/fleet.openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := parse(t, string(text))
	same(t, "tools", shown(r), []string{
		"get_ships_ship_id GET /ships/{ship-id} ship-id:string! verbose:boolean | oauth2 [fleet:read] anonymous differ",
		"replaceShip PUT /ships/{ship-id} X-Trace:string escorts:array name:string! ship-id:string! tons:integer!<=500000 verbose:string|null! | oauth2 [fleet:read] differ",
		"scrapShip DELETE /ships/{ship-id} ship-id:string! verbose:boolean |  [] anonymous",
		"post_root POST / file:string | oauth2 [fleet:read] differ",
		"post_import_all POST /import-all/ body:array! | oauth2 [fleet:read] differ",
	})
	same(t, "warnings", codes(r), nil)
	last := r.Tools[4]
	if got := canonical.UTF8.String(last.Annotations); got != `{"destructiveHint":true,"httpMethod":"POST","owner":"fleet-team","path":"/import-all/"}` || last.Owner != "fleet-team" {
		t.Error(got)
	}
	if got := canonical.UTF8.String(r.Tools[0].Output); !strings.Contains(got, `"items":{"$ref":"#/components/schemas/Ship","x-shipgate-recursive":true}`) {
		t.Error(got)
	}
}

// head opens a document whose paths follow.
const head = "openapi: 3.0.3\ninfo: {title: t, version: v}\n"

func TestReferencesThatAreNotFollowed(t *testing.T) {
	r := parse(t, head+`
paths:
  /a:
    $ref: other.yaml#/a
  /b:
    $ref: '#/components/pathItems/B'
  /c:
    post:
      parameters: [{$ref: '#/components/parameters/nope'}, {name: ok, in: query, schema: {$ref: 'https://example.test/s.json'}}]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Loop'}}}}
      responses: {}
components:
  pathItems: {B: {get: {responses: {}}}}
  schemas: {Loop: {$ref: '#/components/schemas/Loop'}}
`)
	same(t, "tools", shown(r), []string{"get_b GET /b |  []", "post_c POST /c body: ok: |  []"})
	same(t, "warnings", codes(r), []string{"external_ref@/paths/~1a", "missing_ref@/paths/~1c/post/parameters", "external_ref@/paths/~1c/post"})
	if len(r.Dynamic) != 1 || r.Dynamic[0].Name != "/a" {
		t.Errorf("%+v", r.Dynamic)
	}
	if r.Tools[0].Confidence != tool.High || r.Tools[1].Confidence != tool.Medium {
		t.Error("a schema that stands elsewhere is not known")
	}
}

func TestWhatStopsTheReading(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a list", "[]", "is not an OpenAPI document"},
		{"another version", "swagger: '2.0'\npaths: {}\n", "version 3.0 or 3.1"},
		{"a later version", "openapi: 3.2.0\npaths: {}\n", "version 3.0 or 3.1"},
		{"no paths", "openapi: 3.1.0\n", "has no paths"},
		{"paths as a list", head + "paths: []\n", "has no paths"},
		{"a path item that is text", head + "paths:\n  /a: x\n", `api.yaml:4: a path item is not an object`},
		{"a path item that is nothing", head + "paths:\n  /a:\n", "a path item is not an object"},
		{"an operation that is a list", head + "paths:\n  /a:\n    get: []\n", `api.yaml:5: an operation is not an object`},
		{"parameters as an object", head + "paths: {/a: {get: {parameters: {}}}}\n", "parameters is not a list"},
		{"a key twice", head + "paths: {}\npaths: {}\n", "api.yaml:4: is not valid YAML"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openapi.Parse("api.yaml", []byte(c.text), "openapi", "api")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSmallQuestionsOfADocument(t *testing.T) {
	for _, c := range []struct {
		name, paths    string
		want, warnings []string
	}{
		{"every method, in the order of the file", "/x: {trace: {}, head: {}, options: {}, patch: {}, delete: {}, post: {}, put: {}, get: {}, query: {}, x-y: {}}", []string{
			"trace_x TRACE /x |  []", "head_x HEAD /x |  []", "options_x OPTIONS /x |  []", "patch_x PATCH /x |  []",
			"delete_x DELETE /x |  []", "post_x POST /x |  []", "put_x PUT /x |  []", "get_x GET /x |  []",
		}, []string{"unknown_path_key@/paths/~1x/query"}},
		{
			"the same operationId twice", "/x: {get: {operationId: a}}\n  /y: {get: {operationId: a}}",
			[]string{"a GET /x |  []", "a GET /y |  []"},
			[]string{"duplicate_tool@/paths/~1y/get"},
		},
		{"an operationId that is none", "/x/{y-z}: {get: {operationId: 3}}", []string{"get_x_y_z GET /x/{y-z} |  []"}, []string{"invalid_field@/paths/~1x~1{y-z}/get/operationId"}},
		{
			"an input twice", "/x/{id}: {post: {parameters: [{name: id, in: path, schema: {type: string}}, {name: id, in: query, schema: {type: integer}}], requestBody: {content: {application/json: {schema: {properties: {id: {}}}}}}}}",
			[]string{"post_x_id POST /x/{id} body_id: id:string! query_id:integer |  []"},
			[]string{"duplicate_parameter@/paths/~1x~1{id}/post", "duplicate_parameter@/paths/~1x~1{id}/post"},
		},
		{
			"headers that carry the call", "/x: {get: {parameters: [{name: Authorization, in: header}, {name: X-A, in: header, content: {application/json: {schema: {type: number}}}}, {in: query}]}}",
			[]string{"get_x GET /x X-A:number |  []"},
			[]string{"unnamed_parameter@/paths/~1x/get/parameters"},
		},
		{"unknown scheme", "/x: {get: {security: [{nope: [b, a]}, {nope: [a, 1]}]}}", []string{"get_x GET /x |  [a b] differ"}, []string{"unknown_security_scheme@/paths/~1x/get/security", "unknown_security_scheme@/paths/~1x/get/security", "invalid_field@/paths/~1x/get/security"}},
		{
			"a body of parts", "/x: {post: {requestBody: {required: true, content: {application/vnd.a+json: {schema: {allOf: [{type: object, properties: {a: {type: string}}, required: [a]}, {properties: {b: {type: number, maximum: 3}}}]}}}}}}",
			[]string{"post_x POST /x a:string! b:number<=3 |  []"},
			nil,
		},
		{
			"an optional body of parts demands nothing", "/x: {post: {requestBody: {content: {application/json: {schema: {allOf: [{properties: {a: {type: string}}, required: [a]}]}}}}}}",
			[]string{"post_x POST /x a:string |  []"},
			nil,
		},
		{
			"both spellings of a hint", "/x: {get: {x-readOnlyHint: false, x-agents-shipgate: {readOnlyHint: true}}}",
			[]string{"get_x GET /x |  []"},
			[]string{"conflicting_annotation@/paths/~1x/get/x-agents-shipgate/readOnlyHint"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, head+"paths:\n  "+c.paths+"\n")
			same(t, "tools", shown(r), c.want)
			same(t, "warnings", codes(r), c.warnings)
		})
	}
}

func TestSchemasThatGrowAreCut(t *testing.T) {
	var b strings.Builder
	b.WriteString(head + "paths: {/x: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}}}}\ncomponents:\n  schemas:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "    S%d: {type: object, properties: {a: {$ref: '#/components/schemas/S%d'}, b: {$ref: '#/components/schemas/S%d'}}}\n", i, i+1, i+1)
	}
	b.WriteString("    S40: {type: string}\n")
	r := parse(t, b.String())
	same(t, "warnings", codes(r), []string{"schema_limit@/paths/~1x/post"})
	if r.Tools[0].Confidence != tool.Medium {
		t.Error("a schema that was cut is not known in full")
	}
}

func TestALargeFileIsRefusedUnread(t *testing.T) {
	files := fstest.MapFS{"big.yaml": {Data: make([]byte, 50<<20)}}
	_, err := openapi.Read(files, "big.yaml", "openapi", "api")
	if err == nil || err.Problem != tool.TooLarge {
		t.Errorf("%v", err)
	}
}
