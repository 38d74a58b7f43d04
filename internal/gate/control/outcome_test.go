package control_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/control"
)

func TestAVerificationConcludes(t *testing.T) {
	person := &control.Person{Why: "A person decides.", Reviewers: []string{"b", "a", "b"}}
	stop := &control.Person{Why: "It may not happen.", Stop: true}
	repair := &control.Action{Kind: control.Repair, Command: "agents-shipgate verify --json", Why: "w"}
	fetch := &control.Action{Kind: control.FetchBase, Expects: "origin/main", Why: "w"}
	for _, c := range []struct {
		name    string
		outcome control.Outcome
		state   control.State
		publish bool
	}{
		{"nothing is open", control.Outcome{Evaluated: true, Publishable: true}, control.Complete, true},
		{"a person decides, the agent may publish", control.Outcome{Person: person, Publishable: true, Rerun: "r"}, control.ReviewPublishable, true},
		{"a person decides, nothing may be published", control.Outcome{Person: person}, control.HumanReviewRequired, false},
		{"it may not happen, whatever else holds", control.Outcome{Person: stop, Publishable: true}, control.HumanReviewRequired, false},
		{"a person stands before every route", control.Outcome{Person: person, Route: repair}, control.HumanReviewRequired, false},
		{"a repair", control.Outcome{Route: repair, Publishable: true}, control.AgentActionRequired, true},
		{"a repair of what blocks", control.Outcome{Route: repair}, control.AgentActionRequired, false},
		{"a base to fetch gives nothing", control.Outcome{Route: fetch, Publishable: true}, control.AgentActionRequired, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.outcome.Reason = "because"
			got, err := control.Conclude(c.outcome)
			if err != nil {
				t.Fatal(err)
			}
			if got.State() != c.state || got.Permissions().UpdatePR != c.publish || got.Permissions().Merge != (c.state == control.Complete) {
				t.Errorf("%s, permissions %+v", got.State(), got.Permissions())
			}
			if _, _, who := got.HumanReview(); c.outcome.Person == person && !slices.Equal(who, []string{"a", "b"}) {
				t.Errorf("reviewers %v", who)
			}
		})
	}
}

func TestAContradictionHasNoControl(t *testing.T) {
	repair := &control.Action{Kind: control.Repair, Command: "c", Why: "w"}
	for name, o := range map[string]control.Outcome{
		"no reason":                        {Evaluated: true},
		"evaluated, and a person is asked": {Reason: "r", Evaluated: true, Person: &control.Person{Why: "w"}},
		"evaluated, and there is a route":  {Reason: "r", Evaluated: true, Route: repair},
		"evaluated, and it is owed":        {Reason: "r", Evaluated: true, Owed: true},
		"a person's action for the agent":  {Reason: "r", Route: &control.Action{Kind: control.Review, Why: "w"}},
		"owed, and nothing leads to it":    {Reason: "r", Owed: true},
		"nothing at all":                   {Reason: "r"},
	} {
		if c, err := control.Conclude(o); err == nil {
			t.Errorf("%s: %s", name, c.State())
		}
	}
}

// Whatever the outcome: merge goes with complete alone, and nobody who has to
// stop may do anything.
func TestAConclusionNeverGivesMoreThanItsState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := control.Outcome{
			Reason:      "r",
			Publishable: rapid.Bool().Draw(t, "publishable"), Evaluated: rapid.Bool().Draw(t, "evaluated"),
			Owed: rapid.Bool().Draw(t, "owed"), Rerun: rapid.SampledFrom([]string{"", "c"}).Draw(t, "rerun"),
		}
		if rapid.Bool().Draw(t, "person") {
			o.Person = &control.Person{Why: "w", Stop: rapid.Bool().Draw(t, "stop")}
		}
		if rapid.Bool().Draw(t, "route") {
			o.Route = &control.Action{Kind: rapid.SampledFrom([]control.Kind{control.Verify, control.Repair, control.Configure, control.Review}).Draw(t, "kind"), Command: "c", Why: "w"}
		}
		c, err := control.Conclude(o)
		if err != nil {
			return
		}
		p := c.Permissions()
		if (p.Merge || p.ReportComplete) != (c.State() == control.Complete) || c.MustStop() && p != (control.Permissions{}) {
			t.Fatalf("%s gives %+v", c.State(), p)
		}
		if p.UpdatePR && !o.Publishable && c.State() != control.Complete {
			t.Fatalf("published what may not be: %s", c.State())
		}
		if required, _, _ := c.HumanReview(); required != (o.Person != nil) {
			t.Fatalf("asks a person: %v", required)
		}
	})
}
