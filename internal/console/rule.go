package console

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"plimsoll.dev"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/verify/check"
)

// The rules of the gate and the checks of verification. What they say is written
// once, in their catalogues and on their pages under docs/rules, in English.

// law is a rule or a check.
type law struct {
	ID     string // of its page
	Check  string // what findings call it, where that is another
	Kind   string // boundary or verification
	Group  string // the family or the category
	Title  string
	Risk   string // of the load line, or info or none
	Action string // of a rule: what it asks for
	Floor  string // of a check: the least it can be set to
	Closes string // of a check: who may close a finding, a key of words/ behind rule.closes.
	text   string // of its page
	found  string // what a search looks in
}

// laws is all of them in the order of their catalogues; nobody writes to it.
var laws = sync.OnceValue(func() []law {
	list := []law{}
	for _, r := range rule.Catalogue() {
		list = append(list, law{
			ID: r.ID, Check: r.CheckID, Kind: "boundary", Group: string(r.Family), Title: r.Title, Risk: string(r.Risk), Action: string(r.Action),
			found: r.Recommendation,
		})
	}
	for _, k := range check.Catalogue() {
		if k.RuleID != "" {
			continue // its rule is there already
		}
		closes := "person"
		switch {
		case k.HumanAlways:
			closes = "always"
		case k.Autofix:
			closes = "agent"
		case k.PatchKind != check.Manual:
			closes = "patch"
		}
		list = append(list, law{
			ID: k.ID, Kind: "verification", Group: k.Category, Title: k.Title, Risk: string(k.Severity), Floor: string(k.Floor), Closes: closes,
		})
	}
	for i := range list {
		l := &list[i]
		text, err := plimsoll.RulePage(l.ID)
		if err == nil { // a test holds that each has a page
			l.text = string(text)
		}
		l.found = strings.ToLower(strings.Join([]string{l.ID, l.Check, l.Title, l.found, l.text}, "\n"))
	}
	return list
})

// lawOf finds a law by the id of its page or the one that findings carry.
func lawOf(id string) (law, bool) {
	id = strings.ToUpper(id)
	list := laws()
	if i := slices.IndexFunc(list, func(l law) bool { return l.ID == id || l.Check == id }); i >= 0 {
		return list[i], true
	}
	return law{}, false
}

// URL is its page.
func (l law) URL() string { return "/rules/" + url.PathEscape(l.ID) }

// Level is its risk on the load line, "" where it is off it.
func (l law) Level() contract.Level {
	if level := contract.Level(l.Risk); level.Valid() {
		return level
	}
	return ""
}

// Ask is the roles that a gate of its risk asks for.
func (l law) Ask() []contract.Role {
	if l.Kind != "boundary" || l.Level() == "" {
		return nil
	}
	return approval.Required(l.Level()).List()
}

// rulesData is the list.
type rulesData struct {
	Find   string
	Kind   string
	Kinds  []string
	Groups []lawGroup
	Shown  int
	All    int
}

type lawGroup struct {
	Kind, Name string
	Laws       []law
}

var lawKinds = []string{"boundary", "verification"}

func (c *Console) rules(v *visit) (page, error) {
	d := &rulesData{Find: strings.TrimSpace(v.query("q")), Kinds: lawKinds, All: len(laws())}
	if k := v.query("kind"); slices.Contains(lawKinds, k) {
		d.Kind = k
	}
	words := strings.Fields(strings.ToLower(d.Find))
	at := map[string]int{}
	for _, l := range laws() {
		if d.Kind != "" && l.Kind != d.Kind || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(l.found, w) }) {
			continue
		}
		key := l.Kind + "." + l.Group
		i, ok := at[key]
		if !ok {
			i, at[key] = len(d.Groups), len(d.Groups)
			d.Groups = append(d.Groups, lawGroup{Kind: l.Kind, Name: l.Group})
		}
		d.Groups[i].Laws = append(d.Groups[i].Laws, l)
		d.Shown++
	}
	return page{name: "rules", title: "rules.title", data: d}, nil
}

// ruleData is the page of one.
type ruleData struct {
	law
	Doc []docBlock
}

func (c *Console) rule(v *visit) (page, error) {
	l, ok := lawOf(v.r.PathValue("id"))
	if !ok {
		return page{}, errNoPage
	}
	return page{
		name: "rule", title: "rule.title", args: []any{l.Title}, data: &ruleData{law: l, Doc: readDoc(l.text)},
		trail: []crumb{{"/rules", c.sheets[v.lang].words.say("rules.title")}},
	}, nil
}
