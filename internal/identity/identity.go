// Package identity makes and checks second proofs of identity: codes of an
// authenticator app (TOTP, RFC 6238) and keys of a device (WebAuthn). It
// implements request.Prover (docs/spec/circle.md §1, Identity).
//
// It keeps no state. Secrets of factors, and what an answer is checked against,
// lie in the database sealed with a key that is not in it: whoever reads or
// writes the rows can neither answer a challenge nor move one person's factor to
// another.
package identity

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request"
)

// Config is what a Prover is made of.
type Config struct {
	Key  Key
	Name string // of this service, as authenticator apps and browsers show it; "plimsoll" when it is ""

	// Origins are the addresses under which people's browsers reach the service,
	// such as https://circle.example; the host of the first is the relying party.
	// Without any, WebAuthn is not offered.
	Origins []string
}

// Prover implements request.Prover. It is safe for concurrent use.
type Prover struct {
	seal  sealer
	users []byte // the key that user handles are made with
	name  string
	web   *webauthn.WebAuthn // nil when it is not offered
}

var _ request.Prover = (*Prover)(nil)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 64 << 10

// New makes a Prover. Invalid: the key is none, or an origin is no address of a
// browser.
func New(c Config) (*Prover, error) {
	const op = "identity.New"
	if c.Key == (Key{}) {
		return nil, fault.E(op, fault.Invalid, "there is no key to seal second factors with", nil)
	}
	if c.Name == "" {
		c.Name = "plimsoll"
	}
	p := &Prover{seal: newSealer(c.Key), users: c.Key.derive("user handles"), name: c.Name}
	if len(c.Origins) == 0 {
		return p, nil
	}
	for _, o := range c.Origins {
		u, err := url.Parse(o)
		if err != nil || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost") {
			return nil, fault.E(op, fault.Invalid, "an origin is no address such as https://circle.example", nil)
		}
	}
	first, err := url.Parse(c.Origins[0])
	if err != nil {
		return nil, fault.E(op, fault.Invalid, "the first origin does not read", err)
	}
	p.web, err = webauthn.New(&webauthn.Config{
		RPID: first.Hostname(), RPDisplayName: c.Name, RPOrigins: c.Origins,
		AttestationPreference: protocol.PreferNoAttestation, // no device is worth more than another, and none is told apart
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementDiscouraged, UserVerification: protocol.VerificationPreferred,
		},
	})
	if err != nil {
		return nil, fault.E(op, fault.Invalid, "the origins cannot be used for WebAuthn", err)
	}
	return p, nil
}

// Offers says whether factors of a kind can be enrolled and asked for.
func (p *Prover) Offers(k request.FactorKind) bool {
	switch k {
	case request.TOTP:
		return true
	case request.WebAuthn:
		return p.web != nil
	}
	return false
}

// purpose says what a challenge is for: an answer to one never serves the other.
type purpose string

const (
	enrolling purpose = "enrol"
	asking    purpose = "ask"
)

// question is the sealed material of a challenge.
type question struct {
	Purpose purpose               `json:"purpose"`
	Factor  string                `json:"factor,omitempty"` // the id of the factor that is enrolled
	Name    string                `json:"name,omitempty"`
	Secret  []byte                `json:"secret,omitempty"`  // of a TOTP factor that is enrolled
	Session *webauthn.SessionData `json:"session,omitempty"` // of WebAuthn
}

// Enrol implements request.Prover.
func (p *Prover) Enrol(e request.Enrolling) (request.Enrolment, error) {
	const op = "identity.Enrol"
	if !p.Offers(e.Kind) {
		return request.Enrolment{}, fault.E(op, fault.Invalid, "no such second factor is offered here", nil)
	}
	q := question{Purpose: enrolling, Factor: e.Factor, Name: e.Name}
	offer := request.Offer{Kind: e.Kind}
	if e.Kind == request.TOTP {
		q.Secret = make([]byte, secretBytes)
		if _, err := rand.Read(q.Secret); err != nil {
			return request.Enrolment{}, fault.E(op, fault.Unavailable, "make a secret", err)
		}
		key, err := p.totpKey(e.Actor, q.Secret)
		if err != nil {
			return request.Enrolment{}, fault.E(op, fault.Internal, "make a secret", err)
		}
		offer.URI, offer.Secret = key.URL(), key.Secret()
	} else {
		mine, err := p.user(e.Actor, e.Factors)
		if err != nil {
			return request.Enrolment{}, err
		}
		var known []protocol.CredentialDescriptor
		for _, c := range mine.credentials {
			known = append(known, c.Descriptor())
		}
		creation, session, err := p.web.BeginRegistration(mine, webauthn.WithExclusions(known))
		if err != nil {
			return request.Enrolment{}, fault.E(op, fault.Internal, "begin an enrolment", err)
		}
		q.Session = session
		if offer.Creation, err = json.Marshal(creation.Response); err != nil {
			return request.Enrolment{}, fault.E(op, fault.Internal, "write the options of an enrolment", err)
		}
	}
	material, err := p.seal.shut(q, "challenge", e.Challenge, e.Actor)
	return request.Enrolment{Material: material, Offer: offer}, err
}

// Ask implements request.Prover.
func (p *Prover) Ask(a request.Asking) (request.Asked, error) {
	const op = "identity.Ask"
	usable := false
	for _, f := range a.Factors {
		usable = usable || f.Kind == a.Kind && f.Actor == a.Actor && f.Counts()
	}
	if !usable || !p.Offers(a.Kind) {
		return request.Asked{}, fault.E(op, fault.NotFound, "no such second factor is enrolled", nil)
	}
	q := question{Purpose: asking}
	var asked request.Asked
	if a.Kind == request.WebAuthn {
		mine, err := p.user(a.Actor, a.Factors)
		if err != nil {
			return request.Asked{}, err
		}
		assertion, session, err := p.web.BeginLogin(mine)
		if err != nil {
			return request.Asked{}, fault.E(op, fault.Internal, "make a challenge", err)
		}
		q.Session = session
		asked.WebAuthn = &request.WebAuthnAsk{
			Challenge: session.Challenge, RelyingParty: assertion.Response.RelyingPartyID, Credentials: []string{},
			UserVerification: string(assertion.Response.UserVerification),
		}
		for _, id := range session.AllowedCredentialIDs {
			asked.WebAuthn.Credentials = append(asked.WebAuthn.Credentials, base64.RawURLEncoding.EncodeToString(id))
		}
	}
	var err error
	asked.Material, err = p.seal.shut(q, "challenge", a.Challenge, a.Actor)
	return asked, err
}

// Answer implements request.Prover.
func (p *Prover) Answer(c *request.Challenge, factors []*request.Factor, answer []byte, now time.Time) (request.Proof, error) {
	const op = "identity.Answer"
	var q question
	if err := p.seal.open(c.Material, &q, "challenge", c.ID, c.Actor); err != nil {
		return request.Proof{}, err
	}
	own := []*request.Factor{}
	for _, f := range factors {
		if f.Actor == c.Actor && f.Kind == c.Kind && f.Counts() {
			own = append(own, f)
		}
	}
	var f *request.Factor
	var err error
	switch enrol := q.Purpose == enrolling; {
	case len(answer) > maxAnswer || !p.Offers(c.Kind) || !enrol && q.Purpose != asking:
	case c.Kind == request.TOTP && enrol:
		f, err = p.enrolTOTP(c, q, answer, now)
	case c.Kind == request.TOTP:
		f, err = p.answerTOTP(own, answer, now)
	case q.Session == nil:
	case enrol:
		f, err = p.enrolKey(c, q, own, answer, now)
	default:
		f, err = p.answerKey(c.Actor, *q.Session, own, answer)
	}
	if err != nil {
		return request.Proof{}, err
	}
	if f == nil {
		return request.Proof{}, fault.E(op, fault.Denied, "the answer does not prove who you are", nil)
	}
	return request.Proof{Factor: f, New: q.Purpose == enrolling}, nil
}

// handle is the actor as authenticators know them: always the same, and nothing
// anybody could read a name from.
func (p *Prover) handle(actor string) []byte {
	h := hmac.New(sha256.New, p.users)
	h.Write([]byte(actor))
	return h.Sum(nil)
}
