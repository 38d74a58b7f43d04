package plimsoll

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/pipeline/contract"
	clan "plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

// piece is an artifact as its document has it.
type piece struct {
	ID         string                `json:"artifact_id"`
	Version    int64                 `json:"version"`
	CircleID   string                `json:"circle_id"`
	Type       envelope.ArtifactType `json:"type"`
	Level      envelope.Level        `json:"visibility_level"`
	Status     string                `json:"status"`
	Reason     string                `json:"reason"`
	Blocked    []string              `json:"blocked_by"`
	Content    json.RawMessage       `json:"content"`
	SHA256     string                `json:"content_sha256"`
	ContractID string                `json:"contract_id"`
	CreatedAt  string                `json:"created_at"`
	Provenance struct {
		Origin    envelope.Origin `json:"origin"`
		RequestID string          `json:"request_id"`
		Worker    string          `json:"worker"`
		Engine    string          `json:"engine"`
		Model     string          `json:"model"`
	} `json:"provenance"`
}

// meaning is what a condition means to who asked.
var meaning = map[envelope.Condition]string{
	envelope.SecretsDetected:  "a secret is in it: nothing was done, and the text is kept without it. Rotate the secret",
	envelope.BreachDetected:   "it asks for what nobody may ask for: nothing was done, and the breach is on record",
	envelope.VisibilityClash:  "more people would see it than may: below is what would have to change",
	envelope.ExportNotPublic:  "something in it is not public and cannot leave: below is what would have to change",
	envelope.ConsentOwed:      "it has no effect before those who are concerned consent",
	envelope.OutputNotAllowed: "a worker answered what it was not asked for, three times: nothing of that was taken",
}

// inWords is a name of the protocol for people.
func inWords(name string) string { return strings.ReplaceAll(name, "_", " ") }

// strong makes a text stand out on a terminal that may be coloured.
func (s *session) strong(text string) string {
	if !s.env.Terminal || s.env.variable("NO_COLOR") != "" || s.env.variable("TERM") == "dumb" {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// outcomes is the artifacts of a request as they are now, by id. The answer says
// how they were when the request ended.
type outcomes map[string]outcome

type outcome struct {
	piece
	Owed []clan.Owed
}

func outcomesOf(ctx context.Context, cl *client, request string) (outcomes, error) {
	all, err := list[api.Outcome](ctx, cl, "/v1/artifacts", url.Values{"request_id": {request}}, 0)
	if err != nil {
		return nil, err
	}
	now := outcomes{}
	for _, o := range all {
		is := outcome{Owed: o.Owed}
		if err := decode(o.Artifact, &is.piece); err != nil {
			return nil, err
		}
		now[is.ID] = is
	}
	return now, nil
}

// later says how something stands now, beside how it was answered.
func later(now, then string) string {
	if now == then || now == "" {
		return inWords(then)
	}
	return inWords(now) + "; " + inWords(then) + " when it was answered"
}

// waits is what the artifacts wait for, the most demanding first, or what became
// of them; "" when none is known.
func (n outcomes) waits() string {
	has := map[string]bool{}
	for _, is := range n {
		has[is.Status] = true
	}
	for _, status := range []artifact.Status{artifact.WaitingForConsent, artifact.NeedsConfirmation, artifact.Confirmed, artifact.Draft} {
		if has[string(status)] {
			return string(status)
		}
	}
	return ""
}

// printPackage prints the answer to a request in plain words, with what became of
// its artifacts since.
func (s *session) printPackage(p *clan.Package, now outcomes) error {
	state := later(now.waits(), string(p.Status))
	if p.State == clan.Running {
		state = "goes on"
	}
	flags := join(p.Flags)
	if err := facts(s.env.Stdout,
		[2]string{"Request", p.RequestID}, [2]string{"Circle", p.CircleID + ", for " + p.MemberID}, [2]string{"Status", state},
		[2]string{"About", inWords(string(p.Intent))}, [2]string{"Sensitive", inWords(flags)}, [2]string{"Seen by", string(p.Target)},
		[2]string{"Came from", outside(p.Origin)}, [2]string{"Done by", workersOf(p)},
	); err != nil {
		return err
	}
	out := &bytes.Buffer{}
	for _, stop := range p.Stops {
		fmt.Fprintf(out, "\nStopped by %s: %s.\n", s.strong(string(stop.Condition)), meaning[stop.Condition])
		if len(stop.HandedTo) > 0 {
			fmt.Fprintf(out, "  handed to %s\n", join(stop.HandedTo))
		}
	}
	if p.Question != "" {
		fmt.Fprintf(out, "\n%s\n", oneLine(p.Question))
	}
	for _, text := range p.Artifacts {
		var a piece
		if err := decode(text, &a); err != nil {
			return err
		}
		out.WriteByte('\n')
		owed := p.Owed
		if is, known := now[a.ID]; known {
			if owed = is.Owed; is.Version == a.Version {
				is.Status = later(is.Status, a.Status)
				a = is.piece
			} else {
				a.Status = fmt.Sprintf("%s; version %d is %s", inWords(a.Status), is.Version, inWords(is.Status))
			}
		}
		if err := s.writePiece(out, &a); err != nil {
			return err
		}
		s.writeOwed(out, &a, owed)
	}
	for _, c := range p.Contracts {
		out.WriteByte('\n')
		s.writeContract(out, &c)
	}
	if p.Hidden > 0 {
		fmt.Fprintf(out, "\n%d more that you may not see.\n", p.Hidden)
	}
	_, err := s.env.Stdout.Write(out.Bytes())
	return err
}

// writeContract writes what a decision of the request became, and the command for
// what it waits for.
func (s *session) writeContract(out *bytes.Buffer, c *clan.ContractShown) {
	state := string(c.State)
	if c.FreezeCause != "" {
		state += " (" + string(c.FreezeCause) + ")"
	}
	if c.Phase != "" {
		state += ", in " + string(c.Phase)
	}
	fmt.Fprintf(out, "%s: %s\n", s.strong(oneLine(fmt.Sprintf("contract %s version %d", c.ContractID, c.Version))), oneLine(state+", from "+c.ArtifactID))
	if c.State == contract.Draft {
		fmt.Fprintf(out, "  a project lead activates it:\n    plimsoll intent approve %s\n", c.ContractID)
	}
	if g := c.Gate; g != nil {
		fmt.Fprintf(out, "  gate %s version %d: %s, risk %s\n", g.GateID, g.Version, g.FinalDecision, g.RiskLevel)
	}
	if n := c.ReleaseNote; n != nil {
		fmt.Fprintf(out, "  release note of %s: %s\n    plimsoll task note %s\n", oneLine(n.ExecutionID), n.SHA256, c.TaskID)
	}
	if c.PublishedAt != nil {
		fmt.Fprintf(out, "  published %s\n", c.PublishedAt.UTC().Format(time.RFC3339))
	}
	for _, r := range c.Results {
		fmt.Fprintf(out, "  result of version %d: %s, written back %s\n", r.Version, r.State, r.At.UTC().Format(time.RFC3339))
	}
}

func outside(o envelope.Origin) string {
	if o == envelope.External {
		return "outside (provenance=external)"
	}
	return ""
}

// workersOf is who had a turn, with what became of it where something was wrong.
func workersOf(p *clan.Package) string {
	list := []string{}
	for _, r := range p.Runs {
		text := string(r.Worker)
		if r.Fault != "" {
			text += " (" + r.Fault + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// writePiece writes an artifact with its exact content.
func (s *session) writePiece(out *bytes.Buffer, a *piece) error {
	by := a.Provenance.Worker
	if a.Provenance.Model != "" {
		by += " with " + a.Provenance.Model
	}
	if a.Provenance.Origin == envelope.External {
		by += ", provenance=external"
	}
	head := fmt.Sprintf("%s %s version %d", inWords(string(a.Type)), a.ID, a.Version)
	fmt.Fprintf(out, "%s: %s\n", s.strong(oneLine(head)), oneLine(fmt.Sprintf("%s, for %s, by %s", inWords(a.Status), a.Level, by)))
	if a.Reason != "" {
		fmt.Fprintf(out, "  it fell back to draft: %s\n", inWords(a.Reason))
	}
	if len(a.Blocked) > 0 {
		fmt.Fprintf(out, "  without effect: %s\n", strings.Join(a.Blocked, ", "))
	}
	if a.ContractID != "" {
		fmt.Fprintf(out, "  it became the contract %s\n", a.ContractID)
	}
	content := bytes.Buffer{}
	if err := json.Indent(&content, a.Content, "  ", "  "); err != nil {
		return err
	}
	fmt.Fprintf(out, "  %s\n  digest %s\n", oneLine(content.String()), oneLine(a.SHA256))
	return nil
}

// writeOwed writes what people have to do about an artifact, with the command for
// each.
func (s *session) writeOwed(out *bytes.Buffer, a *piece, owed []clan.Owed) {
	for _, o := range owed {
		if o.ArtifactID != a.ID {
			continue
		}
		switch o.Kind {
		case clan.OwedConfirmation:
			fmt.Fprintf(out, "  to let exactly this take effect:\n    plimsoll artifact confirm %s --sha256 %s\n", a.ID, o.SHA256)
		case clan.OwedConsent:
			who := o.Member
			if who == "" {
				who = "a member"
			}
			why := ""
			if o.Why != "" {
				why = " (" + inWords(string(o.Why)) + ")"
			}
			answer := ""
			if o.Answer != "" {
				answer = ", so far: " + inWords(string(o.Answer))
			}
			needed := ""
			if o.Needed > 0 {
				needed = fmt.Sprintf("; %d of the council are needed", o.Needed)
			}
			code := ""
			if o.StepUp {
				code = " --code SIX_DIGITS"
			}
			fmt.Fprintf(out, "  %s is asked for consent%s%s%s:\n    plimsoll consent grant %s --sha256 %s%s\n", who, why, answer, needed, a.ID, o.SHA256, code)
		}
	}
}
