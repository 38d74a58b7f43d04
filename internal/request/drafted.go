package request

import (
	"context"
	"encoding/json"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
	"plimsoll.dev/internal/request/worker"
)

// A model writes prose into the drafts of the built-in engine: the words people
// read. Who is asked, who gets something, what is counted and which digest is
// meant stay the engine's, so that whoever talks a model into something has
// spoilt a text, and moved nothing (docs/spec/circle.md §8).

// proseOf is the members of a content that a model may write.
var proseOf = map[envelope.ArtifactType][]string{
	envelope.DecisionDraft:      {"title", "proposal", "reasons", "undo"},
	envelope.ConsentRequest:     {"question"},
	envelope.TestimonyDraft:     {"title", "statement"},
	envelope.CoreChangeProposal: {"title", "reason", "undo"},
	envelope.BridgeDraft:        {"subject", "body"},
	envelope.GiftProposal:       {"message"},
	envelope.ResearchNote:       {"findings"},
	envelope.RitualPlan:         {"title", "purpose", "steps", "materials", "care"},
}

// drafted has the model write what it may of the drafts. A model that is away, or
// whose budget is spent, leaves the engine's own words; the run says so.
func (s *Service) drafted(ctx context.Context, c *claim, r worker.Result) (worker.Result, error) {
	turn := Turn{Run: c.run.ID, Attempt: int(c.run.Attempt), Locale: c.task.Request.Locale, Data: c.data(), Faults: c.task.Faults}
	places := []int{}
	for i, d := range r.Drafts {
		if prose := proseOf[d.Type]; len(prose) > 0 {
			turn.Contract = append(turn.Contract, Blank{Type: d.Type, Content: d.Content, Prose: slices.Clone(prose), Schema: s.conf.Schema(d.Type)})
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		c.run.Engine, c.run.Model = constitution.Builtin, ""
		return r, nil
	}
	answer, err := s.conf.Model.Draft(ctx, c.prompt, turn)
	if err != nil {
		if ctx.Err() == nil && (fault.KindOf(err) == fault.Unavailable || fault.KindOf(err) == fault.Denied) {
			c.run.Engine, c.run.Model = constitution.Builtin, ""
			return r, nil
		}
		return worker.Result{}, err
	}
	if len(answer.Drafts) != len(places) {
		return worker.Result{}, fault.E("request.drafted", fault.Invalid, "the model answered other drafts than it was asked for", nil)
	}
	if answer.Model != "" {
		c.run.Model = clipped(answer.Model, 200)
	}
	out := worker.Result{Drafts: slices.Clone(r.Drafts)}
	for i, p := range answer.Drafts {
		d := &out.Drafts[places[i]]
		if p.Type != d.Type {
			return worker.Result{}, fault.E("request.drafted", fault.Invalid, "the model answered another type than it was asked for", nil)
		}
		if d.Content, err = filled(d.Content, p.Content, proseOf[d.Type]); err != nil {
			return worker.Result{}, err
		}
	}
	return out, nil
}

// filled is a content with the prose of another in its place.
func filled(content, prose []byte, may []string) ([]byte, error) {
	base, err := contract.Parse(content)
	if err != nil {
		return nil, engineFault(err)
	}
	v, err := contract.Parse(prose)
	said, object := v.(map[string]any)
	into, ours := base.(map[string]any)
	if err != nil || !object || !ours {
		return nil, fault.E("request.filled", fault.Invalid, "the model's draft is no JSON object", nil)
	}
	for name, value := range said {
		if !slices.Contains(may, name) {
			return nil, problem.List{problem.At(problem.ContentInvalid, "", "the model wrote a member that is not its own")}
		}
		into[name] = value
	}
	return json.Marshal(into)
}

// data is the texts of a task, each as something that is quoted.
func (c *claim) data() []Data {
	t := c.task
	list := []Data{}
	if t.Request.Text != "" {
		list = append(list, Data{Name: "request", Origin: t.Request.Origin, Text: t.Request.Text})
	}
	for _, d := range t.Facts.Documents {
		if d.Found {
			list = append(list, Data{Name: string(d.Reference.Kind) + " " + d.Reference.ID, Origin: d.Source.Origin, Text: d.Text})
		}
	}
	for _, a := range t.Earlier {
		list = append(list, Data{Name: string(a.Type), Origin: a.Provenance.Origin, Text: string(a.Content)})
	}
	for _, n := range t.Facts.Notes {
		list = append(list, Data{Name: "note " + n.ID, Origin: n.Origin, Text: n.Title + "\n" + n.Text})
	}
	return list
}
