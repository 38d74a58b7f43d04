package console

import (
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// Changing the registry. Every form is answered by a page that names what will
// happen; only that page's own button does it.

// confirmData is the page before something is done.
type confirmData struct {
	Action string // where its form goes
	Fields []field
	What   []string // what will happen, each as a sentence
	Yes    string   // the word on the button, a key
	Harsh  bool     // something ends
	No     string   // where not doing it leads
}

// field is a value that the form had.
type field struct{ Name, Value string }

// confirmed says whether the page before was answered with yes.
func (v *visit) confirmed() bool { return v.form("confirm") == "yes" }

// confirm is the page before something is done: what the form said goes with it.
func (c *Console) confirm(v *visit, title string, args []any, d confirmData, fields ...string) (page, error) {
	d.Action = v.r.URL.Path
	for _, name := range fields {
		for _, value := range v.r.PostForm[name] {
			d.Fields = append(d.Fields, field{name, value})
		}
	}
	v.here = d.No // where a change of the language leads, and what is open when it is done
	return page{name: "confirm", title: title, args: args, data: d, trail: []crumb{{actorsPath, c.sheets[v.lang].words.say("nav.actors")}}}, nil
}

// wrongForm is a form that cannot be meant so.
func wrongForm(words string, args ...any) error {
	return &notice{status: http.StatusUnprocessableEntity, title: "actor.form", words: words, args: args}
}

// The longest that the console takes.
const (
	idMost   = 128
	nameMost = 200
)

// actorIDOf is an id as a form has it: what can be read aloud and put into an
// address.
func actorIDOf(text string) (contract.ActorID, error) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > idMost || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return "", wrongForm("actor.form.id", idMost)
	}
	return contract.ActorID(text), nil
}

// nameOf is a name as a form has it.
func nameOf(text string) (string, error) {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) > nameMost || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", wrongForm("actor.form.name", nameMost)
	}
	return text, nil
}

// rolesOf is the words of roles of a form.
func (c *Console) roleWords(v *visit, roles []contract.Role) string {
	w := c.sheets[v.lang].words
	list := []string{}
	for _, r := range roles {
		list = append(list, w.say("role."+string(r)))
	}
	if len(list) == 0 {
		return w.say("actor.no_roles")
	}
	return strings.Join(list, ", ")
}

func (c *Console) createActor(v *visit) (page, error) {
	id, err := actorIDOf(v.form("actor"))
	if err != nil {
		return page{}, err
	}
	name, err := nameOf(v.form("name"))
	if err != nil {
		return page{}, err
	}
	kind := contract.ActorType(v.form("type"))
	roles, err := contract.ParseRoles(v.r.PostForm["role"])
	if err != nil || !kind.Valid() {
		return page{}, wrongForm("actor.form.choice")
	}
	if !v.confirmed() {
		w := c.sheets[v.lang].words
		what := []string{w.say("actor.will.register", string(id), w.say("actor.type."+string(kind)))}
		if name != "" {
			what = append(what, w.say("actor.will.name", name))
		}
		what = append(what, w.say("actor.will.roles", c.roleWords(v, roles.List())), w.say("actor.will.forever"), w.say("actor.will.no_token"))
		return c.confirm(v, "actor.confirm.create", []any{string(id)}, confirmData{What: what, Yes: "actor.create", No: actorsPath}, "actor", "name", "type", "role")
	}
	by, err := v.writer(contract.Admin, "actor.create")
	if err != nil {
		return page{}, err
	}
	names := []string{}
	for _, r := range roles.List() {
		names = append(names, string(r))
	}
	if _, err := c.conf.Contracts.ActorCreate(v.r.Context(), by, pipeline.ActorArgs{ID: id, Type: kind, Roles: names, Name: name}); err != nil {
		return page{}, err
	}
	return page{}, goTo(actorPath(id))
}

// editOf is what a form changes of an actor, and how that reads.
func (c *Console) editOf(v *visit, a *pipeline.Actor) (pipeline.ActorEdit, []string, error) {
	w := c.sheets[v.lang].words
	e := pipeline.ActorEdit{ID: a.ID}
	what := []string{}
	name, err := nameOf(v.form("name"))
	if err != nil {
		return e, nil, err
	}
	roles, err := contract.ParseRoles(v.r.PostForm["role"])
	if err != nil {
		return e, nil, wrongForm("actor.form.choice")
	}
	if name != a.Name {
		e.Name = &name
		if name == "" {
			what = append(what, w.say("actor.will.unname", a.Name))
		} else {
			what = append(what, w.say("actor.will.name", name))
		}
	}
	if roles != a.Roles {
		names := []string{}
		for _, r := range roles.List() {
			names = append(names, string(r))
		}
		e.Roles = &names
		if more := roles.Minus(a.Roles); !more.Empty() {
			what = append(what, w.say("actor.will.gain", c.roleWords(v, more.List())))
		}
		if less := a.Roles.Minus(roles); !less.Empty() {
			what = append(what, w.say("actor.will.lose", c.roleWords(v, less.List())))
		}
	}
	if active := v.form("active") == "yes"; active != a.Active {
		e.Active = &active
		key := "actor.will.end"
		if active {
			key = "actor.will.return"
		}
		what = append(what, w.say(key))
	}
	ends := e.Active != nil && !*e.Active || e.Roles != nil && !slices.Contains(*e.Roles, string(contract.Admin))
	if a.ID == v.me() && ends {
		what = append(what, w.say("actor.will.you"))
	}
	return e, what, nil
}

func (c *Console) editActor(v *visit) (page, error) {
	a, err := c.findActor(v, contract.ActorID(v.form("actor")))
	if err != nil {
		return page{}, err
	}
	edit, what, err := c.editOf(v, a)
	if err != nil {
		return page{}, err
	}
	if !v.confirmed() {
		if len(what) == 0 {
			return page{}, wrongForm("actor.form.same")
		}
		d := confirmData{What: what, Yes: "actor.save", Harsh: edit.Active != nil && !*edit.Active, No: actorPath(a.ID)}
		return c.confirm(v, "actor.confirm.edit", []any{string(a.ID)}, d, "actor", "tag", "name", "role", "active")
	}
	by, err := v.writer(contract.Admin, "actor.edit")
	if err != nil {
		return page{}, err
	}
	by.Match = v.form("tag") // what was read when the form was filled in
	if _, err := c.conf.Contracts.ActorEdit(v.r.Context(), by, edit); err != nil {
		return page{}, err
	}
	return page{}, goTo(actorPath(a.ID))
}
