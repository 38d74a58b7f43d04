package request

import "time"

// Prover makes and checks second proofs of identity (docs/spec/circle.md §1,
// Identity; §7, step_up). It keeps nothing: what it has to remember it seals into
// the Material of factors and challenges, bound to their ids and their actor, so
// that no row means anything in the place of another.
//
// The caller answers for the rest: that a challenge is the actor's own, is
// answered once, before it expires, and after few attempts.
type Prover interface {
	// Enrol begins the enrolment of a factor. Nothing is enrolled before the
	// challenge is answered. Invalid: the kind cannot be offered here.
	Enrol(e Enrolling) (Enrolment, error)
	// Ask makes a challenge that any of the factors of the kind can answer.
	// NotFound: there is none.
	Ask(a Asking) (Asked, error)
	// Answer checks an answer and says which factor proved it. Factors are those
	// of the challenge's actor. Denied: it proves nothing; the error does not say
	// how near it was. Nothing of the answer is repeated.
	Answer(c *Challenge, factors []*Factor, answer []byte, now time.Time) (Proof, error)
}

// Enrolling is a factor that an actor wants.
type Enrolling struct {
	Challenge string // the id of the challenge the first answer is to
	Factor    string // the id the factor will have
	Actor     string
	Kind      FactorKind
	Name      string    // what its owner calls it
	Factors   []*Factor // that the actor has already
}

// Enrolment is how a factor is enrolled.
type Enrolment struct {
	Material []byte // of the challenge
	Offer    Offer
}

// Offer is what its owner is shown, once. It is never stored, logged or put into
// an artifact.
type Offer struct {
	Kind     FactorKind
	URI      string // of TOTP: otpauth://, for an authenticator app
	Secret   string // of TOTP: the same for typing in
	Creation []byte // of WebAuthn: the JSON of PublicKeyCredentialCreationOptions
}

// Asking asks an actor for a proof.
type Asking struct {
	Challenge string // its id
	Actor     string
	Kind      FactorKind
	Factors   []*Factor
}

// Asked is a challenge as it was made.
type Asked struct {
	Material []byte
	WebAuthn *WebAuthnAsk // what a browser needs; nil for TOTP
}

// WebAuthnAsk is what a browser needs to make an assertion. Binary members are
// base64url without padding.
type WebAuthnAsk struct {
	Challenge        string
	RelyingParty     string
	Credentials      []string
	UserVerification string
}

// Proof is what a right answer leaves: the factor as it is to be stored, with the
// counter that no answer may use again.
type Proof struct {
	Factor *Factor
	New    bool // it was enrolled by this answer: create it, else update it
}

// Strongest is the kind of factor to ask for: of those that count the one that is
// hardest to carry off. "" when there is none.
func Strongest(factors []*Factor) FactorKind {
	best := FactorKind("")
	for _, f := range factors {
		switch {
		case !f.Counts():
		case f.Kind == WebAuthn:
			return WebAuthn
		default:
			best = f.Kind
		}
	}
	return best
}

// Counts says whether the factor can prove anything: it has answered once, and was
// not revoked.
func (f *Factor) Counts() bool { return !f.ConfirmedAt.IsZero() && f.RevokedAt.IsZero() }
