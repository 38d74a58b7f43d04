package worker

import (
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// What Identity says.
var (
	sayProveFor = phrase{"Prove who you are before this: %s.", "Доведи, хто ти, перш ніж: %s.", "次の前に本人であることを示す：%s。"}
	sayEnrolFor = phrase{"There is no second factor yet; enrol one before this: %s.", "Другого фактора ще нема; додай його, перш ніж: %s.", "二つ目の証明がまだない。次の前に登録する：%s。"}
	sayActions  = map[envelope.Action]phrase{
		envelope.Read:            {"reading", "читати", "読むこと"},
		envelope.Draft:           {"drafting", "готувати чернетку", "下書きすること"},
		envelope.Research:        {"searching", "шукати", "調べること"},
		envelope.Remember:        {"keeping a note", "зберегти нотатку", "覚え書きを残すこと"},
		envelope.ProposeDecision: {"proposing a decision", "пропонувати рішення", "決定を提案すること"},
		envelope.RequestConsent:  {"asking for consent", "просити згоди", "同意を求めること"},
		envelope.ExportDraft:     {"something leaves the circle", "щось вийде за межі кола", "サークルの外に出すこと"},
		envelope.MergeDraft:      {"records are merged", "зводити записи", "記録を合わせること"},
		envelope.CoreChangeDraft: {"the core of the circle changes", "змінювати ядро кола", "サークルの土台を変えること"},
		envelope.GiftDraft:       {"a gift is given", "дарувати", "贈り物をすること"},
		envelope.StepUp:          {"a sensitive action", "чутлива дія", "慎重を要すること"},
	}
)

// identity says who asks and how that is known, and asks for another proof before
// anything sensitive (docs/spec/circle.md §1). It believes the token, the channel
// and the challenges that were answered; it never reads the text.
func identity(t *Task) (Result, error) {
	known := t.Facts.Identity
	if known == nil {
		known = &Identity{}
	}
	action := known.Action
	if !action.Valid() {
		action = envelope.StepUp
	}
	owed := known.Answered == nil && t.sensitive(action)
	if (owed || !t.wants(envelope.IdentityAssertion)) && t.wants(envelope.IdentityChallenge) {
		return Result{Drafts: []Draft{t.challenge(known.Prepared, action)}}, nil
	}
	return Result{Drafts: []Draft{t.assertion(known.Answered, action)}}, nil
}

// sensitive says whether an action needs a proof of its own: what leaves the
// circle, what changes its core, what is critical, and what was asked to be
// proved.
func (t *Task) sensitive(a envelope.Action) bool {
	return a == envelope.ExportDraft || a == envelope.CoreChangeDraft || a == envelope.StepUp || t.Request.Intent == constitution.Identify ||
		slices.ContainsFunc([]envelope.Flag{envelope.ExternalAction, envelope.CoreChange, envelope.Critical}, t.Request.Has)
}

func (t *Task) challenge(c *Challenge, action envelope.Action) Draft {
	say := t.tongue()
	id, method, why := t.id(0), "enroll", sayEnrolFor
	expires := t.Now.Add(t.Facts.Set.Registry().Limits.StepUp)
	if c != nil {
		id, method, why, expires = c.ID, c.Kind, sayProveFor, c.ExpiresAt
	}
	o := canonical.Object{
		{Key: "challenge_id", Value: id},
		{Key: "member_id", Value: t.Request.Member},
		{Key: "method", Value: method},
		{Key: "action", Value: string(action)},
		{Key: "reason", Value: line(say.say(why, say.say(sayActions[action])))},
		{Key: "expires_at", Value: timestamp(expires)},
	}
	if c != nil && c.WebAuthn != nil {
		o = append(o, canonical.Member{Key: "webauthn", Value: canonical.Object{
			{Key: "challenge", Value: c.WebAuthn.Challenge},
			{Key: "rp_id", Value: c.WebAuthn.RelyingParty},
			{Key: "credentials", Value: append([]string{}, c.WebAuthn.Credentials...)},
			{Key: "user_verification", Value: c.WebAuthn.UserVerification},
		}})
	}
	d := drafted(envelope.IdentityChallenge, o)
	d.Level = envelope.Private // nobody else learns which factor somebody has
	return d
}

func (t *Task) assertion(c *Challenge, action envelope.Action) Draft {
	roles := []circle.Role{}
	if m, ok := t.Facts.Roll.At(t.Request.Member, t.Now); ok {
		roles = m.Roles
	}
	actions := []string{string(action)}
	if c == nil && (t.Request.Origin == envelope.External || t.sensitive(action)) {
		actions = []string{} // the channel says who it is, and nothing follows from that
	}
	method := "token"
	if c != nil {
		method = c.Kind
	}
	o := canonical.Object{
		{Key: "member_id", Value: t.Request.Member},
		{Key: "method", Value: method},
		{Key: "step_up", Value: c != nil},
		{Key: "roles", Value: texts(roles)},
		{Key: "channel", Value: canonical.Object{{Key: "kind", Value: string(t.Request.Channel.Kind)}, {Key: "id", Value: t.Request.Channel.ID}}},
		{Key: "actions", Value: actions},
	}
	if c != nil {
		o = append(o,
			canonical.Member{Key: "challenge_id", Value: c.ID}, canonical.Member{Key: "proved_at", Value: timestamp(c.AnsweredAt)},
			canonical.Member{Key: "expires_at", Value: timestamp(c.ExpiresAt)})
	}
	d := drafted(envelope.IdentityAssertion, o)
	d.Level = envelope.Private
	return d
}
