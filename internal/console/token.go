package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
)

// Tokens. The secret of a new one is on the page that answers the form that made
// it and nowhere else: that page is not kept, and the same form sent again says
// that there is nothing more to see.

// tokenDays is how long a token may be made for.
var tokenDays = []int{1, 7, 30, 90, 365}

// allScopes is every scope, the weakest first.
var allScopes = []operation.Scope{
	operation.Read, operation.Write, operation.Decide, operation.Execute, operation.Audit, operation.Metrics, operation.Administer,
}

// tokenRow is a token of the list.
type tokenRow struct {
	*pipeline.Token
	State string // valid, expired or revoked
	Here  bool   // the reader is signed in with it
}

// Live says whether the token counts.
func (t tokenRow) Live() bool { return t.State == "valid" }

// tokensOf puts the tokens of an actor on their page, and which scopes a new one
// may have: an admin gives any, everybody else what they have themselves.
func (c *Console) tokensOf(v *visit, d *actorData) error {
	list, err := c.conf.Contracts.TokenList(v.r.Context(), v.caller(""), d.ID, pipeline.Page{Behind: readMark(v.query("tokens")), Limit: perPage + 1})
	if err != nil {
		return err
	}
	if len(list) > perPage {
		list = list[:perPage]
		last := list[perPage-1]
		to := d.Path
		sep := "?"
		if strings.Contains(to, "?") {
			sep = "&"
		}
		d.Older = to + sep + "tokens=" + url.QueryEscape(mark(pipeline.Mark{At: last.CreatedAt, ID: last.ID}))
	}
	for _, t := range list {
		row := tokenRow{t, "valid", t.ID == v.who.Token.ID}
		switch {
		case !t.RevokedAt.IsZero():
			row.State = "revoked"
		case !v.now.Before(t.ExpiresAt):
			row.State = "expired"
		}
		d.Tokens = append(d.Tokens, row)
	}
	for _, s := range allScopes {
		if v.who.Actor.Roles.Has(contract.Admin) || v.may(s) {
			d.Scopes = append(d.Scopes, string(s))
		}
	}
	return nil
}

// backTo is the page that a form about an actor came from.
func (v *visit) backTo(id contract.ActorID) string {
	if id == v.me() {
		return ownPath
	}
	return actorPath(id)
}

// madeData is the page with a secret on it.
type madeData struct {
	Token  *pipeline.Token
	Secret string
	Back   string
}

func (c *Console) createToken(v *visit) (page, error) {
	id := contract.ActorID(v.form("actor"))
	name, err := nameOf(v.form("name"))
	if err != nil {
		return page{}, err
	}
	days, err := strconv.Atoi(v.form("days"))
	if err != nil || !slices.Contains(tokenDays, days) {
		return page{}, wrongForm("actor.form.choice")
	}
	scopes := v.r.PostForm["scope"]
	if len(scopes) == 0 {
		return page{}, wrongForm("actor.form.scopes")
	}
	w := c.sheets[v.lang].words
	words := []string{}
	for _, s := range scopes {
		if !operation.Scope(s).Valid() {
			return page{}, wrongForm("actor.form.choice")
		}
		words = append(words, w.say("scope."+s))
	}
	ends := v.now.Add(time.Duration(days) * 24 * time.Hour)
	if !v.confirmed() {
		a, err := c.findActor(v, id)
		if err != nil {
			return page{}, err
		}
		what := []string{w.say("token.will.allow", strings.Join(words, ", ")), w.say("token.will.end", w.instant(ends)), w.say("token.will.act", string(a.ID)), w.say("token.will.once")}
		if slices.Contains(scopes, string(operation.Administer)) {
			what = append(what, w.say("token.will.admin"))
		}
		return c.confirm(v, "token.confirm.create", []any{string(a.ID)}, confirmData{What: what, Yes: "token.create", No: v.backTo(a.ID)}, "actor", "name", "days", "scope")
	}
	by, err := v.writer("", "token.create")
	if err != nil {
		return page{}, err
	}
	v.here = v.backTo(id)
	made, err := c.conf.Contracts.TokenCreate(v.r.Context(), by, pipeline.TokenArgs{Actor: id, Scopes: scopes, ExpiresAt: ends, Name: name})
	if again, ok := errors.AsType[*pipeline.Replayed](err); ok && again.Request.Status < http.StatusBadRequest {
		return page{name: "token_made", title: "token.made_before", data: madeData{Back: v.here}}, nil
	}
	if err != nil {
		return page{}, err
	}
	return page{name: "token_made", title: "token.made", data: madeData{made.Of, made.Secret, v.here}}, nil
}

// tokenMost is how many tokens of an actor are looked through for one.
const tokenMost = 1000

func (c *Console) revokeToken(v *visit) (page, error) {
	id, token := contract.ActorID(v.form("actor")), v.form("token")
	if !v.confirmed() {
		list, err := c.conf.Contracts.TokenList(v.r.Context(), v.caller(""), id, pipeline.Page{Limit: tokenMost})
		if err != nil {
			return page{}, err
		}
		i := slices.IndexFunc(list, func(t *pipeline.Token) bool { return t.ID == token })
		if i < 0 {
			return page{}, errNoPage
		}
		w := c.sheets[v.lang].words
		name := list[i].Name
		if name == "" {
			name = token
		}
		what := []string{w.say("token.will.revoke", name, string(list[i].Actor)), w.say("token.will.refuse")}
		if token == v.who.Token.ID {
			what = append(what, w.say("token.will.sign_out"))
		}
		return c.confirm(v, "token.confirm.revoke", []any{name}, confirmData{What: what, Yes: "token.revoke", Harsh: true, No: v.backTo(id)}, "actor", "token")
	}
	by, err := v.writer("", "token.revoke")
	if err != nil {
		return page{}, err
	}
	if err := c.conf.Contracts.TokenRevoke(v.r.Context(), by, token); err != nil {
		return page{}, err
	}
	return page{}, goTo(v.backTo(id))
}
