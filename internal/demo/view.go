package demo

import (
	"context"
	"net/url"
	"slices"

	"plimsoll.dev/internal/fault"
)

// reader is as whom the story is read: a member of the circle who asked for
// everything in it.
const reader = "ana"

// view is what the service says of one request and of what it led to. It reads
// what it is asked for, once, and keeps the first error that is not "not there".
type view struct {
	ctx    context.Context //nolint:containedctx // of the one step that is looked at
	office Office
	of     string // the request
	err    error

	asked    *asked
	decision *decision
	chain    *chain
}

// asked is a request as its package shows it.
type asked struct {
	State     string `json:"state"`
	Artifacts []struct {
		ID     string `json:"artifact_id"`
		Type   string `json:"type"`
		SHA256 string `json:"content_sha256"`
	} `json:"artifacts"`
	Contracts []struct {
		ReleaseNote *struct {
			SHA256 string `json:"sha256"`
		} `json:"release_note"`
		Results []struct {
			State string `json:"state"`
		} `json:"results"`
	} `json:"contracts"`
}

// decision is a draft of a decision as it stands now.
type decision struct {
	Artifact struct {
		ID         string `json:"artifact_id"`
		Status     string `json:"status"`
		SHA256     string `json:"content_sha256"`
		ContractID string `json:"contract_id"`
	} `json:"artifact"`
	Owed []struct {
		Kind   string `json:"kind"`
		Member string `json:"member_id"`
		Answer string `json:"answer"`
	} `json:"owed"`
}

// vote is one decision of somebody.
type vote struct {
	Actor    string `json:"actorId"`
	Decision string `json:"decision"`
}

// document is what the story asks of a contract.
type document struct {
	ID            string `json:"id"`
	Kind          string `json:"kind"`
	Version       int64  `json:"version"`
	State         string `json:"state"`
	Status        string `json:"status"`
	FinalDecision string `json:"finalDecision"`
	Approvals     []vote `json:"approvals"`
}

// chain is a chain with its contracts.
type chain struct {
	Phase     string `json:"phase"`
	Contracts []struct {
		Contract document `json:"contract"`
		Meta     struct {
			FreezeCause string `json:"freezeCause"`
		} `json:"meta"`
	} `json:"contracts"`
}

// read reads one thing, and says whether it is there.
func (v *view) read(path string, into any) bool {
	if v.err != nil {
		return false
	}
	err := v.office.Read(v.ctx, reader, path, into)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		v.err = err
	}
	return err == nil
}

func (v *view) request() asked {
	if v.asked == nil {
		v.asked = &asked{}
		if !v.read("/v1/requests/"+url.PathEscape(v.of), v.asked) {
			*v.asked = asked{}
		}
	}
	return *v.asked
}

// ended says whether the request has its answer.
func (v *view) ended() bool { return v.request().State == "ended" }

// draft is the draft of the decision that the request led to.
func (v *view) draft() decision {
	if v.decision != nil {
		return *v.decision
	}
	v.decision = &decision{}
	for _, a := range v.request().Artifacts {
		if a.Type == "decision_draft" {
			if !v.read("/v1/artifacts/"+url.PathEscape(a.ID), v.decision) {
				*v.decision = decision{}
			}
		}
	}
	return *v.decision
}

// consented says whether nobody's consent to the decision is owed any more.
func (v *view) consented() bool {
	d := v.draft()
	for _, o := range d.Owed {
		if o.Kind == "consent" && o.Answer != "granted" {
			return false
		}
	}
	return d.Artifact.ID != ""
}

// confirmed says whether the decision became a contract.
func (v *view) confirmed() bool { return v.draft().Artifact.ContractID != "" }

func (v *view) contracts() chain {
	if v.chain != nil {
		return *v.chain
	}
	v.chain = &chain{}
	if intent := v.draft().Artifact.ContractID; intent != "" && !v.read("/v1/chains/"+url.PathEscape(intent), v.chain) {
		*v.chain = chain{}
	}
	return *v.chain
}

// newest is the newest version of a kind of contract in the chain; its ID is
// empty while there is none.
func (v *view) newest(kind string) document {
	var best document
	for _, one := range v.contracts().Contracts {
		if one.Contract.Kind == kind && one.Contract.Version > best.Version {
			best = one.Contract
		}
	}
	return best
}

var phases = []string{"Plan", "Build", "Stabilize", "Refactor", "Publish", "Published"}

// past says whether the chain has left a phase behind.
func (v *view) past(phase string) bool {
	return slices.Index(phases, v.contracts().Phase) > slices.Index(phases, phase)
}

// begun says whether a contract of the kind is no Draft any more.
func (v *view) begun(kind string) bool {
	d := v.newest(kind)
	return d.ID != "" && d.State != "Draft"
}

// activated says whether a Draft was activated or somebody decided on it.
func (v *view) activated(kind, who string) bool {
	d := v.newest(kind)
	if d.ID == "" {
		return false
	}
	return d.State != "Draft" || v.decided(kind, who)
}

// decided says whether somebody decided on the activation of a contract.
func (v *view) decided(kind, who string) bool {
	d := v.newest(kind)
	if d.ID == "" {
		return false
	}
	var list struct {
		Items []vote `json:"items"`
	}
	v.read("/v1/contracts/"+url.PathEscape(d.ID)+"/activations", &list)
	return by(list.Items, who)
}

// reviewed says whether somebody reviewed the work, or nobody needs to any more.
func (v *view) reviewed(who string) bool {
	t := v.newest("TaskSeed")
	if t.ID == "" || v.past("Refactor") {
		return t.ID != ""
	}
	var list struct {
		Items []struct {
			Result struct {
				Reviewer string `json:"reviewer"`
			} `json:"result"`
		} `json:"items"`
	}
	v.read("/v1/tasks/"+url.PathEscape(t.ID)+"/reviews", &list)
	for _, r := range list.Items {
		if r.Result.Reviewer == who {
			return true
		}
	}
	return false
}

// refined says whether a run of Refactor has succeeded.
func (v *view) refined() bool {
	t := v.newest("TaskSeed")
	if t.ID == "" || v.past("Refactor") {
		return t.ID != ""
	}
	var list struct {
		Items []struct {
			ExecutionID string `json:"executionId"`
		} `json:"items"`
	}
	v.read("/v1/runs?"+url.Values{"phase": {"Refactor"}, "outcome": {"succeeded"}, "taskSeedId": {t.ID}}.Encode(), &list)
	return len(list.Items) > 0
}

// agreed says whether somebody decided on the gate.
func (v *view) agreed(who string) bool {
	g := v.newest("PublishGate")
	return g.ID != "" && (g.FinalDecision != "pending" || by(g.Approvals, who))
}

// heard says whether the request has its result.
func (v *view) heard() bool {
	for _, c := range v.request().Contracts {
		if len(c.Results) > 0 {
			return true
		}
	}
	return false
}

// exhausted says whether the task is frozen because its runs died: a story that
// was cut off in the middle of one comes to that.
func (v *view) exhausted() bool {
	task := v.newest("TaskSeed")
	for _, one := range v.contracts().Contracts {
		if one.Contract.ID == task.ID && one.Contract.Version == task.Version && task.State == "Frozen" {
			return one.Meta.FreezeCause == "phase_exhausted"
		}
	}
	return false
}

func by(list []vote, who string) bool {
	return slices.ContainsFunc(list, func(o vote) bool { return o.Actor == who })
}

// value is what a line names in braces.
func (v *view) value(name string) string {
	switch name {
	case "decision":
		return v.draft().Artifact.ID
	case "sha256":
		return v.draft().Artifact.SHA256
	case "intent":
		return v.newest("IntentContract").ID
	case "task":
		return v.newest("TaskSeed").ID
	case "acceptance":
		return v.newest("Acceptance").ID
	case "gate":
		return v.newest("PublishGate").ID
	}
	return ""
}

// member says whether somebody belongs to the circle.
func (v *view) member(who string) bool {
	var c struct {
		Members []struct {
			ID string `json:"member_id"`
		} `json:"members"`
	}
	if !v.read("/v1/circles/"+Circle, &c) {
		return false
	}
	for _, m := range c.Members {
		if m.ID == who {
			return true
		}
	}
	return false
}
