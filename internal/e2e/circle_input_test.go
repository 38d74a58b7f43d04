//go:build unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clone is an envelope of its own.
func clone(e object) object {
	c := maps.Clone(e)
	c["circle_context"] = maps.Clone(contextOf(e))
	return c
}

// What is no envelope is refused with a code and a pointer, every fault at once,
// and nothing has run (docs/spec/circle.md §4).
func TestCircleBadInputIsRefusedWithEveryFaultAtOnce(t *testing.T) {
	g := grow(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"))
	good := g.decision("Let us decide whether the greenhouse opens on Saturdays.")
	if _, err := g.sends("ada", good); err != nil {
		t.Fatal(err)
	}
	before := len(all[pack](t, g.user("ada"), "/v1/requests", nil))
	top := []string{
		"request_id", "circle_context", "visibility_level_target", "sensitivity_flags", "consent_status", "allowed_actions", "expected_output", "input_text",
	}
	inner := []string{"circle_id", "member_id", "channel"}
	type bad struct {
		name, code, path string
		body             any
	}
	cases := []bad{}
	put := func(name, code, path string, change func(e object)) {
		e := clone(good)
		e["request_id"] = "bad"
		change(e)
		cases = append(cases, bad{name, code, path, e})
	}
	wrong := func(v any) any {
		if _, text := v.(string); text {
			return 7
		}
		return "text"
	}
	for _, field := range top {
		put(field+" missing", "request.field_missing", "/"+field, func(e object) { delete(e, field) })
		put(field+" of the wrong type", "request.field_type", "/"+field, func(e object) {
			if field == "expected_output" { // which a single name may stand for
				e[field] = 7
				return
			}
			e[field] = wrong(e[field])
		})
		put(field+" null", "request.field_type", "/"+field, func(e object) { e[field] = nil })
	}
	for _, field := range inner {
		put("circle_context."+field+" missing", "request.field_missing", "/circle_context/"+field, func(e object) { delete(contextOf(e), field) })
		put("circle_context."+field+" of the wrong type", "request.field_type", "/circle_context/"+field, func(e object) { contextOf(e)[field] = wrong(contextOf(e)[field]) })
	}
	put("a field nobody knows", "request.field_unknown", "/status", func(e object) { e["status"] = "confirmed" })
	put("a field nobody knows, within", "request.field_unknown", "/circle_context/role", func(e object) { contextOf(e)["role"] = "steward" })
	put("request_id too long", "request.too_large", "/request_id", func(e object) { e["request_id"] = strings.Repeat("r", 129) })
	put("request_id empty", "request.field_invalid", "/request_id", func(e object) { e["request_id"] = "" })
	put("member_id too long", "request.too_large", "/circle_context/member_id", func(e object) { contextOf(e)["member_id"] = strings.Repeat("m", 300) })
	put("input_text too long", "request.too_large", "/input_text", func(e object) { e["input_text"] = strings.Repeat("a", 65537) })
	put("input_text empty", "request.field_invalid", "/input_text", func(e object) { e["input_text"] = "" })
	put("a level nobody knows", "request.field_invalid", "/visibility_level_target", func(e object) { e["visibility_level_target"] = "galaxy" })
	put("a flag nobody knows", "request.field_invalid", "/sensitivity_flags/0", func(e object) { e["sensitivity_flags"] = []any{"boring"} })
	put("no action", "request.field_invalid", "/allowed_actions", func(e object) { e["allowed_actions"] = []any{} })
	put("an action nobody knows", "request.field_invalid", "/allowed_actions/0", func(e object) { e["allowed_actions"] = []any{"fly"} })
	put("an output without its action", "request.output_not_allowed", "/expected_output/0", func(e object) { e["expected_output"] = []any{"bridge_draft"} })
	text, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	cases = append(cases,
		bad{"no JSON", "request.malformed", "", []byte("{")},
		bad{"a list", "request.field_type", "", []byte("[]")},
		bad{"not UTF-8", "request.not_utf8", "", []byte(strings.Replace(string(text), "greenhouse", "green\xffhouse", 1))},
		bad{"a member twice", "request.field_duplicate", "/request_id", []byte(`{"request_id":"x",` + string(text[1:]))},
		bad{"too large", "request.too_large", "", []byte(`{"request_id":"` + strings.Repeat("a", 1<<20) + `"}`)},
	)
	for _, c := range cases {
		_, err := g.sends("ada", c.body)
		r, ok := errors.AsType[*refusal](err)
		if !ok || r.Code != c.code && !slices.ContainsFunc(r.Errors, func(f fault) bool { return f.Code == c.code && f.Path == c.path }) {
			t.Errorf("%s: %v, want %s at %q", c.name, err, c.code, c.path)
			continue
		}
		if r.Code == c.code && c.path != "" && (r.Path == nil || *r.Path != c.path) && !slices.ContainsFunc(r.Errors, func(f fault) bool { return f.Code == c.code && f.Path == c.path }) {
			t.Errorf("%s: points to %v, want %q", c.name, r.Path, c.path)
		}
	}
	// All at once.
	_, err = g.sends("ada", object{"request_id": 7, "surprise": true})
	if r, ok := errors.AsType[*refusal](err); !ok || len(r.Errors) < 9 {
		t.Errorf("an envelope that is wrong everywhere: %v", err)
	}
	// To execute is a breach, on record.
	e := clone(good)
	e["request_id"], e["allowed_actions"] = "to-execute", []any{"read", "execute"}
	_, err = g.sends("ada", e)
	g.no(err, 403, "policy_breach_detected")
	// The same id with the same request is the same request; with another it is not.
	if again, err := g.sends("ada", good); err != nil || again.RequestID != good["request_id"] {
		t.Errorf("the same again: %v", err)
	}
	other := clone(good)
	other["input_text"] = "Let us decide whether the greenhouse opens on Sundays."
	_, err = g.sends("ada", other)
	g.no(err, 422, "request.id_conflict")
	// Somebody else's name, an agent, a stranger.
	e = clone(good)
	e["request_id"] = "for-lea"
	contextOf(e)["member_id"] = "lea"
	_, err = g.sends("ada", e)
	g.no(err, 403, "request.member_mismatch")
	contextOf(e)["member_id"] = "bot"
	_, err = g.sends("bot", e)
	g.no(err, 403, "circle.human_required")
	contextOf(e)["member_id"] = "dora"
	_, err = g.sends("dora", e)
	g.no(err, 403, "circle.member_required")
	if after := len(all[pack](t, g.user("ada"), "/v1/requests", nil)); after != before {
		t.Errorf("%d requests were kept of what was refused", after-before)
	}
	g.process().stop()
}

// A configuration that is not sound stops the start, and is not taken on a reload:
// the one in use stays (docs/spec/circle.md §2).
func TestCircleABrokenConfigurationIsRefusedAtStartAndOnReload(t *testing.T) {
	s := found(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"))
	dir := filepath.Join(s.dir, "clan")
	s.must(s.command("", "clan", "init", dir))
	registry := filepath.Join(dir, "agents_registry.yaml")
	sound, err := os.ReadFile(registry)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(sound), "heavy: 1", "heavy: 0", 1) + "\nprompt_suffix: Do as I say.\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(registry, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(broken)
	p, ready := s.launch("--clan-config", dir)
	if at, ok := <-ready; ok {
		t.Fatalf("it serves on %s with a broken configuration", at)
	}
	<-p.exited
	log := p.log.String()
	for _, want := range []string{"agents_registry.yaml:", "economy of heavy workers is 0", "prompt_suffix"} {
		if !strings.Contains(log, want) {
			t.Errorf("the start says nothing of %q:\n%s", want, log)
		}
	}
	write(string(sound))
	s.serve("--clan-config", dir)
	root := s.user("root")
	var was, is struct {
		SHA256  string `json:"config_sha256"`
		Economy struct {
			Supporting int `json:"supporting"`
		} `json:"economy"`
	}
	if err := root.get(t.Context(), "/v1/clan/config", &was); err != nil {
		t.Fatal(err)
	}
	write(broken)
	err = root.send(t.Context(), http.MethodPost, "/v1/clan/config/reload", "reload-1", "", nil, nil)
	r, ok := errors.AsType[*refusal](err)
	if !ok || len(r.Errors) < 2 || !strings.Contains(err.Error(), "agents_registry.yaml:") {
		t.Errorf("a broken configuration on a reload: %v", err)
	}
	if err := root.get(t.Context(), "/v1/clan/config", &is); err != nil || is.SHA256 != was.SHA256 {
		t.Errorf("the configuration is %s, was %s, %v", is.SHA256, was.SHA256, err)
	}
	write(strings.Replace(string(sound), "supporting: 1", "supporting: 2", 1))
	err = s.user("ada").send(t.Context(), http.MethodPost, "/v1/clan/config/reload", "reload-2", "", nil, nil)
	if r, ok := errors.AsType[*refusal](err); !ok || r.Status != 403 {
		t.Errorf("ada reloads the configuration: %v", err)
	}
	if err := root.send(t.Context(), http.MethodPost, "/v1/clan/config/reload", "reload-3", "", nil, &is); err != nil || is.SHA256 == was.SHA256 || is.Economy.Supporting != 2 {
		t.Errorf("a sound one: %+v, %v", is, err)
	}
	s.process().stop()
}
