package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
)

// waits is how much waits for people beside what is done.
type waits struct{ gates, drafts, frozen, consents, requests int }

// together does something n times, some at a time.
func together(n int, do func(int) error) error {
	var all sync.WaitGroup
	errs, slots := make([]error, n), make(chan struct{}, 8)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// wait leaves what waits for lea: gates, drafts, frozen chains and consents.
func (s *service) wait(ctx context.Context, n waits) error {
	for i := range n.drafts {
		id, err := s.asked(ctx, fmt.Sprintf("Change number %d", i))
		if err != nil {
			return err
		}
		s.draft = id
	}
	for i := range n.frozen {
		id, err := s.asked(ctx, fmt.Sprintf("A change that stopped, number %d", i))
		if err == nil {
			_, err = s.Contracts().ActivationDecide(ctx, by("lea", contract.ProjectLead), pipeline.ActivationArgs{ID: id, Version: 1, Decision: contract.Approved})
		}
		if err == nil {
			_, err = s.Contracts().ContractFreeze(ctx, by("root", contract.Admin), pipeline.FreezeArgs{ID: id, Version: 1, Cause: contract.ManualCheck, Reason: "It waits"})
		}
		if err != nil {
			return fmt.Errorf("freeze: %w", err)
		}
	}
	gates := make([]contract.ID, n.gates)
	err := together(n.gates, func(i int) (err error) {
		lines, risk := 40, "high"
		if i == 0 {
			lines = 2000
		}
		if i%5 == 4 {
			risk = "critical"
		}
		gates[i], err = s.gated(ctx, fmt.Sprintf("Change number %d of the agent's tools", i), risk, change(lines))
		return err
	})
	if err != nil {
		return err
	}
	s.gate = gates[0]
	c, err := s.Contracts().ContractGet(ctx, s.gate, 0)
	if err != nil {
		return err
	}
	s.changed = c.Chain
	return s.consents(ctx, n.consents)
}

// change is a diff of so many lines, with what a boundary finding points at.
func change(lines int) string {
	var b strings.Builder
	b.WriteString("diff --git a/.mcp.json b/.mcp.json\nindex 00..11 100644\n--- a/.mcp.json\n+++ b/.mcp.json\n@@ -3,1 +3,2 @@\n   \"a\": 1,\n+  \"b\": {\"command\": \"npx\"}\n")
	const each = 100
	for done := 0; done < lines; done += each {
		n := min(each, lines-done)
		fmt.Fprintf(&b, "diff --git a/code/%d.go b/code/%d.go\nindex 00..11 100644\n--- a/code/%d.go\n+++ b/code/%d.go\n@@ -1,%d +1,%d @@\n", done, done, done, done, n/2, n/2)
		for i := range n / 2 {
			fmt.Fprintf(&b, "-\tif err := before(%d); err != nil {\n+\tif err := after(ctx, %d); err != nil {\n", i, i)
		}
	}
	return b.String()
}

// gated takes a chain to its gate, which waits for a project lead and a security
// reviewer.
func (s *service) gated(ctx context.Context, intent, risk, diff string) (contract.ID, error) {
	chain, err := s.asked(ctx, intent)
	if err != nil {
		return "", err
	}
	if err := s.votes(ctx, chain, "lea", contract.ProjectLead); err != nil {
		return "", err
	}
	var task *contract.TaskSeed
	var judged, gate contract.ID
	see := func(want phase.Phase, is func() bool) error {
		return s.until(ctx, chain, func(c *pipeline.ChainShown) bool {
			for _, x := range c.Contracts {
				switch d := x.Document.(type) {
				case *contract.TaskSeed:
					task = d
				case *contract.Acceptance:
					if d.Status == contract.Passed {
						judged = d.ID
					}
				case *contract.PublishGate:
					gate = d.ID
				}
			}
			return (want == "" || string(c.Chain.Phase) == string(want)) && is()
		})
	}
	result := fmt.Sprintf(`{"schema_version":"shipgate.agent_boundary_result/v2","audit_id":"agent_boundary_1","policy_set_sha256":"ab","changed_files":[".mcp.json"],`+
		`"control":{"state":"review_publishable","next_action":{"kind":"review"}},"violations":[{"id":"v-1","check_id":"SHIP-HOST-BOUNDARY-MCP-SERVER-ADDED",`+
		`"action":"require_review","risk_level":%q,"path":".mcp.json","line":4,"title":"An MCP server was added"}]}`, risk)
	if err := see("", func() bool { return task != nil }); err != nil {
		return "", fmt.Errorf("a task: %w", err)
	}
	work := work{task: task.ID, boundary: result, diff: diff}
	work.phase, work.proofs = phase.Build, []phase.Proof{phase.BuildLog, phase.UnitTestResult}
	if err := s.run(ctx, by("bot", contract.Developer), work); err != nil {
		return "", fmt.Errorf("build: %w", err)
	}
	if err := see(phase.Stabilize, func() bool { return true }); err != nil {
		return "", fmt.Errorf("stabilize: %w", err)
	}
	work.phase, work.proofs, work.criteria = phase.Stabilize, []phase.Proof{phase.IntegrationReport, phase.FailedTestLog}, task.ExecutionPlan
	if err := s.run(ctx, by("bot", contract.CIAgent), work); err != nil {
		return "", fmt.Errorf("stabilize: %w", err)
	}
	if err := see("", func() bool { return judged != "" }); err != nil {
		return "", fmt.Errorf("an acceptance: %w", err)
	}
	for _, who := range []struct {
		id   contract.ActorID
		role contract.Role
	}{{"lea", contract.ProjectLead}, {"sam", contract.SecurityReviewer}, {"rex", contract.ReleaseManager}} {
		if who.role == contract.ReleaseManager && risk != "critical" {
			continue
		}
		if err := s.votes(ctx, judged, who.id, who.role); err != nil {
			return "", err
		}
	}
	err = see("", func() bool { return gate != "" })
	return gate, err
}

// votes has somebody agree to a contract as it stands.
func (s *service) votes(ctx context.Context, id contract.ID, who contract.ActorID, role contract.Role) error {
	c, err := s.Contracts().ContractGet(ctx, id, 0)
	if err != nil {
		return err
	}
	_, err = s.Contracts().ActivationDecide(ctx, by(who, role), pipeline.ActivationArgs{ID: id, Version: c.Ref().Version, Decision: contract.Approved})
	return err
}

// checks is what Stabilize says of the criteria.
func checks(criteria []string) []event.Check {
	var list []event.Check
	for _, c := range criteria {
		list = append(list, event.Check{Criterion: c, Passed: true, Detail: "12 of 12 tests"})
	}
	return list
}

// garden founds a circle, with one answered request.
func (s *service) garden(ctx context.Context) error {
	ada := by("ada", "")
	if _, err := s.Circle().CircleCreate(ctx, ada, request.CircleArgs{ID: "garden", Name: "The garden"}); err != nil {
		return err
	}
	if _, err := s.Circle().MemberSet(ctx, ada, request.MemberArgs{Circle: "garden", Actor: "lea", Roles: []circle.Role{circle.Council}}); err != nil {
		return err
	}
	_, err := s.answered(ctx, 0, "Note how a chain is published, in short.", "memory_note", "read", "draft", "remember")
	return err
}

// answered is a request of ada's, once it has ended.
func (s *service) answered(ctx context.Context, n int, text, expect string, actions ...string) (string, error) {
	words := `"` + strings.Join(actions, `","`) + `"`
	envelope := fmt.Sprintf(`{"request_id":"bench-%d","circle_context":{"circle_id":"garden","member_id":"ada","channel":{"kind":"internal","id":"cli"},"participants":[],"references":[]},`+
		`"visibility_level_target":"circle","sensitivity_flags":[],"consent_status":"not_required","allowed_actions":[%s],"expected_output":[%q],"input_text":%q}`, n, words, expect, text)
	p, err := s.Circle().Ask(ctx, by("ada", ""), []byte(envelope))
	if err != nil {
		return "", err
	}
	for end := time.Now().Add(time.Minute); p.State != request.Ended; time.Sleep(10 * time.Millisecond) {
		if p, err = s.Circle().RequestGet(ctx, by("ada", ""), p.RequestID); err != nil {
			return "", err
		}
		if time.Now().After(end) {
			return "", fmt.Errorf("request %s does not end", p.RequestID)
		}
	}
	return p.RequestID, nil
}

// consents leaves requests whose artifacts wait for lea.
func (s *service) consents(ctx context.Context, n int) error {
	asked := make([]string, n)
	err := together(n, func(i int) (err error) {
		asked[i], err = s.answered(ctx, i+1, fmt.Sprintf("Change the constitution: a quorum of %d members from now on.", i+3), "core_change_proposal",
			"read", "draft", "core_change_draft", "propose_decision", "request_consent")
		return err
	})
	if err != nil || n == 0 {
		return err
	}
	s.request = asked[0]
	list, _, err := s.Circle().ArtifactList(ctx, by("lea", ""), request.ArtifactFilter{Statuses: []artifact.Status{artifact.WaitingForConsent}}, pipeline.Page{})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(a *request.ArtifactShown) bool { return a.WaitsFor == "" })
	if i < 0 {
		return errors.New("nothing waits for a consent")
	}
	s.artifact = list[i].ID
	return nil
}
