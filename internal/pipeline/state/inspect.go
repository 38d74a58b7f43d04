package state

import (
	"strings"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Row is one edge of the table in words, for those who read it: the printed
// document, the console.
type Row struct {
	Kinds     []contract.Kind
	From      []contract.State // a first "" is creation
	To        contract.State
	Only      string // when the pair is open at all, "" for always
	Authority string
	Guards    []string // each with the codes it refuses with
	Effects   []string
}

// Rows is the table in words and in its order.
func Rows() []Row {
	rows := make([]Row, len(table))
	for i, e := range table {
		r := Row{Kinds: e.kinds, From: e.from, To: e.to, Only: e.only, Authority: e.by.words}
		for _, g := range e.guards {
			r.Guards = append(r.Guards, g.words+" (`"+strings.ReplaceAll(g.codes, ", ", "`, `")+"`)")
		}
		for _, eff := range e.effects {
			text := string(eff.Do)
			if eff.Event != "" {
				text = "`" + string(eff.Event) + "`"
			}
			if eff.words != "" {
				text += " for " + eff.words
			}
			r.Effects = append(r.Effects, text)
		}
		rows[i] = r
	}
	return rows
}

// Cell is one cell of the matrix: ok when some event can take the pair, only
// the words that narrow it, and the code that stands there otherwise.
func Cell(k contract.Kind, from, to contract.State) (ok bool, only string, code refusal.Code) {
	e, code := lookup(k, from, to)
	if e == nil {
		return false, "", code
	}
	return true, e.only, e.closed
}
