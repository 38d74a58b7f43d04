package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// consentData is the page of an artifact that somebody has to say something about.
type consentData struct {
	Artifact *request.ArtifactShown
	Ask      string // what the reader is asked: consent, confirm, adopt; "" for nothing
	Standing standing
	Told     *told
	Seen     string
	Digest   string

	Subject  string // the title of the artifact, "" for none
	Contents []fact
	Rest     bool   // there is more in it than is shown
	Change   string // the intent that a confirmed decision would raise, "" for none
	Owed     []request.Owed
	Answered int // how many have consented
	Ledger   []*artifact.Consent
	Mine     *artifact.Consent
	People   people
	By       *request.Owed // what the reader owes

	Challenge string // that a code answers, "" while none is asked for
	Carried   bool   // it waits for the consents of another
	Locked    bool   // the reader, or their token, decides nothing
	Blocked   []envelope.Condition
}

// Effect is what a confirmation lets happen; a key of words/.
func (d *consentData) Effect() string {
	switch {
	case d.Change != "":
		return "consent.effect.change"
	case d.Artifact.Type == envelope.BridgeDraft:
		return "consent.effect.sent"
	case d.Artifact.Type == envelope.MemoryNote:
		return "consent.effect.kept"
	}
	return "consent.effect.stands"
}

// consentTextMost bounds a text of what somebody consents to: they read more of it
// than of a document in passing. Whether there is more than is shown is said as
// well: nobody agrees to what they believe is all of it.
const consentTextMost = 20_000

// subjectMost bounds a title inside a question.
const subjectMost = 200

// subject is what a content calls itself, to be named in a question; "" where it
// has no title.
func subject(content []byte) string {
	var x struct {
		Title string `json:"title"`
	}
	if json.Unmarshal(content, &x) != nil {
		return ""
	}
	line := strings.Join(strings.Fields(plain(x.Title)), " ")
	return strings.TrimRight(shortened(line, subjectMost), " ?!.")
}

func consentPath(id string) string { return "/decisions/consents/" + url.PathEscape(id) }

var errNoConsents = &notice{status: http.StatusNotFound, title: "consent.no_circle", words: "consent.no_circle_how"}

// consentPage shows what an artifact asks.
func (c *Console) consentPage(v *visit) (page, error) {
	return c.consentAs(v, nil, v.query("challenge"))
}

func (c *Console) consentAs(v *visit, t *told, challenge string) (page, error) {
	if c.conf.Circle == nil {
		return page{}, errNoConsents
	}
	id := v.r.PathValue("id")
	d, err := c.consent(v, id)
	if err != nil {
		return page{}, absent(err)
	}
	more := url.Values{}
	if challenge != "" && len(challenge) <= 64 {
		d.Challenge = challenge
		more.Set("challenge", challenge)
	}
	var changed bool
	d.Told = t
	if d.Seen, changed = v.seen(d.Digest); changed {
		d.Standing = isChanged
	}
	request := d.Artifact.Provenance.RequestID
	p := page{
		name: "consent", title: "consent.title", args: []any{c.say(v, "consent.type."+string(d.Artifact.Type))}, data: d,
		trail:  []crumb{{"/inbox", c.say(v, "nav.inbox")}, {"/requests/" + url.PathEscape(request), request}},
		topics: []string{topicOf(id), topicOf(request)},
	}
	return questionPage(v, p, consentPath(id), d.Digest, t, more), nil
}

func (c *Console) consent(v *visit, id string) (*consentData, error) {
	ctx := v.r.Context()
	a, err := c.conf.Circle.ArtifactGet(ctx, v.caller(""), id)
	if err != nil {
		return nil, err
	}
	d := &consentData{Artifact: a, Digest: a.ContentSHA256, Owed: a.Owed, Carried: a.WaitsFor != "", Standing: isOpen}
	d.Subject = subject(a.Content)
	d.Contents, d.Rest = factsOf(a.Content, consentTextMost)
	if d.People, err = c.people(ctx); err != nil {
		return nil, err
	}
	if a.Type == envelope.DecisionDraft {
		d.Change = changeOf(a.Content)
	}
	d.Ledger, _, err = c.conf.Circle.ConsentList(ctx, v.caller(""), request.ConsentFilter{Circles: []string{a.Circle}, Artifacts: []string{id}}, pipeline.Page{Limit: 50})
	if err != nil {
		return nil, err
	}
	for _, one := range d.Ledger {
		if one.Member == string(v.me()) && one.ContentSHA256 == a.ContentSHA256 && d.Mine == nil {
			d.Mine = one
		}
	}
	for i, o := range a.Owed {
		if o.Kind != request.OwedConsent {
			continue
		}
		if o.Answer == artifact.AnswerGranted {
			d.Answered++
		}
		if o.Member == string(v.me()) && (o.Answer == artifact.Pending || d.By == nil) {
			d.By = &a.Owed[i]
		}
	}
	for _, b := range a.Blocks {
		if b != envelope.ConsentOwed {
			d.Blocked = append(d.Blocked, b)
		}
	}
	d.Ask, d.Locked = askOf(a, v.me()), !v.may(operation.Decide) || v.who.Actor.Type != contract.Human
	switch {
	case a.Status == artifact.Confirmed:
		d.Standing = isApproved
	case a.Status == artifact.Draft && a.Reason != "":
		d.Standing = isRejected
	}
	return d, nil
}

// changeOf is the intent of a decision about the repository.
func changeOf(content []byte) string {
	var x struct {
		Change *struct {
			Intent string `json:"intent"`
		} `json:"change"`
	}
	if json.Unmarshal(content, &x) != nil || x.Change == nil {
		return ""
	}
	return x.Change.Intent
}

// askOf is what an artifact asks of somebody: their consent while they have not
// answered, a confirmation, or whether a draft is to take effect.
func askOf(a *request.ArtifactShown, me contract.ActorID) string {
	switch a.Status {
	case artifact.WaitingForConsent:
		for _, o := range a.Owed {
			if o.Kind == request.OwedConsent && o.Member == string(me) && o.Answer == artifact.Pending {
				return "consent"
			}
		}
	case artifact.NeedsConfirmation:
		return "confirm"
	case artifact.Draft:
		return "adopt"
	case artifact.Confirmed:
	}
	return ""
}

// consentDecide takes what a person says about an artifact.
func (c *Console) consentDecide(v *visit) (page, error) {
	if c.conf.Circle == nil {
		return page{}, errNoConsents
	}
	id, do, digest := v.r.PathValue("id"), v.form("do"), v.form("digest")
	if digest == "" && (do == "grant" || do == "refuse" || do == "confirm") {
		return c.consentAs(v, untold(v, "decide.untold.tick"), v.form("challenge"))
	}
	ctx, s := v.r.Context(), c.conf.Circle
	var err error
	switch do {
	case "grant", "refuse":
		t, challenge, e := c.answerConsent(v, id, digest)
		if t != nil || challenge != "" {
			return c.consentAs(v, t, challenge)
		}
		err = e
	case "confirm", "decline", "adopt":
		by, e := v.writer("", "outcome."+do)
		if err = e; err != nil {
			break
		}
		a := request.MoveArgs{ID: id, SHA256: digest}
		switch do {
		case "confirm":
			_, err = s.ArtifactConfirm(ctx, by, a)
		case "decline":
			_, err = s.ArtifactDecline(ctx, by, a)
		default:
			_, err = s.ArtifactAdopt(ctx, by, a)
		}
	case "revoke":
		by, e := v.writer("", "consent.revoke")
		if err = e; err == nil {
			_, err = s.ConsentRevoke(ctx, by, v.form("consent"))
		}
	default:
		return page{}, &notice{status: http.StatusBadRequest, title: "problem.form", words: "problem.form_how"}
	}
	return c.taken(v, err, consentPath(id), func(t *told) (page, error) { return c.consentAs(v, t, "") })
}

// answerConsent records a consent or a refusal. Where identity has to be proved
// anew it opens a challenge, which a code answers with the next form; challenge is
// then the one that waits.
func (c *Console) answerConsent(v *visit, id, digest string) (t *told, challenge string, err error) {
	ctx, s := v.r.Context(), c.conf.Circle
	a := request.ConsentArgs{Artifact: id, SHA256: digest, Decision: artifact.Granted}
	if v.form("do") == "refuse" {
		a.Decision = artifact.Refused
	}
	by, err := v.writer("", "consent.decide")
	if err != nil {
		return nil, "", err
	}
	if challenge = v.form("challenge"); challenge != "" && a.Decision == artifact.Granted {
		code := strings.ReplaceAll(strings.TrimSpace(v.form("code")), " ", "")
		if code == "" {
			return untold(v, "decide.untold.code"), challenge, nil
		}
		if len(code) > 16 {
			return untold(v, "refusal.identity.challenge_failed"), challenge, nil
		}
		answered, err := s.ChallengeAnswer(ctx, v.caller(""), request.AnswerArgs{ID: challenge, Answer: []byte(code)})
		switch problem.CodeOf(err) {
		case "":
		case problem.ChallengeFailed:
			t, err = c.tellable(v, err)
			return t, challenge, err
		default:
			return nil, "", err
		}
		if err != nil {
			return nil, "", err
		}
		a.Challenge = answered.Challenge.ID
	}
	_, err = s.ConsentDecide(ctx, by, a)
	if problem.CodeOf(err) != problem.ConsentStepUp || a.Challenge != "" {
		return nil, "", err
	}
	asked, e := s.ChallengeOpen(ctx, v.caller(""), request.ChallengeArgs{Artifact: id})
	switch {
	case problem.CodeOf(e) == problem.ConsentStepUp:
		return untold(v, "decide.untold.no_factor"), "", nil
	case e != nil:
		return nil, "", e
	case asked.Kind != request.TOTP:
		return untold(v, "decide.untold.other_factor"), "", nil
	}
	return nil, asked.ID, nil
}
