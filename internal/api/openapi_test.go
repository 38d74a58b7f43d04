package api_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline/operation"
)

func TestTheDocumentIsTheTable(t *testing.T) {
	w := newWorld(t, nil)
	got := w.do(request{method: "GET", path: "/openapi.json"})
	if got.Code != 200 || got.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s", got.Code, got.Header())
	}
	var doc struct {
		OpenAPI string
		Info    struct{ Version string }
		Paths   map[string]map[string]struct {
			OperationID string
			Parameters  []struct {
				Name, In string
				Required bool
			}
			RequestBody *struct{ Content map[string]any }
			Responses   map[string]any
			Security    []map[string][]string
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(got.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || doc.Info.Version != "1.2.3" {
		t.Errorf("%s, version %s", doc.OpenAPI, doc.Info.Version)
	}
	count := 0
	for _, methods := range doc.Paths {
		count += len(methods)
	}
	if count != len(operation.Every()) {
		t.Errorf("%d operations in the document", count)
	}
	for _, o := range operation.Every() {
		in, ok := doc.Paths[o.Path][strings.ToLower(o.Method)]
		if !ok || in.OperationID != o.ID {
			t.Errorf("%s is not in the document", o.ID)
			continue
		}
		if in.Responses[strconv.Itoa(o.Success)] == nil || in.Responses["default"] == nil {
			t.Errorf("%s: answers %v", o.ID, in.Responses)
		}
		if (len(in.Security) > 0) != (o.Scope != "") {
			t.Errorf("%s: security %v", o.ID, in.Security)
		}
		required := func(name string) bool {
			return slices.ContainsFunc(in.Parameters, func(p struct {
				Name, In string
				Required bool
			},
			) bool {
				return p.Name == name && p.Required
			})
		}
		if required("Idempotency-Key") != o.Key || required("If-Match") != (o.Match == operation.Demanded) {
			t.Errorf("%s: parameters %+v", o.ID, in.Parameters)
		}
		for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(o.Path, -1) {
			if !required(m[1]) {
				t.Errorf("%s does not name the parameter %s", o.ID, m[1])
			}
		}
		if _, ok := sample[o.ID]; ok && in.RequestBody == nil {
			t.Errorf("%s has no body", o.ID)
		}
	}
	// A reference that leads nowhere breaks every generator.
	for _, m := range regexp.MustCompile(`"\$ref":"#/components/schemas/([^"]+)"`).FindAllStringSubmatch(got.Body.String(), -1) {
		if doc.Components.Schemas[m[1]] == nil {
			t.Errorf("the schema %s is not there", m[1])
		}
	}
}

func TestThePageLoadsNothingFromElsewhere(t *testing.T) {
	w := newWorld(t, nil)
	got := w.do(request{method: "GET", path: "/docs"})
	policy := got.Header().Get("Content-Security-Policy")
	if got.Code != 200 || !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("%d %s", got.Code, policy)
	}
	page := got.Body.String()
	if m := regexp.MustCompile(`(src|href)="(https?:)?//`).FindString(page); m != "" {
		t.Errorf("the page loads %s", m)
	}
	// What the policy allows by digest is what the page holds.
	if n := strings.Count(page, "<script>") + strings.Count(page, "<style>"); n != 2 || strings.Count(policy, "'sha256-") != 2 {
		t.Errorf("%d inline parts, policy %s", n, policy)
	}
	if strings.Contains(page, "innerHTML") || regexp.MustCompile(`\son\w+=`).MatchString(page) {
		t.Error("the page makes markup of text")
	}
}
