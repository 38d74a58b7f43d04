package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"plimsoll.dev/internal/pipeline/operation"
	clan "plimsoll.dev/internal/request"
)

// The OpenAPI document is made from the same table and the same Go types the
// requests are decoded with, so it cannot say anything else. huma turns types
// into schemas; what a request must be, and in which order that is checked, is
// docs/spec/contracts.md §20.1 and not a library's.

const about = `Contracts for work that agents do: what was asked, what may be done, whether it was done, who agreed, and the proof.
And the circle: one entry for requests of people, artifacts that take effect only after consent and confirmation.

Every write carries an Idempotency-Key; a repetition gets the first answer. A contract comes with an ETag, and If-Match
says which one you saw. If several of your roles may do something, name one in Acting-Role. Refusals are problem
documents; switch on "code".`

// document is the OpenAPI document of the routes as JSON.
func document(routes []endpoint, version string) ([]byte, error) {
	if version == "" {
		version = "0"
	}
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info:    &huma.Info{Title: "Plimsoll", Version: version, Description: about},
		Servers: []*huma.Server{{URL: "/"}},
		Components: &huma.Components{
			Schemas: registry,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {Type: "http", Scheme: "bearer", Description: "A token of plimsoll token create."},
			},
		},
	}
	problem := registry.Schema(reflect.TypeFor[Problem](), true, "Problem")
	for _, e := range routes {
		o := &huma.Operation{
			OperationID: e.op.ID, Method: e.op.Method, Path: e.op.Path, Tags: []string{tag(e.op)},
			Parameters: parameters(registry, e),
			Responses: map[string]*huma.Response{
				strconv.Itoa(e.op.Success): success(registry, e),
				"default":                  {Description: "Refused.", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: problem}}},
			},
		}
		if e.op.Scope != "" {
			o.Security = []map[string][]string{{"token": {}}}
			o.Description = "Scope: " + string(e.op.Scope) + "."
			if roles := e.op.Roles.List(); len(roles) > 0 {
				o.Description += " Roles: " + e.op.Roles.String() + "."
			}
		}
		o.RequestBody = requestBody(registry, e)
		doc.AddOperation(o)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return text, nil
}

// schemaName tells a page of one thing from a page of another.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name, of, ok := strings.Cut(t.Name(), "["); ok {
		of = strings.TrimSuffix(of, "]")
		return strings.ToUpper(name[:1]) + name[1:] + of[strings.LastIndexByte(of, '.')+1:]
	}
	if t.Name() == "body" || t.Name() == "blocking" {
		return huma.DefaultSchemaNamer(reflect.TypeFor[struct{}](), hint)
	}
	// A type of another package may have the name of one of ours.
	if own := reflect.TypeFor[Problem]().PkgPath(); t.PkgPath() != "" && t.PkgPath() != own && t.Name() != "" {
		of := path.Base(t.PkgPath())
		return strings.ToUpper(of[:1]) + of[1:] + t.Name()
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// tag is the resource an operation belongs to: the noun of its id.
func tag(o operation.Operation) string {
	noun, _, _ := strings.Cut(o.ID, ".")
	return noun
}

func parameters(registry huma.Registry, e endpoint) []*huma.Param {
	list := []*huma.Param{}
	add := func(in, name, doc string, required bool, s *huma.Schema) {
		if s.Ref == "" {
			s.Description = ""
		}
		list = append(list, &huma.Param{Name: name, In: in, Description: doc, Required: required, Schema: s})
	}
	text := func(pattern string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Pattern: pattern} }
	if t := e.types.parameters; t != nil && t.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(t) {
			in, name := place(f)
			if in == "" || f.Anonymous {
				continue
			}
			add(in, name, f.Tag.Get("doc"), in == "path" || f.Tag.Get("required") == "true", parameterSchema(registry, f))
		}
	}
	if e.types.paged {
		least, most := 1.0, float64(maxLimit)
		add("query", "limit", "Items of a page.", false, &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most, Default: defaultLimit})
		add("query", "cursor", "The next of the page before; it carries the filters.", false, text(""))
	}
	if e.op.Key {
		add("header", "Idempotency-Key", "A repetition under the same key gets the first answer.", true, text("^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$"))
	}
	if !e.op.Roles.Empty() {
		add("header", "Acting-Role", "Needed when several of your roles may do this.", false, text(""))
	}
	if e.op.Match != operation.Unread {
		add("header", "If-Match", "The entity tag you saw.", e.op.Match == operation.Demanded, text(""))
	}
	return list
}

func parameterSchema(registry huma.Registry, f reflect.StructField) *huma.Schema {
	if f.Type == timeType {
		return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
	}
	s := huma.SchemaFromField(registry, f, "")
	return &huma.Schema{Type: s.Type, Items: s.Items, Format: s.Format}
}

func requestBody(registry huma.Registry, e endpoint) *huma.RequestBody {
	media := e.media
	if media == noMedia {
		return nil
	}
	s := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	if e.types.body != nil {
		s = registry.Schema(e.types.body, true, bodyName(e.op.ID))
	}
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{media: {Schema: s}}}
}

// bodyName is the name of the schema of a body: "gate.decide" has GateDecideBody.
func bodyName(id string) string {
	words := strings.Split(id, ".")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "") + "Body"
}

func success(registry huma.Registry, e endpoint) *huma.Response {
	r := &huma.Response{Description: http.StatusText(e.op.Success)}
	media := e.types.media
	if len(media) == 0 && e.types.answer != nil {
		media = []string{jsonMedia}
	}
	for _, m := range media {
		if r.Content == nil {
			r.Content = map[string]*huma.MediaType{}
		}
		s := &huma.Schema{Type: huma.TypeString}
		if m == jsonMedia {
			s = &huma.Schema{}
			if e.types.answer != nil {
				s = registry.Schema(e.types.answer, true, bodyName(e.op.ID))
			}
		}
		r.Content[m] = &huma.MediaType{Schema: s}
	}
	if slices.Contains([]reflect.Type{typeOf[Contract](), typeOf[Actor](), typeOf[Webhook](), typeOf[Outcome](), typeOf[Circle](), typeOf[Clan](), typeOf[clan.Package]()}, e.types.answer) {
		r.Headers = map[string]*huma.Param{"ETag": {Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	return r
}
