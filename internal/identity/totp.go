package identity

import (
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"plimsoll.dev/internal/request"
)

// The codes are those every authenticator app makes: HMAC-SHA-1, six digits, a
// new one every thirty seconds.
const (
	secretBytes = 20
	period      = 30 // seconds
	skew        = 1  // periods that a clock may be off
	digits      = otp.DigitsSix
)

func (p *Prover) totpKey(actor string, secret []byte) (*otp.Key, error) {
	return totp.Generate(totp.GenerateOpts{
		Issuer: strings.ReplaceAll(p.name, ":", " "), AccountName: actor, Secret: secret, Period: period, Digits: digits, Algorithm: otp.AlgorithmSHA1,
	})
}

// step is the time step whose code this is, the newest of those that now allows;
// 0 when it is the code of none after used. All are tried, so that the time it
// takes tells nothing.
func (p *Prover) step(actor string, secret, answer []byte, used int64, now time.Time) int64 {
	key, err := p.totpKey(actor, secret)
	if err != nil {
		return 0
	}
	code := strings.Join(strings.Fields(string(answer)), "") // apps show them as "123 456"
	found := int64(0)
	for s := now.Unix()/period - skew; s <= now.Unix()/period+skew; s++ {
		right, err := hotp.ValidateCustom(code, uint64(max(s, 0)), key.Secret(), hotp.ValidateOpts{Digits: digits, Algorithm: otp.AlgorithmSHA1})
		if err == nil && right && s > used {
			found = s
		}
	}
	return found
}

// secretOf is the sealed material of a TOTP factor.
type secretOf struct {
	Secret []byte `json:"secret"`
}

func (p *Prover) enrolTOTP(c *request.Challenge, q question, answer []byte, now time.Time) (*request.Factor, error) {
	s := p.step(c.Actor, q.Secret, answer, 0, now)
	if s == 0 {
		return nil, nil
	}
	material, err := p.seal.shut(secretOf{q.Secret}, "factor", q.Factor, c.Actor)
	return &request.Factor{
		ID: q.Factor, Actor: c.Actor, Kind: request.TOTP, Name: q.Name, Material: material, Counter: s, CreatedAt: now, ConfirmedAt: now,
	}, err
}

func (p *Prover) answerTOTP(factors []*request.Factor, answer []byte, now time.Time) (*request.Factor, error) {
	var proved *request.Factor
	for _, f := range factors {
		var material secretOf
		if err := p.seal.open(f.Material, &material, "factor", f.ID, f.Actor); err != nil {
			return nil, err
		}
		if s := p.step(f.Actor, material.Secret, answer, f.Counter, now); s > 0 && proved == nil {
			used := *f
			used.Counter = s
			proved = &used
		}
	}
	return proved, nil
}
