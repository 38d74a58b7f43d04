package artifact

import (
	"cmp"
	"slices"
	"time"

	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// Scope is what a consent allows, and nothing beyond.
type Scope struct {
	Action     envelope.Action
	Visibility envelope.Level
	Recipients []Party // who gets it, where it leaves the circle
}

// Party is somebody who gets something.
type Party struct {
	Kind PartyKind
	ID   string
}

// PartyKind says what a party is.
type PartyKind string

// The kinds of party.
const (
	ToMember  PartyKind = "member"
	ToCircle  PartyKind = "circle"
	ToClan    PartyKind = "clan"
	ToOutside PartyKind = "outside"
)

// covers says whether who consented to s consented to wanted: the same action, to
// be seen no more widely, by nobody else.
func (s Scope) covers(wanted Scope) bool {
	if s.Action != wanted.Action || wanted.Visibility.Wider(s.Visibility) {
		return false
	}
	for _, p := range wanted.Recipients {
		if !slices.Contains(s.Recipients, p) {
			return false
		}
	}
	return true
}

// Decision is what a consent record says.
type Decision string

// The decisions. A record is granted or refused; the member who granted may
// revoke.
const (
	Granted Decision = "granted"
	Refused Decision = "refused"
	Revoked Decision = "revoked"
)

// Valid says whether d is one of the three.
func (d Decision) Valid() bool { return d == Granted || d == Refused || d == Revoked }

// Consent is one record of the ledger (docs/spec/circle.md §7). It is bound to a
// digest: a changed artifact needs it again.
type Consent struct {
	ID            string
	Revision      int64 // of the stored row; 0 before it is stored
	Circle        string
	Member        string
	RequestID     string
	ArtifactID    string
	ContentSHA256 string
	Scope         Scope
	Decision      Decision
	DecidedAt     time.Time
	ExpiresAt     time.Time // zero when it does not end by itself
	RevokedAt     time.Time // set exactly when Decision is Revoked
	StepUp        string    // how identity was proved anew: totp, webauthn; "" when it was not
}

// Deciding is what somebody says about an artifact that needs their consent.
type Deciding struct {
	ID        string
	By        circle.Person
	Decision  Decision
	Digest    string // of the content they saw
	ExpiresAt time.Time
	StepUp    string
	Now       time.Time
}

// Decide is a record for the ledger. It is given by a person who is a member now,
// in their own name, who is asked for it, about exactly the content there is.
// What is granted covers what the artifact would do, and nothing else.
func (a *Artifact) Decide(d Deciding, roll circle.Roll, demand Demand, ledger []Consent) (Consent, error) {
	if _, err := roll.Speaks(d.By, "consent", d.Now); err != nil {
		return Consent{}, err
	}
	stepUp, owed := demand.of(d.By.ID)
	switch {
	case d.Decision != Granted && d.Decision != Refused:
		return Consent{}, problem.At(problem.FieldInvalid, "/decision", "granted or refused is expected")
	case !owed:
		return Consent{}, problem.New(problem.ConsentNotOwed, "nobody asks for your consent to this artifact")
	case a.Status == Confirmed:
		return Consent{}, problem.New(problem.TransitionForbidden, "the artifact is confirmed: consents no longer move it")
	case d.Digest != a.ContentSHA256:
		return Consent{}, problem.New(problem.ConsentDigestMismatch, "the digest is not that of the content: nobody consents to what they did not see")
	case a.overdue(d.Now):
		return Consent{}, problem.New(problem.ConsentExpired, "the deadline has passed: a new version asks again")
	case !d.ExpiresAt.IsZero() && !d.ExpiresAt.After(d.Now):
		return Consent{}, problem.At(problem.FieldInvalid, "/expires_at", "an instant to come is expected")
	case d.Decision == Granted && stepUp && d.StepUp == "":
		return Consent{}, problem.New(problem.ConsentStepUp, "prove your identity anew before you consent to what leaves the circle")
	}
	c := Consent{
		ID: d.ID, Circle: a.Circle, Member: d.By.ID, RequestID: a.Provenance.RequestID, ArtifactID: a.ID, ContentSHA256: a.ContentSHA256,
		Scope: a.Scope, Decision: d.Decision, DecidedAt: d.Now, ExpiresAt: d.ExpiresAt, StepUp: d.StepUp,
	}
	c.Scope.Recipients = slices.Clone(a.Scope.Recipients)
	if last, ok := latest(ledger, a, d.By.ID); ok && last.Decision == d.Decision && last.answer(a, stepUp, roll, d.Now) == Answer(d.Decision) {
		return Consent{}, problem.New(problem.ConsentDuplicate, "you have said so already")
	}
	return c, nil
}

// Revoke is a granted consent that its member takes back. Who left the circle may
// still take back what they gave.
func (c Consent) Revoke(by circle.Person, now time.Time) (Consent, error) {
	switch {
	case !by.Human || !by.Active:
		return c, problem.New(problem.HumanRequired, "only a person can revoke a consent")
	case by.ID != c.Member:
		return c, problem.New(problem.ConsentNotOwed, "only the member who gave a consent can revoke it")
	case c.Decision != Granted:
		return c, problem.New(problem.ConsentNotGranted, "the consent is not granted")
	}
	c.Decision, c.RevokedAt = Revoked, now
	return c, nil
}

// Answer is what a ledger says for one person who is asked.
type Answer string

// The answers: the decisions, and what silence and time make of them.
const (
	Pending       Answer = "pending"
	AnswerGranted Answer = "granted"
	AnswerRefused Answer = "refused"
	AnswerRevoked Answer = "revoked"
	AnswerExpired Answer = "expired"
)

// about says whether a record is about this artifact as it is.
func (c Consent) about(a *Artifact) bool {
	return c.Circle == a.Circle && c.ArtifactID == a.ID && c.ContentSHA256 == a.ContentSHA256
}

// latest is the last thing a member said about an artifact as it is. A record
// that was revoked counts from when it was given: what was said after it stands.
// Of two at one instant the one that is no grant counts.
func latest(ledger []Consent, a *Artifact, member string) (Consent, bool) {
	said := []Consent{}
	for _, c := range ledger {
		if c.Member == member && c.about(a) {
			said = append(said, c)
		}
	}
	if len(said) == 0 {
		return Consent{}, false
	}
	return slices.MaxFunc(said, func(x, y Consent) int {
		return cmp.Or(x.DecidedAt.Compare(y.DecidedAt), no(x)-no(y), cmp.Compare(x.ID, y.ID))
	}), true
}

func no(c Consent) int {
	if c.Decision == Granted {
		return 0
	}
	return 1
}

// answer is what a record is worth now.
func (c Consent) answer(a *Artifact, stepUp bool, roll circle.Roll, now time.Time) Answer {
	_, member := roll.At(c.Member, c.DecidedAt)
	switch {
	case c.Decision == Refused:
		return AnswerRefused
	case c.Decision == Revoked:
		return AnswerRevoked
	case c.Decision != Granted, !member, !c.Scope.covers(a.Scope), stepUp && c.StepUp == "":
		return Pending
	case !c.ExpiresAt.IsZero() && !now.Before(c.ExpiresAt):
		return AnswerExpired
	}
	return AnswerGranted
}
