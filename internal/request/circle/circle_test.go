package circle_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

var (
	noon  = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	olha  = circle.Person{ID: "m-olha", Human: true, Active: true}
	taras = circle.Person{ID: "m-taras", Human: true, Active: true}
	robot = circle.Person{ID: "robot", Active: true}
)

func founded(t *testing.T) (circle.Circle, circle.Roll) {
	t.Helper()
	c, first, err := circle.Found(olha, "c-forest", "Forest", "green", noon)
	if err != nil {
		t.Fatal(err)
	}
	return c, circle.Roll{first}
}

func refused(t *testing.T, what string, code problem.Code, err error) {
	t.Helper()
	if got := problem.CodeOf(err); got != code {
		t.Errorf("%s: %v, want %q", what, err, code)
	}
}

func apply(t *testing.T, r circle.Roll) func(c circle.Change, err error) circle.Roll {
	t.Helper()
	return func(c circle.Change, err error) circle.Roll {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r.Apply(c)
	}
}

func TestACircleBeginsWithItsFounderInEveryRole(t *testing.T) {
	c, r := founded(t)
	m, ok := r.At("m-olha", noon)
	if !ok || !m.Has(circle.Plain) || !m.Has(circle.Council) || !m.Has(circle.Steward) || c.Name != "Forest" || c.Clan != "green" {
		t.Errorf("%+v of %+v", m, c)
	}
	if _, ok := r.At("m-olha", noon.Add(-1)); ok {
		t.Error("a member before the circle was")
	}
	_, _, err := circle.Found(robot, "c", "Forest", "", noon)
	refused(t, "a robot founds", problem.HumanRequired, err)
	_, _, err = circle.Found(circle.Person{ID: "x", Human: true}, "c", "Forest", "", noon)
	refused(t, "somebody inactive founds", problem.HumanRequired, err)
	for _, name := range []string{"", " Forest", "For\x00est", "For\u202eest", string(make([]byte, 201))} {
		_, _, err = circle.Found(olha, "c", name, "", noon)
		refused(t, "the name "+name, problem.FieldInvalid, err)
	}
}

func TestOnlyAStewardAdmitsAndOnlyPeople(t *testing.T) {
	c, r := founded(t)
	_, err := r.Admit(c, olha, robot, nil, noon)
	refused(t, "a robot as member", problem.HumanRequired, err)
	_, err = r.Admit(c, taras, taras, nil, noon)
	refused(t, "a stranger admits", problem.MemberRequired, err)
	_, err = r.Admit(c, circle.Person{ID: "m-olha", Active: true}, taras, nil, noon)
	refused(t, "a robot with a steward's id admits", problem.HumanRequired, err)
	_, err = r.Admit(c, olha, taras, []circle.Role{"king"}, noon)
	refused(t, "an unknown role", problem.FieldInvalid, err)
	_, err = r.Admit(c, olha, taras, []circle.Role{circle.Council, circle.Council}, noon)
	refused(t, "a role twice", problem.FieldInvalid, err)
	r = apply(t, r)(r.Admit(c, olha, taras, []circle.Role{circle.Council}, noon.Add(time.Hour)))
	_, err = r.Admit(c, olha, taras, nil, noon.Add(2*time.Hour))
	refused(t, "twice", problem.MemberExists, err)
	ira := circle.Person{ID: "m-ira", Human: true, Active: true}
	_, err = r.Admit(c, taras, ira, nil, noon.Add(2*time.Hour))
	refused(t, "a councillor admits", problem.RoleRequired, err)
	if got := r.With(circle.Council, noon.Add(time.Hour)); !slices.Equal(got, []string{"m-olha", "m-taras"}) {
		t.Errorf("the council is %v", got)
	}
	if got := r.With(circle.Council, noon); !slices.Equal(got, []string{"m-olha"}) {
		t.Errorf("the council was %v", got)
	}
}

func TestRolesHoldForTheTimeTheyWereHeld(t *testing.T) {
	c, r := founded(t)
	r = apply(t, r)(r.Admit(c, olha, taras, nil, noon))
	_, err := r.Give(taras, "m-taras", []circle.Role{circle.Steward}, noon)
	refused(t, "a member takes a role", problem.RoleRequired, err)
	_, err = r.Give(olha, "m-ira", nil, noon)
	refused(t, "a stranger gets a role", problem.MemberRequired, err)
	_, err = r.Give(olha, "m-olha", []circle.Role{circle.Council}, noon)
	refused(t, "the last steward gives it up", problem.LastSteward, err)
	r = apply(t, r)(r.Give(olha, "m-taras", []circle.Role{circle.Steward}, noon)) // at the same instant
	r = apply(t, r)(r.Give(olha, "m-taras", []circle.Role{circle.Council}, noon.Add(time.Hour)))
	for at, want := range map[time.Duration]circle.Role{0: circle.Steward, time.Hour - 1: circle.Steward, time.Hour: circle.Council} {
		if m, ok := r.At("m-taras", noon.Add(at)); !ok || !m.Has(want) || len(m.Roles) != 2 {
			t.Errorf("after %v: %+v", at, m)
		}
	}
	same, err := r.Give(olha, "m-taras", []circle.Role{circle.Council, circle.Plain}, noon.Add(2*time.Hour))
	if err != nil || same.Begun != nil || same.Ended != nil {
		t.Errorf("the roles somebody has are no change: %+v, %v", same, err)
	}
}

func TestMembersLeaveAndComeBackAndAStewardRemains(t *testing.T) {
	c, r := founded(t)
	r = apply(t, r)(r.Admit(c, olha, taras, nil, noon))
	_, err := r.Remove(taras, "m-olha", noon)
	refused(t, "a member removes another", problem.RoleRequired, err)
	_, err = r.Remove(olha, "m-olha", noon)
	refused(t, "the last steward leaves", problem.LastSteward, err)
	_, err = r.Remove(olha, "m-ira", noon)
	refused(t, "a stranger is removed", problem.MemberRequired, err)
	r = apply(t, r)(r.Remove(taras, "m-taras", noon.Add(time.Hour)))
	_, err = r.Speaks(taras, "consent", noon.Add(time.Hour))
	refused(t, "who left speaks", problem.MemberRequired, err)
	r = apply(t, r)(r.Admit(c, olha, taras, nil, noon.Add(2*time.Hour)))
	for at, want := range map[time.Duration]int64{30 * time.Minute: 1, 90 * time.Minute: 0, 3 * time.Hour: 2} {
		if m, _ := r.At("m-taras", noon.Add(at)); m.Spell != want {
			t.Errorf("after %v: %+v, want the membership %d", at, m, want)
		}
	}
}

// Whatever stewards and members do, a circle has a steward, nobody is a member
// twice at once, and only people ever are.
func TestNoOrderOfChangesLeavesACircleWithoutASteward(t *testing.T) {
	people := []circle.Person{olha, taras, robot, {ID: "m-ira", Human: true, Active: true}, {ID: "m-ben", Human: true}}
	rapid.Check(t, func(t *rapid.T) {
		c, first, err := circle.Found(olha, "c", "C", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		r, now := circle.Roll{first}, noon
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "wait")) * time.Minute)
			by, who := rapid.SampledFrom(people).Draw(t, "by"), rapid.SampledFrom(people).Draw(t, "who")
			given := rapid.SampledFrom([][]circle.Role{nil, {circle.Council}, {circle.Steward}, {circle.Steward, circle.Council}}).Draw(t, "roles")
			var change circle.Change
			var err error
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				change, err = r.Admit(c, by, who, given, now)
			case 1:
				change, err = r.Give(by, who.ID, given, now)
			default:
				change, err = r.Remove(by, who.ID, now)
			}
			if err != nil {
				if problem.CodeOf(err) == "" {
					t.Fatalf("%v has no code", err)
				}
				continue
			}
			r = r.Apply(change)
			if len(r.With(circle.Steward, now)) == 0 {
				t.Fatalf("nobody is left to admit anybody: %+v", r)
			}
			here := r.With(circle.Plain, now)
			if slices.Contains(here, "robot") || slices.Contains(here, "m-ben") || len(slices.Compact(slices.Clone(here))) != len(here) {
				t.Fatalf("the members are %v", here)
			}
		}
	})
}

func TestAQuorumIsMoreThanAHalfOfACouncilThatIsThere(t *testing.T) {
	c, r := founded(t)
	q := constitution.Quorum{Members: 1, Numerator: 2, Denominator: 3}
	for council, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 5: 4, 6: 4, 7: 5, 9: 6} {
		if got := c.Needed(council, q); got != want {
			t.Errorf("of a council of %d, %d are needed, want %d", council, got, want)
		}
	}
	for _, f := range []circle.Fraction{{1, 2}, {0, 1}, {3, 2}, {1, 0}, {-1, -1}, {501, 1001}} {
		_, err := c.SetQuorum(r, olha, &f, noon)
		refused(t, "a quorum that is none", problem.QuorumInvalid, err)
	}
	_, err := c.SetQuorum(r, taras, &circle.Fraction{Numerator: 1, Denominator: 1}, noon)
	refused(t, "a stranger sets it", problem.MemberRequired, err)
	all, err := c.SetQuorum(r, olha, &circle.Fraction{Numerator: 1, Denominator: 1}, noon)
	if err != nil || all.Needed(7, q) != 7 || all.Needed(0, q) != 1 {
		t.Errorf("all of seven are %d, %v", all.Needed(7, q), err)
	}
	if back, err := all.SetQuorum(r, olha, nil, noon); err != nil || back.Needed(6, q) != 4 {
		t.Errorf("the registry's again is %d of 6, %v", back.Needed(6, q), err)
	}
	q.Members = 3
	if got := c.Needed(1, q); got != 3 {
		t.Errorf("at least three are needed, not %d", got)
	}
}

func TestAChannelIsOneWayIn(t *testing.T) {
	console := envelope.Channel{Kind: envelope.Internal, ID: "console"}
	group := envelope.Channel{Kind: envelope.External, ID: "console"}
	ids := map[string]bool{}
	for _, id := range []string{
		circle.ChannelID("c", console, "m-olha"), circle.ChannelID("c", console, "m-taras"), circle.ChannelID("d", console, "m-olha"),
		circle.ChannelID("c", group, "m-olha"), circle.ChannelID("cc", envelope.Channel{Kind: envelope.Internal, ID: "onsole"}, "m-olha"),
	} {
		ids[id] = true
	}
	if len(ids) != 5 {
		t.Errorf("two ways in have one id: %v", ids)
	}
	if circle.ChannelID("c", group, "m-olha") != circle.ChannelID("c", group, "m-taras") {
		t.Error("an external channel is the same for all who write over it")
	}
	if ch := circle.OpenChannel("c", console, "m-olha", "robot", noon); ch.Adapter != "" || ch.Member != "m-olha" || ch.Open() != nil {
		t.Errorf("%+v", ch)
	}
	if ch := circle.OpenChannel("c", group, "m-olha", "robot", noon); ch.Adapter != "robot" || ch.Member != "" {
		t.Errorf("%+v", ch)
	}
}

func TestThreeBreachesInAnHourSuspendAChannelUntilAStewardLiftsIt(t *testing.T) {
	limits := constitution.Limits{Breaches: 3, BreachWindow: time.Hour}
	c, r := founded(t)
	r = apply(t, r)(r.Admit(c, olha, taras, nil, noon))
	ch := circle.OpenChannel("c-forest", envelope.Channel{Kind: envelope.External, ID: "telegram:7"}, "", "robot", noon)
	var seen []circle.Breach
	breach := func(minute int) {
		now := noon.Add(time.Duration(minute) * time.Minute)
		seen = append(seen, circle.Breach{Channel: ch.ID, At: now}, circle.Breach{Channel: "another", At: now})
		ch = ch.Breached(seen, limits, now)
	}
	breach(0)
	breach(30)
	breach(60) // the first was an hour ago
	if ch.Open() != nil {
		t.Error("two within an hour suspend")
	}
	_, err := ch.Lift(r, olha, noon)
	refused(t, "an open channel is lifted", problem.ChannelActive, err)
	breach(61)
	refused(t, "after three within an hour", problem.ChannelSuspended, ch.Open())
	later := noon.Add(48 * time.Hour)
	refused(t, "two days later", problem.ChannelSuspended, ch.Open())
	_, err = ch.Lift(r, taras, later)
	refused(t, "a member lifts it", problem.RoleRequired, err)
	_, err = ch.Lift(r, robot, later)
	refused(t, "its adapter lifts it", problem.HumanRequired, err)
	ch, err = ch.Lift(r, olha, noon.Add(62*time.Minute))
	if err != nil || ch.Open() != nil || ch.LiftedBy != "m-olha" {
		t.Errorf("a steward lifts it: %+v, %v", ch, err)
	}
	breach(63)
	breach(64)
	if ch.Open() != nil {
		t.Error("breaches of before it was lifted count")
	}
	breach(65)
	refused(t, "three more", problem.ChannelSuspended, ch.Open())
}

func TestAStewardDoesNotLiftTheirOwnChannelWhereAnotherCan(t *testing.T) {
	c, r := founded(t)
	own := circle.OpenChannel("c-forest", envelope.Channel{Kind: envelope.Internal, ID: "console"}, "m-olha", "", noon)
	own.Suspended = noon
	if _, err := own.Lift(r, olha, noon); err != nil {
		t.Errorf("the only steward is shut out for ever: %v", err)
	}
	r = apply(t, r)(r.Admit(c, olha, taras, []circle.Role{circle.Steward}, noon))
	_, err := own.Lift(r, olha, noon)
	refused(t, "their own", problem.RoleRequired, err)
	if _, err := own.Lift(r, taras, noon); err != nil {
		t.Errorf("another steward: %v", err)
	}
}
