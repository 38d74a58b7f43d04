package console

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// fact is a member of a document as a page shows it: a name with a text, or with
// facts of its own. Whatever a text holds, it is shown as text.
type fact struct {
	Name  string // "" in a list
	N     int    // in a list, from 1
	Text  string
	Code  bool // a number, a truth value or nothing
	Facts []fact
}

// What a page shows of one document.
const (
	factsMost    = 400
	factDepth    = 10
	factTextMost = 4_000
)

// factsOf is a document as a page shows it, in its own order, a text of it up to so
// many bytes. rest says that there is more of it.
func factsOf(text []byte, most int) (list []fact, rest bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	r := factReader{d: d, most: most}
	f := r.value("", 0)
	if r.failed {
		return []fact{{Text: plain(shortened(string(text), most))}}, len(text) > most
	}
	// What people want to read comes first, whatever the alphabet says.
	slices.SortStableFunc(f.Facts, func(a, b fact) int { return leads(a.Name) - leads(b.Name) })
	return f.Facts, r.rest
}

// factLead is the members that say what a document is about, in the order in
// which somebody would tell it.
var factLead = []string{"title", "question", "proposal", "statement", "summary", "text", "change", "verdict", "risk", "outcome", "reasons"}

func leads(name string) int {
	if i := slices.Index(factLead, name); i >= 0 {
		return i
	}
	return len(factLead)
}

type factReader struct {
	d      *json.Decoder
	most   int
	n      int
	rest   bool
	failed bool
}

func (r *factReader) value(name string, depth int) fact {
	f := fact{Name: name}
	t, err := r.d.Token()
	if err != nil || r.failed {
		r.failed = true
		return f
	}
	r.n++
	delim, nested := t.(json.Delim)
	if !nested {
		switch v := t.(type) {
		case string:
			f.Text = plain(shortened(v, r.most))
			r.rest = r.rest || len(v) > r.most
		case json.Number:
			f.Text, f.Code = v.String(), true
		case bool:
			f.Text, f.Code = map[bool]string{true: "true", false: "false"}[v], true
		default:
			f.Code = true
		}
		return f
	}
	for r.d.More() && !r.failed {
		inner := ""
		if delim == '{' {
			key, err := r.d.Token()
			if err != nil {
				r.failed = true
				return f
			}
			inner, _ = key.(string)
		}
		made := r.value(inner, depth+1)
		if r.n > factsMost || depth >= factDepth {
			r.rest = true
			continue
		}
		if delim == '[' {
			made.N = len(f.Facts) + 1
		}
		f.Facts = append(f.Facts, made)
	}
	if _, err := r.d.Token(); err != nil {
		r.failed = true
	}
	return f
}

// Empty says whether there is nothing to show.
func (f fact) Empty() bool { return f.Text == "" && len(f.Facts) == 0 }

// Plain says whether a list holds nothing but texts.
func (f fact) Plain() bool {
	for _, one := range f.Facts {
		if one.Name != "" || len(one.Facts) > 0 {
			return false
		}
	}
	return true
}

// Value names a value that may have words of its own: of a truth value the value,
// of a text the member it is of as well, so that what people wrote is never taken
// for one.
func (f fact) Value() string {
	if f.Code {
		return f.Text
	}
	if len(f.Text) > 40 || strings.ContainsAny(f.Text, " .\n") {
		return ""
	}
	return f.Name + "." + f.Text
}

// Label is the name in people's spelling, for one that has no words of its own.
func (f fact) Label() string { return strings.ReplaceAll(f.Name, "_", " ") }

// shortened is a text of at most so many bytes, ended between characters.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
