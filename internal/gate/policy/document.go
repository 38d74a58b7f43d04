package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/source"
)

// document is a policy file as far as it could be understood.
type document struct {
	id, version string // "" when the file does not say
	entries     []entry
	faults      []fault // in file order
	marked      bool    // begins with a byte order mark
}

// entry is one element of rules[] that grades a rule of the families asked for.
// Empty fields keep what is built in.
type entry struct {
	rule                  *rule.Rule
	action                rule.Action
	risk                  rule.Risk
	title, recommendation string
	value                 source.Value
}

// fault is a member the format does not have, or a value it does not allow. It
// names the place, not the content: a policy is untrusted text.
type fault struct {
	pos  source.Position
	what string
}

// problem is why a file cannot be used at all.
type problem struct{ code, message string }

// describeFaults is one sentence with the place of the first fault.
func (d *document) describeFaults() string {
	first := d.faults[0]
	s := "The policy " + first.what
	if first.pos.Line > 0 {
		s += fmt.Sprintf(" at line %d, column %d", first.pos.Line, first.pos.Column)
	}
	if more := len(d.faults) - 1; more > 0 {
		s += fmt.Sprintf(" (and %d more)", more)
	}
	return s + "."
}

// read parses a file that was found. Rules outside families are checked for
// their form and then left alone: a unified file may list them (§10.2).
func read(file File, catalogue map[string]*rule.Rule, families []*family) (document, *problem) {
	switch {
	case file.Err != "":
		return document{}, &problem{CodeLoadFailed, file.Err}
	case len(file.Bytes) > MaxBytes:
		return document{}, &problem{CodeLoadFailed, "The policy file is larger than 1 MiB."}
	case !utf8.Valid(file.Bytes):
		return document{}, &problem{CodeLoadFailed, "The policy file is not UTF-8."}
	}
	text, marked := source.TrimBOM(file.Bytes)
	root, err := source.ParseYAML(text)
	switch {
	case err != nil:
		return document{}, &problem{CodeLoadFailed, "The policy file is not valid YAML: " + err.Error() + "."}
	case root.Kind != source.Map:
		return document{}, &problem{CodeLoadFailed, "The policy file is not one mapping."}
	}
	d := decoder{catalogue: catalogue, families: families}
	d.doc.marked = marked
	d.file(root)
	return d.doc, nil
}

type decoder struct {
	catalogue map[string]*rule.Rule
	families  []*family
	doc       document
}

func (d *decoder) fault(pos source.Position, what string) {
	d.doc.faults = append(d.doc.faults, fault{pos, what})
}

func (d *decoder) file(root source.Value) {
	for _, m := range root.Members {
		switch m.Key {
		case "id":
			d.doc.id = d.text(m)
		case "version":
			d.doc.version = d.version(m)
		case "name":
			// For people; any value is fine.
		case "rules":
			d.rules(m.Value)
		default:
			d.fault(m.Pos, "has a member that the format does not know")
		}
	}
}

func (d *decoder) rules(list source.Value) {
	if list.Kind != source.List {
		d.fault(list.Pos, "has rules that are no list")
		return
	}
	for _, item := range list.Items {
		if item.Kind != source.Map {
			d.fault(item.Pos, "has a rule that is no mapping")
			continue
		}
		d.entry(item)
	}
}

func (d *decoder) entry(item source.Value) {
	id := item.Get("id")
	r := d.catalogue[id.Str()]
	switch {
	case !id.Present():
		d.fault(item.Pos, "has a rule without an id")
	case r == nil || !d.listable(r):
		d.fault(id.Pos, "names a rule that it cannot grade")
		r = nil
	}
	e := entry{rule: r, value: item}
	for _, m := range item.Members {
		switch m.Key {
		case "id":
		case "action":
			if e.action = rule.Action(m.Value.Str()); !e.action.Valid() {
				e.action = ""
				d.fault(m.Value.Pos, "has an action that does not exist")
			}
		case "risk_level":
			if e.risk = rule.Risk(m.Value.Str()); !e.risk.Valid() {
				e.risk = ""
				d.fault(m.Value.Pos, "has a risk level that does not exist")
			}
		case "check_id":
			// Check ids are stable identifiers: naming one is fine, changing it
			// is not (OP-18).
			if r != nil && m.Value.Str() != r.CheckID {
				d.fault(m.Value.Pos, "changes a check id")
			}
		case "title":
			e.title = d.text(m)
		case "recommendation":
			e.recommendation = d.text(m)
		default:
			d.fault(m.Pos, "has a member that the format does not know")
		}
	}
	if r != nil && d.graded(r) {
		d.doc.entries = append(d.doc.entries, e)
	}
}

// graded says whether the file may set the grade of r.
func (d *decoder) graded(r *rule.Rule) bool {
	return slices.ContainsFunc(d.families, func(f *family) bool { return f.name == r.Family })
}

// listable says whether the file may name r at all: a file for both families
// may name every rule, a legacy file its own.
func (d *decoder) listable(r *rule.Rule) bool { return len(d.families) > 1 || d.graded(r) }

func (d *decoder) text(m source.Member) string {
	s := m.Value.Str()
	if strings.TrimSpace(s) == "" {
		d.fault(m.Value.Pos, "has an empty or non-text "+m.Key)
		return ""
	}
	return s
}

// version may be written without quotes: "version: 3" says what is meant.
func (d *decoder) version(m source.Member) string {
	if k := m.Value.Kind; k == source.Number || k == source.Date {
		return m.Value.Text
	}
	return d.text(m)
}
