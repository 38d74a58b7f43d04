package delta_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
)

func with(edits ...edit) []edit { return edits }

func set(f func(*effect.Action)) []edit { return []edit{f} }

// Every kind of change of docs/spec/verification.md §11.3, told both ways.
func TestEveryKindOfChangeHasItsDirection(t *testing.T) {
	for _, c := range []struct {
		name          string
		kind, field   string
		before, after []edit
		there, back   delta.Direction
	}{
		{
			"a scope", "scope_changed", "identity.scope", nil, with(scoped("stock:read", "stock:write")),
			delta.Broadened, delta.Narrowed,
		},
		{
			"one scope for another", "authority_scope_changed", "authority.scopes", nil, with(scoped("stock:write")),
			delta.Mixed, delta.Mixed,
		},
		{
			"a broad scope", "broad_scope_changed", "authority.broad_scopes", nil, with(scoped("stock:read", "stock:*")),
			delta.Broadened, delta.Narrowed,
		},
		{
			"an MCP server", "resource_changed", "identity.resource", nil,
			set(func(a *effect.Action) { a.Tool.Annotations = map[string]any{"mcp_server": "erp"} }),
			delta.Broadened, delta.Narrowed,
		},
		{
			"a stronger effect", "effect_changed", "effect.effect", with(does(effect.Write)), with(does(effect.Destructive), tagged("writes_data", "destructive")),
			delta.Broadened, delta.Narrowed,
		},
		{
			"a flag", "effect_flag_changed", "effect.code_execution", with(tagged("writes_data")), with(tagged("writes_data", "code_execution")),
			delta.Broadened, delta.Narrowed,
		},
		{
			"reversibility", "reversibility_changed", "effect.reversibility", with(tagged("writes_data")), with(tagged("writes_data", "irreversible")),
			delta.Broadened, delta.Narrowed,
		},
		{
			"a tag", "risk_changed", "risk_tags", nil, with(tagged("read_only", "network_access")),
			delta.Broadened, delta.Narrowed,
		},
		{
			"approval", "control_changed", "controls.approval_required", set(func(a *effect.Action) { a.Approval = yes("policy") }), nil,
			delta.Broadened, delta.Narrowed,
		},
		{
			"approval declared away", "control_changed", "controls.approval_required",
			set(func(a *effect.Action) { a.Approval = yes("policy") }), set(func(a *effect.Action) { a.Approval = no() }),
			delta.Broadened, delta.Narrowed,
		},
		{
			"confirmation", "control_changed", "controls.confirmation_required", set(func(a *effect.Action) { a.Confirmation = true }), nil,
			delta.Broadened, delta.Narrowed,
		},
		{
			"a control said to be absent", "control_changed", "controls.safeguard_dry_run", nil, set(func(a *effect.Action) { a.DryRun = no() }),
			delta.Unclear, delta.Unclear,
		},
		{
			"an input", "schema_input_added", "schema.input_fields", nil,
			set(func(a *effect.Action) { a.Inputs = []string{"id", "note"} }),
			delta.Broadened, delta.Narrowed,
		},
		{
			"a requirement", "schema_required_input_removed", "schema.required_input_fields", nil,
			set(func(a *effect.Action) { a.RequiredInputs = nil }),
			delta.Broadened, delta.Narrowed,
		},
		{
			"the sort of credentials", "authority_changed", "authority.auth_type", nil,
			set(func(a *effect.Action) { a.AuthType = "api_key" }),
			delta.Unclear, delta.Unclear,
		},
		{
			"the mode of credentials", "authority_changed", "authority.credential_mode", nil,
			set(func(a *effect.Action) { a.Credential = "user" }),
			delta.Unclear, delta.Unclear,
		},
		{
			"a threshold", "control_metadata_changed", "controls.approval_threshold",
			set(func(a *effect.Action) { a.Threshold = "500 EUR" }), set(func(a *effect.Action) { a.Threshold = "900 EUR" }),
			delta.Unclear, delta.Unclear,
		},
		{
			"the mode of the authority", "authority_changed", "semantic_assessment.authority.mode", nil,
			set(func(a *effect.Action) { a.Assessment.AuthorityMode = "ambient" }),
			delta.Unclear, delta.Unclear,
		},
		{
			"how well it is known", "evidence_changed", "semantic_assessment.pass_eligible", nil,
			set(func(a *effect.Action) { a.Assessment.PassEligible = false }),
			delta.EvidenceOnly, delta.EvidenceOnly,
		},
		{
			"a claim", "evidence_changed", "hashes.evidence_hash", nil,
			set(func(a *effect.Action) { a.Assessment.Claims[0].Basis = effect.ProtocolStructure }),
			delta.EvidenceOnly, delta.EvidenceOnly,
		},
		{
			"a line", "evidence_changed", "evidence.source_start_line", nil,
			set(func(a *effect.Action) { a.Tool.Origin.Start = source.Position{Line: 9} }),
			delta.EvidenceOnly, delta.EvidenceOnly,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			there, back := changedBy(t, c.before, c.after)
			kind := map[string]string{
				"schema_input_added": "schema_input_removed", "schema_required_input_removed": "schema_required_input_added",
			}[c.kind]
			if kind == "" {
				kind = c.kind
			}
			for _, one := range []struct {
				row  delta.ChangedFact
				kind string
				want delta.Direction
			}{{there, c.kind, c.there}, {back, kind, c.back}} {
				i := slices.IndexFunc(one.row.Changes, func(s delta.SemanticChange) bool { return s.Kind == one.kind && s.Field == c.field })
				if i < 0 {
					t.Fatalf("no %s of %s among %+v", one.kind, c.field, one.row.Changes)
				}
				if got := one.row.Changes[i]; got.Direction != one.want || got.Rationale == "" {
					t.Errorf("%s of %s is %s (%s), want %s", one.kind, c.field, got.Direction, got.Rationale, one.want)
				}
				if one.row.Direction != one.want {
					t.Errorf("the capability is %s, want %s: %+v", one.row.Direction, one.want, one.row.Changes)
				}
			}
		})
	}
}

// The way to a tool is compared as a whole: nobody can say that another way is
// more or less.
func TestAnotherWayToAToolIsADifferenceThatNobodyCanJudge(t *testing.T) {
	far := surface(action("get_stock"))
	far.Paths["tool_v2_get_stock"] = []string{root, "agent_v1:000000000000000000000002"}
	d := compared(t, locked(t, surface(action("get_stock"))), locked(t, far))
	if len(d.Changed) != 1 || d.Changed[0].Direction != delta.Unclear || !slices.Equal(d.Changed[0].ChangedHashes, []string{"binding_hash"}) {
		t.Fatalf("%s", d.Markdown())
	}
	if rows := delta.Changed(surface(action("get_stock")), far); len(rows) != 1 || rows[0].Direction != delta.Unclear {
		t.Errorf("without locks it is seen as %+v", rows)
	}
	if c := d.Changed[0].Changes[0]; c.Kind != "hash_changed" || c.Field != "hashes.binding_hash" {
		t.Errorf("%+v", c)
	}
}

// A person who declares what the code already shows makes it better known; that
// is no change of what the agent can do.
func TestADeclarationOfWhatIsSoChangesNoCapability(t *testing.T) {
	there, _ := changedBy(t, nil, with(does(effect.Read), func(a *effect.Action) { a.Assessment.EffectStatus = effect.EffectDeclared }))
	if there.Direction != delta.EvidenceOnly || !slices.Equal(there.ChangedHashes, []string{"evidence_hash"}) {
		t.Errorf("%s, %q: %+v", there.Direction, there.ChangedHashes, there.Changes)
	}
}

func TestIdempotencyIsJudgedAsAControl(t *testing.T) {
	there, back := changedBy(t, set(func(a *effect.Action) { a.Idempotency = yes("parameter") }), nil)
	if there.Direction != delta.Broadened || back.Direction != delta.Narrowed {
		t.Errorf("losing idempotency is %s, gaining it %s", there.Direction, back.Direction)
	}
	if !slices.ContainsFunc(there.Changes, func(c delta.SemanticChange) bool { return c.Kind == "idempotency_changed" }) {
		t.Errorf("no idempotency_changed among %+v", there.Changes)
	}
}

func TestDirectionsJoin(t *testing.T) {
	b, n, m, u, e := delta.Broadened, delta.Narrowed, delta.Mixed, delta.Unclear, delta.EvidenceOnly
	for _, c := range []struct {
		of   []delta.Direction
		want delta.Direction
	}{
		{nil, e},
		{[]delta.Direction{e, e}, e},
		{[]delta.Direction{b, e, b}, b},
		{[]delta.Direction{n, e}, n},
		{[]delta.Direction{b, n}, m},
		{[]delta.Direction{u}, u},
		{[]delta.Direction{u, b}, b}, // the worse reading
		{[]delta.Direction{u, n}, u},
		{[]delta.Direction{u, b, n}, m},
		{[]delta.Direction{m, u}, m},
	} {
		if got := delta.Joined(c.of...); got != c.want {
			t.Errorf("%v join to %s, want %s", c.of, got, c.want)
		}
	}
}

func TestJoiningIsAJoin(t *testing.T) {
	some := rapid.SampledFrom([]delta.Direction{delta.Broadened, delta.Narrowed, delta.Mixed, delta.Unclear, delta.EvidenceOnly})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(some, 0, 6).Draw(t, "directions")
		want := delta.Joined(list...)
		if got := delta.Joined(rapid.Permutation(list).Draw(t, "in another order")...); got != want {
			t.Fatalf("the order decides: %s and %s", want, got)
		}
		if got := delta.Joined(append(slices.Clone(list), list...)...); got != want {
			t.Fatalf("saying it twice decides: %s and %s", want, got)
		}
	})
}

func TestOneCapabilityUnderANewIDIsReidentified(t *testing.T) {
	base, head := locked(t, surface(action("get_stock"))), locked(t, surface(action("get_stock", scoped("stock:read", "stock:write"))))
	d := compared(t, base, head)
	if len(d.Reidentified) != 1 || len(d.Added)+len(d.Removed) != 0 {
		t.Fatalf("%s", d.Markdown())
	}
	row := d.Reidentified[0]
	if want := base.Capabilities[0].ID + "->" + head.Capabilities[0].ID; row.ID != want {
		t.Errorf("the id is %s, want %s", row.ID, want)
	}
	if got := row.ChangedHashes; !slices.Equal(got, []string{"identity_hash", "authority_hash"}) {
		t.Errorf("the hashes that differ are %q", got)
	}
}

func TestAnotherToolIsNoReidentification(t *testing.T) {
	d := compared(t, locked(t, surface(action("get_stock"))), locked(t, surface(action("get_stocks"))))
	if len(d.Added) != 1 || len(d.Removed) != 1 || len(d.Reidentified) != 0 {
		t.Errorf("%s", d.Markdown())
	}
}

// Two on one side and one on the other could be paired in two ways; nobody
// guesses.
func TestAmbiguousPairsStayApart(t *testing.T) {
	twice := func(scopes ...string) *effect.Action {
		a := action("get_stock", scoped(scopes...))
		a.ID += scopes[0]
		return a
	}
	base := locked(t, surface(twice("a:read"), twice("b:read")))
	head := locked(t, surface(twice("c:read")))
	d := compared(t, base, head)
	if len(d.Removed) != 2 || len(d.Added) != 1 || len(d.Reidentified) != 0 {
		t.Errorf("%s", d.Markdown())
	}
}

func TestALockEditedByHandHidesNothing(t *testing.T) {
	base := locked(t, surface(action("get_stock")))
	text := bytes.Replace(written(t, base), []byte(`"effect":"read"`), []byte(`"effect":"destructive"`), 1)
	head, err := delta.ReadLock(text)
	if err != nil {
		t.Fatal(err)
	}
	d := compared(t, base, head)
	if len(d.Changed) != 1 || d.Changed[0].Direction != delta.Broadened || !slices.Equal(d.Changed[0].ChangedHashes, []string{"effect_hash"}) {
		t.Errorf("%s", d.Markdown())
	}
}

func TestLocksOfTwoStandardsAreRefusedWithTheCommandThatHelps(t *testing.T) {
	head := locked(t, surface(action("get_stock")))
	base := locked(t, surface(action("get_stock")))
	base.Version, base.Path = "0.4", ".agents-shipgate/capabilities.lock.json"
	for _, pair := range [][2]*delta.Lock{{base, head}, {head, base}} {
		_, err := delta.DiffLocks(pair[0], pair[1])
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Invalid || f.Hint != "shipgate capability export --config shipgate.yaml --out .agents-shipgate/capabilities.lock.json" {
			t.Errorf("the error is %+v", f)
		}
	}
}

// The command is for copying; what stands in a lock file must not become another
// one.
func TestTheCommandHoldsForeignTextAsOneWord(t *testing.T) {
	for config, want := range map[string]string{
		"a b/shipgate.yaml":       "'a b/shipgate.yaml'",
		"x; touch y":              "'x; touch y'",
		"it's $(x)":               `'it'\''s $(x)'`,
		"--help":                  "shipgate.yaml",
		"a\nshipgate scan":        "shipgate.yaml",
		"a\u202eb":                "shipgate.yaml",
		"":                        "shipgate.yaml",
		"agents/one/shipgate.yml": "agents/one/shipgate.yml",
	} {
		head, base := locked(t, surface()), locked(t, surface())
		base.Version, base.Source.ConfigPath = "0.5", config
		_, err := delta.DiffLocks(base, head)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Hint != "shipgate capability export --config "+want+" --out FILE" {
			t.Errorf("%q gives %+v", config, f)
		}
	}
}

func TestNothingDiffersFromItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := locked(t, anySurface(t))
		d := compared(t, l, l)
		if !d.Empty() || d.Summary.Unchanged != len(l.Capabilities) {
			t.Fatalf("%s", d.Markdown())
		}
	})
}

// What is compared action by action is what the locks would say.
func TestChangedIsWhatTheLocksSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := anySurface(t), anySurface(t)
		if rapid.Bool().Draw(t, "mostly the same") {
			head = anotherLike(t, base)
		}
		d := compared(t, locked(t, base), locked(t, head))
		want := slices.Concat(d.Changed, d.Reidentified)
		got := delta.Changed(base, head)
		if len(got) != len(want) {
			t.Fatalf("%d rows, the locks have %d:\n%s", len(got), len(want), d.Markdown())
		}
		for i := range got {
			if got[i].ID != want[i].ID || got[i].Direction != want[i].Direction {
				t.Fatalf("row %d is %s %s, the locks have %s %s", i, got[i].ID, got[i].Direction, want[i].ID, want[i].Direction)
			}
		}
	})
}

func ids(facts []delta.Fact) []string {
	var list []string
	for _, f := range facts {
		list = append(list, f.ID)
	}
	slices.Sort(list)
	return list
}

// Every capability of both sides is in exactly one row.
func TestADifferenceIsAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := locked(t, anySurface(t)), locked(t, anySurface(t))
		d := compared(t, base, head)
		paired := d.Summary.Reidentified + d.Summary.Changed + d.Summary.EvidenceChanged + d.Summary.Unchanged
		if got := d.Summary.Removed + paired; got != len(base.Capabilities) {
			t.Fatalf("%d of %d capabilities of the base: %s", got, len(base.Capabilities), d.Markdown())
		}
		if got := d.Summary.Added + paired; got != len(head.Capabilities) {
			t.Fatalf("%d of %d capabilities of the head: %s", got, len(head.Capabilities), d.Markdown())
		}
	})
}

var mirror = map[delta.Direction]delta.Direction{
	delta.Broadened: delta.Narrowed, delta.Narrowed: delta.Broadened, delta.Mixed: delta.Mixed,
	delta.Unclear: delta.Unclear, delta.EvidenceOnly: delta.EvidenceOnly,
}

// Looked at from the other side what was added is removed and what was broader
// is narrower; what nobody can tell stays so.
func TestTheWayBackMirrorsTheWayThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := locked(t, anySurface(t)), locked(t, anySurface(t))
		there, back := compared(t, base, head), compared(t, head, base)
		if !slices.Equal(ids(there.Added), ids(back.Removed)) || !slices.Equal(ids(there.Removed), ids(back.Added)) {
			t.Fatalf("added and removed are not mirrored:\n%s\n%s", there.Markdown(), back.Markdown())
		}
		directions := func(d *delta.LockDiff, of func(delta.Direction) delta.Direction) map[string][]string {
			all := map[string][]string{}
			for _, row := range slices.Concat(d.Changed, d.Reidentified, d.EvidenceChanged) {
				for _, c := range row.Changes {
					field := c.Field
					if strings.HasPrefix(field, "schema.") {
						v := c.Before
						if v == nil {
							v = c.After
						}
						field += fmt.Sprint(v)
					}
					all[row.Before.Identity.ToolName] = append(all[row.Before.Identity.ToolName], field+" "+string(of(c.Direction)))
				}
			}
			for _, list := range all {
				slices.Sort(list)
			}
			return all
		}
		a := directions(there, func(d delta.Direction) delta.Direction { return mirror[d] })
		b := directions(back, func(d delta.Direction) delta.Direction { return d })
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("changes are not mirrored:\n%v\n%v", a, b)
		}
	})
}

func TestMarkdownKeepsForeignTextInItsPlace(t *testing.T) {
	evil := action("get_stock", func(a *effect.Action) {
		a.Tool.Name = "x` | [click](https://example.org)\n# Passed\u202e @everyone <img>"
		a.Operation = strings.Repeat("long", 100)
	})
	text := string(compared(t, locked(t, surface()), locked(t, surface(evil))).Markdown())
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "Passed") && !strings.HasPrefix(line, "| `x' ' [click]") {
			t.Errorf("foreign text leaves its cell: %q", line)
		}
		if strings.Count(line, "|") != 0 && strings.Count(line, "|") != 6 {
			t.Errorf("a row has %d borders: %q", strings.Count(line, "|"), line)
		}
	}
	if strings.ContainsRune(text, '\u202e') || strings.Contains(text, strings.Repeat("long", 40)) {
		t.Errorf("%q", text)
	}
}

func TestMarkdownSaysWhatChanged(t *testing.T) {
	base := locked(t, surface(action("get_stock"), action("refund", does(effect.FinancialWrite), func(a *effect.Action) { a.Approval = yes("policy") })))
	head := locked(t, surface(action("get_stock"), action("refund", does(effect.FinancialWrite), scoped("orders:*"))))
	text := string(compared(t, base, head).Markdown())
	for _, want := range []string{
		"0 added, 0 removed, 0 changed, 1 reidentified, 0 with other evidence, 1 unchanged",
		"authority.broad_scopes gained `orders:*`", "controls.approval_required `true` → nothing", "| mixed |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	claimed := locked(t, surface(action("get_stock", func(a *effect.Action) { a.Assessment.Claims[0].Basis = effect.ProtocolStructure })))
	if got := string(compared(t, locked(t, surface(action("get_stock"))), claimed).Markdown()); !strings.Contains(got, "| evidence_only | the evidence differs |") {
		t.Errorf("%s", got)
	}
	if got := string(compared(t, base, base).Markdown()); !strings.Contains(got, "Both sides have the same capabilities.") {
		t.Errorf("%s", got)
	}
}

func BenchmarkDiffLocks(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			side := func(e effect.Effect) *delta.Lock {
				var actions []*effect.Action
				for i := range n {
					actions = append(actions, action(fmt.Sprintf("tool_%d", i), does(e)))
				}
				l, err := delta.NewLock(surface(actions...), delta.Meta{})
				if err != nil {
					b.Fatal(err)
				}
				return l
			}
			base, head := side(effect.Write), side(effect.Destructive)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := delta.DiffLocks(base, head); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/tool")
		})
	}
}

func BenchmarkNewLock(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var actions []*effect.Action
			for i := range n {
				actions = append(actions, action(fmt.Sprintf("tool_%d", i)))
			}
			s := surface(actions...)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := delta.NewLock(s, delta.Meta{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/tool")
		})
	}
}
