package artifact_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

var (
	olha  = circle.Person{ID: "m-olha", Human: true, Active: true}  // who asks
	taras = circle.Person{ID: "m-taras", Human: true, Active: true} // of the council
	ira   = circle.Person{ID: "m-ira", Human: true, Active: true}   // of the council
	ben   = circle.Person{ID: "m-ben", Human: true, Active: true}   // a member
	robot = circle.Person{ID: "robot", Active: true}

	forest = circle.Circle{ID: "c-forest", Name: "Forest", Created: noon}
	quorum = constitution.Quorum{Members: 1, Numerator: 2, Denominator: 3}
)

// roll is the circle's members since the day before.
func roll() circle.Roll {
	since := noon.Add(-24 * time.Hour)
	one := func(who circle.Person, roles ...circle.Role) circle.Member {
		return circle.Member{Circle: "c-forest", Actor: who.ID, Spell: 1, Roles: append([]circle.Role{circle.Plain}, roles...), Since: since}
	}
	return circle.Roll{one(olha, circle.Council, circle.Steward), one(taras, circle.Council), one(ira, circle.Council), one(ben)}
}

// bench is one artifact with its ledger.
type bench struct {
	*testing.T
	a      artifact.Artifact
	roll   circle.Roll
	ledger []artifact.Consent
	now    time.Time
}

func newBench(t *testing.T, change func(m *artifact.Making)) *bench {
	t.Helper()
	m := decision()
	m.ConsentBy = noon.Add(7 * 24 * time.Hour)
	if change != nil {
		change(&m)
	}
	return &bench{T: t, a: made(t, m), roll: roll(), now: noon}
}

func (b *bench) demand() artifact.Demand { return b.a.Demand(&forest, b.roll, quorum, b.now) }

func (b *bench) standing() artifact.Standing {
	return b.a.Stand(b.demand(), b.ledger, b.roll, b.now)
}

func (b *bench) try(who circle.Person, d artifact.Decision, change func(d *artifact.Deciding)) error {
	deciding := artifact.Deciding{ID: "k-" + string(rune('a'+len(b.ledger))), By: who, Decision: d, Digest: b.a.ContentSHA256, StepUp: "totp", Now: b.now}
	if change != nil {
		change(&deciding)
	}
	c, err := b.a.Decide(deciding, b.roll, b.demand(), b.ledger)
	if err == nil {
		b.ledger = append(b.ledger, c)
	}
	return err
}

func (b *bench) says(who circle.Person, d artifact.Decision) {
	b.Helper()
	if err := b.try(who, d, nil); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) revoke(who circle.Person) {
	b.Helper()
	for i, c := range b.ledger {
		if c.Member == who.ID && c.Decision == artifact.Granted {
			var err error
			if b.ledger[i], err = c.Revoke(who, b.now); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func (b *bench) wait(d time.Duration) { b.now = b.now.Add(d) }

// comes is what the ledger comes to, and that the artifact moves exactly then.
func (b *bench) comes(what string, want artifact.Outcome) {
	b.Helper()
	s := b.standing()
	if got := s.Outcome(); got != want {
		b.Errorf("%s: %s, want %s (%+v)", what, got, want, s)
	}
	after, moved := b.a.Settle(s, b.now)
	status := map[artifact.Outcome]artifact.Status{
		artifact.AllGranted: artifact.NeedsConfirmation, artifact.SomeoneNo: artifact.Draft, artifact.TakenBack: artifact.Draft,
		artifact.RanOut: artifact.Draft, artifact.Waiting: artifact.WaitingForConsent,
	}[want]
	if moved != (want != artifact.Waiting) || after.Status != status || moved && status == artifact.Draft && after.Reason == "" {
		b.Errorf("%s: it becomes %s because of %q", what, after.Status, after.Reason)
	}
}

func (b *bench) refused(what string, code problem.Code, err error) {
	b.Helper()
	if got := problem.CodeOf(err); got != code {
		b.Errorf("%s: %v, want %q", what, err, code)
	}
}

func health(m *artifact.Making) {
	m.Flags, m.Concerns = []envelope.Flag{envelope.Health}, []string{"m-ben"}
}

func core(m *artifact.Making) {
	m.Type, m.Scope.Action = envelope.CoreChangeProposal, envelope.CoreChangeDraft
}

func export(m *artifact.Making) {
	m.Type, m.Target = envelope.BridgeDraft, envelope.Public
	m.Scope = artifact.Scope{
		Action: envelope.ExportDraft, Visibility: envelope.Public, Recipients: []artifact.Party{{Kind: artifact.ToOutside, ID: "https://example.org"}},
	}
}

func TestWhatIsCritical(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *artifact.Making)
		want   []artifact.Cause
	}{
		"a decision of the circle": {nil, nil},
		"an export":                {export, []artifact.Cause{artifact.Export, artifact.Raised}},
		"an external action":       {func(m *artifact.Making) { m.Flags = []envelope.Flag{envelope.ExternalAction} }, []artifact.Cause{artifact.Export}},
		"a core change":            {core, []artifact.Cause{artifact.CoreChange}},
		"flagged core change":      {func(m *artifact.Making) { m.Flags = []envelope.Flag{envelope.CoreChange} }, []artifact.Cause{artifact.CoreChange}},
		"for the clan":             {func(m *artifact.Making) { m.Target = envelope.Clan }, []artifact.Cause{artifact.Raised}},
		"to become public":         {func(m *artifact.Making) { m.Scope.Visibility = envelope.Public }, []artifact.Cause{artifact.Raised}},
		"flagged critical":         {func(m *artifact.Making) { m.Flags = []envelope.Flag{envelope.Critical} }, []artifact.Cause{artifact.Flagged}},
		"health":                   {health, []artifact.Cause{artifact.Flagged}},
		"minors":                   {func(m *artifact.Making) { m.Flags = []envelope.Flag{envelope.Minors} }, []artifact.Cause{artifact.Flagged}},
		"one's own health, for oneself": {func(m *artifact.Making) {
			m.Flags, m.Target, m.Scope.Visibility = []envelope.Flag{envelope.Health}, envelope.Private, envelope.Private
		}, nil},
		"money and law": {func(m *artifact.Making) {
			m.Flags = []envelope.Flag{envelope.Finance, envelope.Legal, envelope.Location, envelope.PersonalData}
		}, nil},
	} {
		b := newBench(t, c.change)
		if got := b.a.Critical(); !slices.Equal(got, c.want) {
			t.Errorf("%s is critical because of %v, want %v", name, got, c.want)
		}
		if empty := b.demand().Empty(); empty != (len(c.want) == 0) {
			t.Errorf("%s asks nobody: %v", name, empty)
		}
	}
}

func TestEverybodyConcernedIsAskedOnce(t *testing.T) {
	b := newBench(t, func(m *artifact.Making) {
		health(m)
		m.Concerns = []string{"m-ben", "m-olha", "m-ben"}
	})
	want := []artifact.Owed{{Member: "m-olha", Why: artifact.Requester}, {Member: "m-ben", Why: artifact.PersonalData}}
	if d := b.demand(); !slices.Equal(d.Of, want) || len(d.Council) != 0 || d.StepUp {
		t.Errorf("asked are %+v", d)
	}
	b = newBench(t, core)
	if d := b.demand(); !slices.Equal(d.Council, []string{"m-ira", "m-olha", "m-taras"}) || d.Needed != 2 {
		t.Errorf("of the council asked are %+v", d)
	}
	b = newBench(t, export)
	if d := b.demand(); !d.StepUp || len(d.Of) != 1 {
		t.Errorf("for an export asked are %+v", d)
	}
}

func TestAllGrantedMovesOnAndOneRefusalBack(t *testing.T) {
	b := newBench(t, health)
	b.comes("nobody said anything", artifact.Waiting)
	b.says(olha, artifact.Granted)
	b.comes("one of two", artifact.Waiting)
	b.says(ben, artifact.Refused)
	b.comes("one refused", artifact.SomeoneNo)
	b.wait(time.Minute)
	b.says(ben, artifact.Granted)
	b.comes("they thought again", artifact.AllGranted)
	b.wait(time.Minute)
	b.revoke(ben)
	b.comes("and took it back", artifact.TakenBack)
	b.wait(time.Minute)
	b.says(ben, artifact.Granted)
	b.comes("and gave it again", artifact.AllGranted)
}

func TestSilenceIsNoConsent(t *testing.T) {
	b := newBench(t, health)
	b.says(olha, artifact.Granted)
	b.wait(7*24*time.Hour - 1)
	b.comes("before the deadline", artifact.Waiting)
	b.wait(1)
	b.comes("at the deadline", artifact.RanOut)
	b.refused("after the deadline", problem.ConsentExpired, b.try(ben, artifact.Granted, nil))
	b = newBench(t, core)
	b.says(olha, artifact.Granted)
	b.wait(30 * 24 * time.Hour)
	b.comes("a council that says nothing", artifact.RanOut)
}

func TestAConsentEndsWhenItSays(t *testing.T) {
	b := newBench(t, health)
	b.says(olha, artifact.Granted)
	if err := b.try(ben, artifact.Granted, func(d *artifact.Deciding) { d.ExpiresAt = noon.Add(time.Hour) }); err != nil {
		t.Fatal(err)
	}
	b.wait(time.Hour - 1)
	b.comes("while it lasts", artifact.AllGranted)
	b.wait(1)
	b.comes("when it has ended", artifact.RanOut)
	b.says(ben, artifact.Granted)
	b.comes("given anew", artifact.AllGranted)
	b.refused("one that has ended already", problem.FieldInvalid, b.try(olha, artifact.Refused, func(d *artifact.Deciding) { d.ExpiresAt = b.now }))
}

func TestAConsentIsToExactlyTheseBytes(t *testing.T) {
	b := newBench(t, health)
	b.refused("another digest", problem.ConsentDigestMismatch, b.try(ben, artifact.Granted, func(d *artifact.Deciding) { d.Digest = strings.Repeat("0", 64) }))
	b.says(olha, artifact.Granted)
	b.says(ben, artifact.Granted)
	b.comes("all granted", artifact.AllGranted)
	m := decision()
	health(&m)
	m.Content = []byte(`{"title":"U"}`)
	next, err := b.a.Revise(m, lenient{})
	if err != nil {
		t.Fatal(err)
	}
	b.a = next
	if got := b.standing().Outcome(); got != artifact.Waiting {
		t.Errorf("the consents to the version before count: %s", got)
	}
}

func TestOnlyThoseWhoAreAskedConsentInTheirOwnNameAndOnlyPeople(t *testing.T) {
	b := newBench(t, health)
	b.refused("a robot", problem.HumanRequired, b.try(robot, artifact.Granted, nil))
	b.refused("a robot under a member's name", problem.HumanRequired, b.try(circle.Person{ID: "m-ben", Active: true}, artifact.Granted, nil))
	b.refused("somebody dismissed", problem.HumanRequired, b.try(circle.Person{ID: "m-ben", Human: true}, artifact.Granted, nil))
	b.refused("a stranger", problem.MemberRequired, b.try(circle.Person{ID: "m-eve", Human: true, Active: true}, artifact.Granted, nil))
	b.refused("a member nobody asks", problem.ConsentNotOwed, b.try(taras, artifact.Granted, nil))
	b.refused("a decision that is none", problem.FieldInvalid, b.try(ben, artifact.Revoked, nil))
	b.says(ben, artifact.Granted)
	b.refused("the same again", problem.ConsentDuplicate, b.try(ben, artifact.Granted, nil))
	c := b.ledger[0]
	if c.Member != "m-ben" || c.ArtifactID != "a-1" || c.RequestID != "req-1" || c.Circle != "c-forest" || c.ContentSHA256 != b.a.ContentSHA256 {
		t.Errorf("the record is %+v", c)
	}
	_, err := c.Revoke(olha, noon)
	b.refused("another revokes", problem.ConsentNotOwed, err)
	_, err = c.Revoke(circle.Person{ID: "m-ben", Active: true}, noon)
	b.refused("a robot revokes", problem.HumanRequired, err)
	gone, err := c.Revoke(ben, noon)
	if err != nil || gone.RevokedAt.IsZero() || !gone.Decision.Valid() {
		t.Errorf("%+v, %v", gone, err)
	}
	_, err = gone.Revoke(ben, noon)
	b.refused("twice", problem.ConsentNotGranted, err)
	b.a.Status = artifact.Confirmed
	b.refused("to what is confirmed", problem.TransitionForbidden, b.try(olha, artifact.Granted, nil))
}

func TestAConsentCountsFromSomebodyWhoWasAMemberThen(t *testing.T) {
	b := newBench(t, health)
	b.says(olha, artifact.Granted)
	b.says(ben, artifact.Granted)
	b.wait(time.Hour)
	leaves, err := b.roll.Remove(olha, "m-ben", b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.roll = b.roll.Apply(leaves)
	b.comes("who left after it", artifact.AllGranted)
	b.refused("who left says more", problem.MemberRequired, b.try(ben, artifact.Refused, nil))
	b.ledger[1].DecidedAt = b.now.Add(time.Minute) // as if it had been written by hand
	b.comes("a record of after they left", artifact.Waiting)
	b.ledger[1].DecidedAt = noon.Add(-48 * time.Hour)
	b.comes("a record of before they came", artifact.Waiting)
	b.ledger[1] = b.ledger[0]
	b.ledger[1].Member, b.ledger[1].Circle = "m-ben", "c-lake"
	b.comes("a record of another circle", artifact.Waiting)
}

func TestAConsentAllowsWhatItSaysAndNothingBeyond(t *testing.T) {
	b := newBench(t, export)
	b.refused("without a proof of identity", problem.ConsentStepUp, b.try(olha, artifact.Granted, func(d *artifact.Deciding) { d.StepUp = "" }))
	b.says(olha, artifact.Granted)
	b.comes("as asked", artifact.AllGranted)
	for name, change := range map[string]func(c *artifact.Consent){
		"a narrower level": func(c *artifact.Consent) { c.Scope.Visibility = envelope.Clan },
		"another action":   func(c *artifact.Consent) { c.Scope.Action = envelope.ProposeDecision },
		"another recipient": func(c *artifact.Consent) {
			c.Scope.Recipients = []artifact.Party{{Kind: artifact.ToOutside, ID: "https://example.com"}}
		},
		"nobody":             func(c *artifact.Consent) { c.Scope.Recipients = nil },
		"no proof":           func(c *artifact.Consent) { c.StepUp = "" },
		"another artifact":   func(c *artifact.Consent) { c.ArtifactID = "a-2" },
		"a decision of none": func(c *artifact.Consent) { c.Decision = "yes" },
	} {
		other := *b
		other.ledger = slices.Clone(b.ledger)
		change(&other.ledger[0])
		other.comes(name, artifact.Waiting)
	}
	if err := b.try(olha, artifact.Refused, func(d *artifact.Deciding) { d.StepUp = "" }); err != nil {
		t.Errorf("a refusal needs a proof: %v", err)
	}
	b.comes("a grant and a refusal at one instant", artifact.SomeoneNo)
}

func TestACoreChangeNeedsAQuorumOfTheCouncil(t *testing.T) {
	b := newBench(t, core)
	b.says(olha, artifact.Granted)
	b.comes("one of two", artifact.Waiting)
	b.refused("a member of no council", problem.ConsentNotOwed, b.try(ben, artifact.Granted, nil))
	b.says(taras, artifact.Granted)
	b.comes("two of three", artifact.AllGranted)
	b.says(ira, artifact.Refused)
	b.comes("against the vote of one", artifact.AllGranted)
	b.wait(time.Minute)
	b.says(taras, artifact.Refused)
	b.comes("two against", artifact.SomeoneNo)

	b = newBench(t, core)
	b.says(olha, artifact.Granted)
	b.says(taras, artifact.Granted)
	b.wait(time.Minute)
	leaves, err := b.roll.Give(olha, "m-taras", nil, b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.roll = b.roll.Apply(leaves)
	b.comes("one of them left the council", artifact.Waiting)
	joins, err := b.roll.Give(olha, "m-ben", []circle.Role{circle.Council}, b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.roll = b.roll.Apply(joins)
	b.says(ben, artifact.Granted)
	b.comes("another took the place", artifact.AllGranted)

	b = newBench(t, func(m *artifact.Making) { core(m); m.Concerns = []string{"m-ben"} })
	b.says(olha, artifact.Granted)
	b.says(ben, artifact.Granted) // for the personal data
	b.wait(time.Minute)
	joins, err = b.roll.Give(olha, "m-ben", []circle.Role{circle.Council}, b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.roll = b.roll.Apply(joins)
	b.says(taras, artifact.Granted)
	b.comes("two of four, and one who was not of the council then", artifact.Waiting)
	b.says(ira, artifact.Granted)
	b.comes("three of four", artifact.AllGranted)

	b = newBench(t, core)
	b.roll = circle.Roll{b.roll[3]}
	b.a.Owner = "m-ben"
	b.says(ben, artifact.Granted)
	b.comes("there is no council", artifact.Waiting)
}

func TestConfirmingTakesAMemberTheDigestAndEveryConsent(t *testing.T) {
	b := newBench(t, health)
	confirm := func(who circle.Person) error {
		after, err := b.a.Confirmed(who, b.roll, b.a.ContentSHA256, b.standing(), b.now)
		if (after.Status == artifact.Confirmed) != (err == nil) {
			t.Errorf("%s with %v", after.Status, err)
		}
		return err
	}
	b.refused("while it waits", problem.TransitionForbidden, confirm(olha))
	b.says(olha, artifact.Granted)
	b.says(ben, artifact.Granted)
	b.a.Blocks = []envelope.Condition{envelope.ConsentOwed}
	b.a, _ = b.a.Settle(b.standing(), b.now)
	if b.a.Status != artifact.NeedsConfirmation || len(b.a.Blocks) != 0 {
		t.Fatalf("%s, blocked by %v", b.a.Status, b.a.Blocks)
	}
	b.refused("a robot", problem.HumanRequired, confirm(robot))
	b.refused("a stranger", problem.MemberRequired, confirm(circle.Person{ID: "m-eve", Human: true, Active: true}))
	_, err := b.a.Confirmed(olha, b.roll, "", b.standing(), b.now)
	b.refused("without a digest", problem.DigestMismatch, err)
	_, err = b.a.Confirmed(olha, b.roll, strings.Repeat("a", 64), b.standing(), b.now)
	b.refused("another digest", problem.DigestMismatch, err)
	b.a.Blocks = []envelope.Condition{envelope.VisibilityClash}
	b.refused("while it is blocked", problem.ArtifactBlocked, confirm(olha))
	b.a.Blocks = nil
	b.wait(time.Hour)
	b.revoke(ben)
	b.refused("after a consent was taken back", problem.ConsentMissing, confirm(olha))
	b.says(ben, artifact.Granted)
	after, err := b.a.Confirmed(taras, b.roll, b.a.ContentSHA256, b.standing(), b.now)
	if err != nil || after.ConfirmedBy != "m-taras" || !after.ConfirmedAt.Equal(b.now) || b.a.Status == artifact.Confirmed {
		t.Errorf("%+v, %v", after, err)
	}
	for what, err := range map[string]error{
		"confirmed again": second(after.Confirmed(taras, b.roll, after.ContentSHA256, b.standing(), b.now)),
		"declined":        second(after.Declined(taras, b.roll, b.now)),
		"adopted":         second(after.Adopted(taras, b.roll, b.now)),
	} {
		b.refused(what, problem.TransitionForbidden, err)
	}
	if _, moved := after.Settle(artifact.Standing{Of: []artifact.Line{{Answer: artifact.AnswerRefused}}}, b.now); moved {
		t.Error("a consent moves what is confirmed")
	}
}

func second(_ artifact.Artifact, err error) error { return err }

// A refused artifact is a draft, and a draft can be adopted: that must not be a
// way around the consent.
func TestAdoptingIsNoWayAroundConsent(t *testing.T) {
	b := newBench(t, health)
	b.says(olha, artifact.Granted)
	b.says(ben, artifact.Refused)
	b.a, _ = b.a.Settle(b.standing(), b.now)
	adopted, err := b.a.Adopted(olha, b.roll, b.now)
	if err != nil || adopted.Status != artifact.NeedsConfirmation || adopted.Reason != "" {
		t.Fatalf("%s, %v", adopted.Status, err)
	}
	b.a = adopted
	_, err = b.a.Confirmed(olha, b.roll, b.a.ContentSHA256, b.standing(), b.now)
	b.refused("adopted and confirmed", problem.ConsentMissing, err)
	declined, err := b.a.Declined(taras, b.roll, b.now)
	if err != nil || declined.Status != artifact.Draft || declined.Reason != artifact.Decline {
		t.Errorf("%s, %v", declined.Status, err)
	}
	_, err = declined.Adopted(robot, b.roll, b.now)
	b.refused("a robot adopts", problem.HumanRequired, err)
	_, err = b.a.Declined(robot, b.roll, b.now)
	b.refused("a robot declines", problem.HumanRequired, err)
}

func TestWhatIsPrivateIsItsOwnersAndACoreChangeTheCouncils(t *testing.T) {
	b := newBench(t, func(m *artifact.Making) {
		m.Target, m.Scope.Visibility, m.Status = envelope.Private, envelope.Private, artifact.NeedsConfirmation
	})
	_, err := b.a.Confirmed(taras, b.roll, b.a.ContentSHA256, b.standing(), b.now)
	b.refused("another confirms", problem.RoleRequired, err)
	_, err = b.a.Declined(taras, b.roll, b.now)
	b.refused("another declines", problem.RoleRequired, err)
	if _, err := b.a.Confirmed(olha, b.roll, b.a.ContentSHA256, b.standing(), b.now); err != nil {
		t.Errorf("its owner: %v", err)
	}
	b = newBench(t, core)
	b.says(olha, artifact.Granted)
	b.says(taras, artifact.Granted)
	b.a, _ = b.a.Settle(b.standing(), b.now)
	_, err = b.a.Confirmed(ben, b.roll, b.a.ContentSHA256, b.standing(), b.now)
	b.refused("a member confirms a core change", problem.RoleRequired, err)
	if _, err := b.a.Confirmed(ira, b.roll, b.a.ContentSHA256, b.standing(), b.now); err != nil {
		t.Errorf("one of the council: %v", err)
	}
}

// Whatever people, time and consents do to an artifact: it is confirmed only by a
// member who named its digest while every consent owed stood, and what the
// orchestrator could return is never confirmed.
func TestNothingIsEverConfirmedWithoutEveryConsent(t *testing.T) {
	people := []circle.Person{olha, taras, ira, ben, robot}
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, rapid.SampledFrom([]func(*artifact.Making){nil, health, core, export}).Draw(rt, "kind"))
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			b.now = b.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 30, 24 * 60}).Draw(rt, "minutes")) * time.Minute)
			who := rapid.SampledFrom(people).Draw(rt, "who")
			before := b.a
			after, err := b.a, error(nil)
			confirms := false
			switch rapid.IntRange(0, 6).Draw(rt, "what") {
			case 0:
				_ = b.try(who, rapid.SampledFrom([]artifact.Decision{artifact.Granted, artifact.Granted, artifact.Refused}).Draw(rt, "decision"), func(d *artifact.Deciding) {
					if rapid.Bool().Draw(rt, "ends") {
						d.ExpiresAt = b.now.Add(time.Hour)
					}
				})
			case 1:
				for i, c := range b.ledger {
					if gone, err := c.Revoke(who, b.now); err == nil {
						b.ledger[i] = gone
					}
				}
			case 2:
				after, err = b.a.Adopted(who, b.roll, b.now)
			case 3:
				after, err = b.a.Declined(who, b.roll, b.now)
			case 4:
				confirms = true
				after, err = b.a.Confirmed(who, b.roll, b.a.ContentSHA256, b.standing(), b.now)
			default:
				after, _ = b.a.Settle(b.standing(), b.now)
			}
			if err != nil {
				continue
			}
			if after.Status == artifact.Confirmed && before.Status != artifact.Confirmed {
				if !confirms || !who.Human || b.standing().Outcome() != artifact.AllGranted || before.Status != artifact.NeedsConfirmation {
					rt.Fatalf("%s became confirmed by %+v with %+v", before.Status, who, b.standing())
				}
			}
			if before.Status == artifact.Confirmed && after.Status != artifact.Confirmed {
				rt.Fatalf("confirmed became %s", after.Status)
			}
			b.a = after
		}
	})
}

func TestARecordShowsWhatTheLedgerHolds(t *testing.T) {
	b := newBench(t, export)
	b.says(olha, artifact.Granted)
	want := `{"artifact_id":"a-1","circle_id":"c-forest","consent_id":"k-a","content_sha256":"` + b.a.ContentSHA256 +
		`","decided_at":"2026-03-29T12:00:00.123456Z","decision":"granted","member_id":"m-olha","request_id":"req-1",` +
		`"scope":{"action":"export_draft","recipients":[{"id":"https://example.org","kind":"outside"}],"visibility_level":"public"},"step_up":"totp"}`
	if got := string(b.ledger[0].Document()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
