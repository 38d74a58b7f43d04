package console

import (
	"context"
	"encoding/json"
	"net/url"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// What the boundary said of a change, as people read it.

// finding is one row of a boundary result. Its texts come from outside.
type finding struct {
	Rule    string // its id in the catalogue, "" for one that is not there
	Check   string
	Title   string
	Advice  string
	Path    string
	Line    int64
	Action  string
	Risk    contract.Level // "" when it is none of the four
	Blocks  bool
	RuleURL string
}

// checked is a boundary result.
type checked struct {
	AuditID  string
	State    string
	Files    []string
	Findings []finding
	More     int // rows beyond the most that are shown
}

// findingsMost is how many rows a page shows.
const findingsMost = 200

func readChecked(text []byte) (*checked, bool) {
	var r struct {
		AuditID string   `json:"audit_id"`
		Files   []string `json:"changed_files"`
		Control struct {
			State string `json:"state"`
		} `json:"control"`
		Rows []struct {
			Check  string `json:"check_id"`
			Action string `json:"action"`
			Risk   string `json:"risk_level"`
			Path   string `json:"path"`
			Line   int64  `json:"line"`
			Title  string `json:"title"`
		} `json:"violations"`
	}
	if json.Unmarshal(text, &r) != nil {
		return nil, false
	}
	out := &checked{AuditID: r.AuditID, State: r.Control.State, Files: r.Files, Findings: []finding{}}
	for _, row := range r.Rows {
		if len(out.Findings) == findingsMost {
			out.More++
			continue
		}
		f := finding{Check: row.Check, Title: row.Title, Path: row.Path, Line: row.Line, Action: row.Action, Blocks: row.Action == "block"}
		if l := contract.Level(row.Risk); l.Valid() {
			f.Risk = l
		}
		if known, ok := rule.ByID(row.Check); ok {
			f.Rule, f.Advice, f.RuleURL = known.ID, known.Recommendation, "/rules/"+url.PathEscape(known.CheckID)
			if f.Title == "" {
				f.Title = known.Title
			}
		}
		out.Findings = append(out.Findings, f)
	}
	return out, true
}

// checkedAs is the boundary result with an audit id among the runs of a chain, nil
// where there is none.
func (c *Console) checkedAs(ctx context.Context, runs []*pipeline.Run, auditID string) (*checked, error) {
	if auditID == "" {
		return nil, nil
	}
	for _, run := range runs {
		a, err := c.conf.Contracts.ArtifactGet(ctx, run.ExecutionID, pipeline.BoundaryArtifact)
		if refusal.CodeOf(err) == refusal.RefNotFound || fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if r, ok := readChecked(a.Bytes); ok && r.AuditID == auditID {
			return r, nil
		}
	}
	return nil, nil
}

// gain is what a change may do now that it could not before: a rule, and how often
// it fired.
type gain struct {
	Key   string // of words/, "" for a rule that is not in the catalogue
	Title string
	N     int
}

// gains is the findings by rule, the first that fired first.
func (r *checked) gains() []gain {
	list := []gain{}
	at := map[string]int{}
	for _, f := range r.Findings {
		if i, ok := at[f.Check]; ok {
			list[i].N++
			continue
		}
		at[f.Check] = len(list)
		g := gain{Title: f.Title, N: 1}
		if f.Rule != "" {
			g.Key = "adds." + f.Rule
		}
		list = append(list, g)
	}
	return list
}

// sentence is what a change adds, in one sentence.
func (w *words) sentence(gains []gain) string {
	parts := []string{}
	for _, g := range gains {
		switch {
		case w.has(g.Key):
			parts = append(parts, w.say(g.Key, g.N))
		default:
			parts = append(parts, w.say("adds.other", g.Title))
		}
	}
	if len(parts) > 4 {
		parts = append(parts[:3], w.say("adds.more", len(parts)-3))
	}
	return w.say("adds.sentence", w.enumerate(parts))
}

// enumerate is a list as a sentence has it.
func (w *words) enumerate(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	out := list[0]
	for _, one := range list[1 : len(list)-1] {
		out += ", " + one
	}
	return out + " " + w.say("words.and") + " " + list[len(list)-1]
}

// roles is roles as a sentence has them.
func (w *words) roles(list []contract.Role) string {
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = w.say("role." + string(r))
	}
	return w.enumerate(names)
}

// names is ids as a sentence has them.
func names[T ~string](w *words, list []T) string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = string(id)
	}
	return w.enumerate(out)
}
