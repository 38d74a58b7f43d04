package identity

import (
	"bytes"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"plimsoll.dev/internal/request"
)

// user is an actor with the keys of their devices, as the library wants it.
type user struct {
	handle      []byte
	name        string
	credentials []webauthn.Credential
	factors     []*request.Factor // of the credentials, in the same order
}

func (u user) WebAuthnID() []byte                         { return u.handle }
func (u user) WebAuthnName() string                       { return u.name }
func (u user) WebAuthnDisplayName() string                { return u.name }
func (u user) WebAuthnCredentials() []webauthn.Credential { return u.credentials }

// user opens the keys of an actor that count. The counter of a factor is the
// store's: what was sealed beside the key is of when it was enrolled.
func (p *Prover) user(actor string, factors []*request.Factor) (user, error) {
	u := user{handle: p.handle(actor), name: actor}
	for _, f := range factors {
		if f.Kind != request.WebAuthn || f.Actor != actor || !f.Counts() {
			continue
		}
		var c webauthn.Credential
		if err := p.seal.open(f.Material, &c, "factor", f.ID, f.Actor); err != nil {
			return user{}, err
		}
		c.Authenticator.SignCount = uint32(f.Counter)
		u.credentials, u.factors = append(u.credentials, c), append(u.factors, f)
	}
	return u, nil
}

func (p *Prover) enrolKey(c *request.Challenge, q question, own []*request.Factor, answer []byte, now time.Time) (*request.Factor, error) {
	mine, err := p.user(c.Actor, own)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, nil
	}
	credential, err := p.web.CreateCredential(mine, *q.Session, parsed)
	if err != nil {
		return nil, nil
	}
	for _, k := range mine.credentials {
		if bytes.Equal(k.ID, credential.ID) {
			return nil, nil
		}
	}
	credential.Attestation = webauthn.CredentialAttestation{} // none was asked for
	material, err := p.seal.shut(credential, "factor", q.Factor, c.Actor)
	return &request.Factor{
		ID: q.Factor, Actor: c.Actor, Kind: request.WebAuthn, Name: q.Name, Material: material, Counter: int64(credential.Authenticator.SignCount),
		CreatedAt: now, ConfirmedAt: now,
	}, err
}

func (p *Prover) answerKey(actor string, session webauthn.SessionData, own []*request.Factor, answer []byte) (*request.Factor, error) {
	mine, err := p.user(actor, own)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, nil
	}
	// A key that was revoked since the challenge was made is no longer allowed;
	// the others still are.
	allowed := [][]byte{}
	for _, id := range session.AllowedCredentialIDs {
		for _, k := range mine.credentials {
			if bytes.Equal(k.ID, id) {
				allowed = append(allowed, id)
			}
		}
	}
	session.AllowedCredentialIDs = allowed
	if len(allowed) == 0 {
		return nil, nil
	}
	credential, err := p.web.ValidateLogin(mine, session, parsed)
	if err != nil || credential.Authenticator.CloneWarning {
		return nil, nil // a count that does not grow: the key may have been copied
	}
	for i, k := range mine.credentials {
		if bytes.Equal(k.ID, credential.ID) {
			used := *mine.factors[i]
			used.Counter = int64(credential.Authenticator.SignCount)
			return &used, nil
		}
	}
	return nil, nil
}
