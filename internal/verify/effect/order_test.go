package effect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// A tool that promises to read and is called like an order is asked about,
// whatever kind of source it stands in (§6.1).
func TestANameThatIsAnOrderOutranksThePromiseToRead(t *testing.T) {
	for name, want := range map[string]effect.Effect{
		"wipe_disk": effect.Destructive, "drop_table": effect.Destructive, "purge_queue": effect.Destructive, "erase-all": effect.Destructive,
		"truncateLogs": effect.Destructive, "destroy_vm": effect.Destructive, "delete_user": effect.Destructive, "removeUser": effect.Destructive,
		"KILL_JOB": effect.Destructive, "terminate": effect.Destructive, "revoke_key": effect.Destructive, "delete_payment": effect.Destructive,
		"shop.wipe_disk": effect.Destructive, "wipe.disk": effect.Destructive, "shop/wipe": effect.Destructive, "mcp__shop__wipe_disk": effect.Destructive,
		"shop:wipeDisk2": effect.Destructive, "Wipe disk": effect.Destructive, "_wipe": effect.Destructive, "wipe.disk.status": effect.Destructive,

		"transfer_money": effect.FinancialWrite, "pay_invoice": effect.FinancialWrite, "issue_refund": effect.FinancialWrite,
		"refund": effect.FinancialWrite, "charge_card": effect.FinancialWrite, "withdraw": effect.FinancialWrite, "createInvoice": effect.FinancialWrite,
		"send_billing_data": effect.FinancialWrite, "shop.issueRefund": effect.FinancialWrite, "refund_status_change": effect.FinancialWrite,

		"run_sql": effect.CodeExecution, "runSQLQuery": effect.CodeExecution, "exec-command": effect.CodeExecution, "eval_code": effect.CodeExecution,
		"execute_script": effect.CodeExecution, "db.run_query": effect.CodeExecution, "HTTPTool.runQuery": effect.CodeExecution,

		"create_bin": effect.Write, "update_bin": effect.Write, "sendNote": effect.Write, "issue_ticket": effect.Write, "write_file": effect.Write,
		"issue_write": effect.Write, "issue_read_write": effect.Write,
	} {
		for _, kind := range []string{"mcp", "mcp_server_code", "openai_api", "sdk_function", "google_adk_function", "n8n_ai_tool", "crewai_prebuilt_tool"} {
			a := action(t, resolve(t, bound, reading(made(kind, "kit", name, note("readOnlyHint", true)))), name)
			what := name + " in " + kind
			same(t, what, string(a.Effect), string(want))
			same(t, what+", control effects", control(a), "read")
			same(t, what+", issues", kinds(a.Assessment.Issues), effect.InferredEffectOnly)
			for _, c := range a.Assessment.Claims {
				if c.Value == string(want) && (c.Eligible || c.Basis != effect.InferredKeyword) {
					t.Errorf("%s: a word is proof: %+v", what, c)
				}
			}
		}
		a := action(t, resolve(t, bound, reading(operation("GET", "/x", name))), name)
		same(t, name+", an HTTP GET", string(a.Effect)+" "+kinds(a.Assessment.Issues), string(want)+" "+effect.InferredEffectOnly)
	}
}

func TestANameThatIsNoOrderAsksNothing(t *testing.T) {
	for _, name := range []string{
		"list_payments", "get_refund", "search_wiped", "payment_status", "show_drop", "wiped_disks", "killer_list", "transfers",
		"refund_status", "refund_status_lookup", "issue_read", "issue.list", "transferHistory", "charge_details", "drop_info", "transfer_to_billing_agent", "transferToHuman",
		"run_report", "run", "queries_run", "run_queried", "sqlRun", "commander", "payee", "payments.list", "bins_create",
		"creates_bin", "updates", "shop.list_payments", "disk_wipe", "erasers", "__", "...", "7", "é_wipé",
	} {
		for _, text := range []string{"", "Tells what others may wipe, drop, pay, transfer or run as SQL."} {
			t.Run(name+text, func(t *testing.T) {
				s := resolve(t, bound, reading(made("mcp", "kit", name, note("readOnlyHint", true), saying(text))))
				same(t, "issues", kinds(action(t, s, name).Assessment.Issues), "")
				same(t, "effect", string(action(t, s, name).Effect), "read")
			})
		}
	}
}

// Proof and people are at least as strong as a name, or the question stays.
func TestWhatAnswersANameThatIsAnOrder(t *testing.T) {
	read := note("readOnlyHint", true)
	for _, c := range []struct {
		name     string
		tool     tool.Tool
		manifest string
		issues   string
		open     int
	}{
		{"a promise to read", listed("wipe_disk", read), "", effect.InferredEffectOnly, 1},
		{"the hint that it destroys", listed("wipe_disk", note("destructiveHint", true)), "", "", 0},
		{"a DELETE", operation("DELETE", "/x", "wipe_disk"), "", "", 0},
		{"a PUT is less", operation("PUT", "/x", "wipe_disk"), "", effect.InferredEffectOnly, 1},
		{"a PUT that updates", operation("PUT", "/x", "update_bin"), "", "", 0},
		{"a GET that updates", operation("GET", "/x", "update_bin"), "", effect.InferredEffectOnly, 1},
		{"the scope to delete", listed("wipe_disk", scopes("disk:delete")), "", "", 0},
		{"the scope to write", listed("wipe_disk", scopes("disk:write")), "", effect.InferredEffectOnly, 1},
		{"a permission class", listed("transfer_money", note("permission_class", "financial")), "", "", 0},
		{"nothing else", listed("wipe_disk"), "", effect.InferredEffectOnly, 1},
		{"a declaration", listed("wipe_disk"), "action_surface: {actions: [{tool: wipe_disk, effect: destructive}]}", "", 0},
		{
			"a lower declaration leaves it open", listed("wipe_disk"),
			"action_surface: {actions: [{tool: wipe_disk, effect: read}]}", "", 1,
		},
		{
			"one that says why closes it", listed("wipe_disk"),
			"action_surface: {actions: [{tool: wipe_disk, effect: read, override: {evidence: e, reason: r}}]}", "", 0,
		},
		{
			"a tag taken away", listed("wipe_disk", read),
			"risk_overrides: {tools: {wipe_disk: {remove_tags: [destructive], reason: a game}}}", "", 0,
		},
		{
			"another tag taken away", listed("wipe_disk", read),
			"risk_overrides: {tools: {wipe_disk: {remove_tags: [write], reason: a game}}}", effect.InferredEffectOnly, 1,
		},
		{
			"a preview in code", function("wipe_preview", read, func(t *tool.Tool) { t.Confidence = tool.High }), "", "", 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := action(t, resolve(t, bound+c.manifest+"\n", reading(c.tool)), c.tool.Name)
			same(t, "issues", kinds(a.Assessment.Issues), c.issues)
			if open := a.Assessment.Unproven(); len(open) != c.open {
				t.Errorf("open: %+v", open)
			}
		})
	}
}

// A name is a claim and no hint: what grades and permission classes rest on
// stays as it is.
func TestANameGradesNothing(t *testing.T) {
	got := resolve(t, header, reading(listed("wipe_disk"))).Catalog[0]
	same(t, "hints", hints(got), "")
	same(t, "classes", strings.Join(got.Classes, " "), effect.ClassUnknown)
	if got.WriteTool() || got.HighRisk() {
		t.Error("a name alone makes a writing tool")
	}
}

// What other words claim is claimed once.
func TestANameAddsNothingToWordsThatSayTheSame(t *testing.T) {
	a := action(t, resolve(t, bound, reading(listed("delete_bin", note("readOnlyHint", true)))), "delete_bin")
	same(t, "claims", claimed(a), "destructive/inferred_keyword read/typed_provider_fact!")
}

// The way a name is spelt, and what it stands behind, changes no claim.
func TestTheSpellingOfANameChangesNoClaim(t *testing.T) {
	word := rapid.SampledFrom([]string{"wipe", "pay", "run", "sql", "create", "invoice", "list", "bin", "refund", "status", "issue", "query"})
	space := rapid.SampledFrom([]string{"", "shop.", "shop/", "shop:", "mcp__shop__", "Shop."})
	m := load(t, bound)
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(word, 1, 4).Draw(t, "words")
		camel := ""
		for i, w := range list {
			if i > 0 {
				w = strings.ToUpper(w[:1]) + w[1:]
			}
			camel += w
		}
		prefix := space.Draw(t, "namespace")
		said := ""
		for i, name := range []string{
			strings.Join(list, "_"), strings.Join(list, "-"), camel, strings.ToUpper(strings.Join(list, "_")), prefix + strings.Join(list, "_"), prefix + camel,
		} {
			s, err := effect.Resolve(m, reading(made("mcp", "kit", name, note("readOnlyHint", true))))
			if err != nil {
				t.Fatal(err)
			}
			var values []string
			for _, c := range s.Actions[0].Assessment.Claims {
				if c.Source == "name" {
					values = append(values, c.Value)
				}
				if c.Source == "name" && (c.Eligible || c.Basis != effect.InferredKeyword || c.Confidence != tool.Medium) {
					t.Fatalf("%s: %+v", name, c)
				}
			}
			if got := fmt.Sprint(values); i == 0 {
				said = got
			} else if got != said {
				t.Fatalf("%q says %s, spelt %q it says %s", strings.Join(list, "_"), said, name, got)
			}
		}
	})
}

// No order is proof: with any name the control effects are those without one.
func TestNoNameMovesAControl(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := anyTool(t, 0)
		plain := one
		one.Name = rapid.StringMatching(`([a-z]{0,4}[._/:-]){0,2}(wipe|pay|run|create|issue)[A-Z_.]?(sql|refund|list)?`).Draw(t, "name")
		plain.Name = "bin"
		m := anyManifest(t)
		m.Surface.Actions, m.Risks, m.Policies.Approval = nil, nil, nil
		a, b := resolved(t, m, &tool.Reading{Tools: []tool.Tool{one}}), resolved(t, m, &tool.Reading{Tools: []tool.Tool{plain}})
		for i := range a.Actions {
			if x, y := a.Actions[i].Assessment.Control, b.Actions[i].Assessment.Control; !slices.Equal(x, y) {
				t.Fatalf("%s: %v, without the name %v", one.Name, x, y)
			}
		}
	})
}
