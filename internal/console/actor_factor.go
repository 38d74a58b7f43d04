package console

import (
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/problem"
)

// Second factors: codes of an authenticator app. Whoever has a factor already
// proves themselves with it before another is added. Security keys need a script
// of the page to speak to them; the client does that.

// factorData is the page of one step.
type factorData struct {
	Name      string
	Prove     bool // a code of a factor they have is asked for, not one of the new one
	Challenge string
	Until     time.Time
	Secret    string       // shown once
	URI       template.URL // otpauth:, made by the service itself
	Wrong     bool         // the code before proved nothing
	Made      bool         // the secret was shown before
}

var errNoCircle = &notice{status: http.StatusNotFound, title: "factor.none", words: "factor.none_how"}

func (c *Console) factorPage(v *visit, d factorData) (page, error) {
	v.here = ownPath
	p := page{name: "factor", title: "factor.title", data: d, trail: []crumb{{ownPath, c.sheets[v.lang].words.say("actor.me")}}}
	if d.Wrong {
		p.status = http.StatusUnprocessableEntity
	}
	return p, nil
}

// addFactor begins: with a code of a factor they have, or at once where they have
// none.
func (c *Console) addFactor(v *visit) (page, error) {
	if c.conf.Circle == nil {
		return page{}, errNoCircle
	}
	name, err := nameOf(v.form("name"))
	if err != nil {
		return page{}, err
	}
	if name == "" {
		return page{}, wrongForm("factor.form.name")
	}
	have, err := c.conf.Circle.FactorList(v.r.Context(), v.caller(""))
	if err != nil {
		return page{}, err
	}
	if kind := request.Strongest(have); kind == "" {
		return c.enroll(v, name, "")
	} else if kind == request.WebAuthn {
		return page{}, wrongForm("factor.keys")
	}
	by, err := v.writer("", "identity.challenge")
	if err != nil {
		return page{}, err
	}
	asked, err := c.conf.Circle.ChallengeOpen(v.r.Context(), by, request.ChallengeArgs{})
	if err != nil {
		return page{}, err
	}
	return c.factorPage(v, factorData{Name: name, Prove: true, Challenge: asked.ID, Until: asked.ExpiresAt})
}

// enroll makes a factor to be, and shows what an app needs of it.
func (c *Console) enroll(v *visit, name, proof string) (page, error) {
	by, err := v.writer("", "identity.enroll")
	if err != nil {
		return page{}, err
	}
	by.Once.Key += "-enroll" // the form before may have done something under its own key
	made, err := c.conf.Circle.IdentityEnroll(v.r.Context(), by, request.EnrollArgs{Kind: request.TOTP, Name: name, Challenge: proof})
	if _, ok := errors.AsType[*pipeline.Replayed](err); ok {
		return c.factorPage(v, factorData{Name: name, Made: true})
	}
	if err != nil {
		return page{}, err
	}
	return c.factorPage(v, factorData{
		Name: name, Challenge: made.Challenge.ID, Until: made.Challenge.ExpiresAt, Secret: made.Offer.Secret, URI: template.URL(made.Offer.URI),
	})
}

// answerFactor takes the code of a step.
func (c *Console) answerFactor(v *visit) (page, error) {
	if c.conf.Circle == nil {
		return page{}, errNoCircle
	}
	name, err := nameOf(v.form("name"))
	if err != nil {
		return page{}, err
	}
	by, err := v.writer("", "identity.answer")
	if err != nil {
		return page{}, err
	}
	d := factorData{Name: name, Prove: v.form("prove") == "yes", Challenge: v.form("challenge")}
	code := strings.ReplaceAll(strings.TrimSpace(v.form("code")), " ", "")
	done, err := c.conf.Circle.ChallengeAnswer(v.r.Context(), by, request.AnswerArgs{ID: d.Challenge, Answer: []byte(code)})
	if problem.CodeOf(err) == problem.ChallengeFailed {
		d.Wrong = true
		return c.factorPage(v, d)
	}
	if err != nil {
		return page{}, err
	}
	if d.Prove {
		return c.enroll(v, name, done.Challenge.ID)
	}
	return page{}, goTo(ownPath)
}
