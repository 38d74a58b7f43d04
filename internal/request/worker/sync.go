package worker

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/merge"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

var baseWords = words{
	"base", "common", "original", "ancestor", "before", "спільний початок", "початков*", "основа", "元", "共通", "原本",
}

// What Sync says.
var (
	sayOneChanged  = phrase{"Only this side changed it.", "Це змінила лише ця сторона.", "こちら側だけが変えた。"}
	sayBothChanged = phrase{"Both sides changed it alike.", "Обидві сторони змінили однаково.", "両側が同じように変えた。"}
	sayOneDeleted  = phrase{"Only one side took it away.", "Це вилучила лише одна сторона.", "片側だけが取り除いた。"}
	sayHigher      = phrase{"Version %d is higher than %d: the higher version stands.", "Версія %d вища за %d: стоїть вища.", "版%dは%dより高い。高いほうが残る。"}
	sayLines       = phrase{"lines %d-%d", "рядки %d-%d", "%d～%d行"}
	sayNotThere    = phrase{"A version was not handed over: refer to it, or put it into the request between lines of ```.", "Однієї з версій не надано: пошлися на неї або встав у запит між рядками ```.", "版の一つが渡されていない。参照するか、```の行で囲んで依頼に入れる。"}
	sayWholeRecord = phrase{"the whole record", "увесь запис", "記録全体"}
)

// side is one version of a record.
type side struct {
	source artifact.Source
	name   string
	text   string
}

// syncRecords brings versions together that were edited apart
// (docs/spec/circle.md §1). Contracts go by the contracts' own rules (package
// merge): the higher version stands, two contents of one version are for people.
// Texts go line by line against the version they began with; without that,
// whatever differs is a conflict. Nothing appears that no side has.
func syncRecords(t *Task) (Result, error) {
	sides, base := t.sides()
	missing := max(0, 2-len(sides))
	for len(sides) < 2 {
		s := t.Request.Source
		s.Kind, s.ID, s.SHA256 = artifact.FromRequest, t.Request.ID, artifact.Digest(nil)
		s.Origin = cmp.Or(s.Origin, t.Request.Origin)
		sides = append(sides, side{source: s})
	}
	var m merged
	kind := "document"
	switch sides[0].source.Kind {
	case artifact.FromContract:
		kind = "contract"
	case artifact.FromArtifact:
		kind = "artifact"
	case artifact.FromMemory:
		kind = "memory"
	case artifact.FromRequest, artifact.FromDiff, artifact.FromURL, artifact.FromDocument:
	}
	if missing > 0 {
		m = t.unseen(sides)
	} else if kind == "contract" {
		var err error
		if m, err = t.byVersion(sides); err != nil {
			return Result{}, err
		}
	} else {
		m = t.byLine(sides, base)
	}
	record := ""
	for _, s := range sides {
		if record == "" && s.name != "" {
			record = path.Base(s.name)
		}
	}
	objects := make([]canonical.Object, len(sides))
	for i, s := range sides {
		objects[i] = canonical.Object{{Key: "sha256", Value: s.source.SHA256}, {Key: "origin", Value: string(s.source.Origin)}}
		if s.source.Kind == artifact.FromRequest && s.text != "" {
			objects[i] = append(objects[i], canonical.Member{Key: "edited_by", Value: t.Request.Member})
		}
	}
	o := canonical.Object{
		{Key: "record", Value: canonical.Object{{Key: "kind", Value: kind}, {Key: "id", Value: clip(cmp.Or(record, t.Request.ID), 2048)}}},
		{Key: "sides", Value: objects},
		{Key: "changes", Value: m.changes},
		{Key: "conflicts", Value: m.conflicts},
		{Key: "merged", Value: m.text},
		{Key: "clean", Value: len(m.conflicts) == 0},
	}
	if base != nil {
		put(&o, "base", base.source.SHA256)
	}
	d := drafted(envelope.MergeProposal, o)
	for _, s := range sides {
		if s.source.Kind != artifact.FromRequest {
			d.Sources = append(d.Sources, s.source)
		}
	}
	if base != nil && base.source.Kind != artifact.FromRequest {
		d.Sources = append(d.Sources, base.source)
	}
	d.Concerns = t.concerned()
	return Result{Drafts: []Draft{d}}, nil
}

// unseen is what can be said where a version was not handed over: what is there
// stands as it is, and people are asked for the rest. Nothing is made up.
func (t *Task) unseen(sides []side) merged {
	m := merged{text: sides[0].text, changes: []canonical.Object{}, conflicts: []canonical.Object{}}
	m.change(t.tongue().say(sayWholeRecord), "neither", t.tongue().say(sayNotThere))
	m.conflict(t.tongue().say(sayWholeRecord), sides[0].text, sides[1].text, nil)
	return m
}

// The most that is merged at once.
const (
	maxSides      = 8
	maxMergeLines = 5_000
)

// sides is the versions to merge: the documents that are referred to, and the
// blocks of the text. The version they began with is the one that says so, where
// there are more than two.
func (t *Task) sides() (list []side, base *side) {
	for _, d := range t.found() {
		if d.Source.Kind != artifact.FromDiff && d.Source.Kind != artifact.FromURL {
			list = append(list, side{d.Source, cmp.Or(d.Title, d.Reference.ID), d.Text})
		}
	}
	for i, b := range blocks(t.Request.Text) {
		s := t.Request.Source
		s.Kind, s.ID, s.SHA256 = artifact.FromRequest, t.Request.ID, artifact.Digest([]byte(b))
		list = append(list, side{s, fmt.Sprintf("%s.%d", t.Request.ID, i+1), b})
	}
	if len(list) == 1 && len(t.Facts.Notes) > 0 { // the circle's own record, by the words of the request
		n := t.Facts.Notes[0]
		list = append(list, side{noteSource(n), cmp.Or(n.Title, n.ID), n.Text})
	}
	for i, s := range list {
		if len(list) > 2 && baseWords.in(strings.NewReplacer("-", " ", "_", " ", ".", " ", "/", " ").Replace(s.name)) {
			base = &s
			list = slices.Delete(slices.Clone(list), i, i+1)
			break
		}
	}
	return list[:min(len(list), maxSides)], base
}

// blocks is the fenced blocks of a text: what somebody pastes.
func blocks(text string) []string {
	list := []string{}
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "```")
		inside, behind, closed := strings.Cut(after, "```")
		if !ok || !closed {
			return list
		}
		if first, body, found := strings.Cut(inside, "\n"); found && len(tokens(first)) <= 1 {
			inside = body
		}
		if inside = strings.Trim(inside, "\n"); inside != "" {
			list = append(list, inside)
		}
		rest = behind
	}
}

// merged is what became of the sides.
type merged struct {
	text      string
	changes   []canonical.Object
	conflicts []canonical.Object
}

func (m *merged) change(place, taken, why string) {
	if len(m.changes) < 1000 {
		m.changes = append(m.changes, canonical.Object{{Key: "place", Value: clip(place, 500)}, {Key: "taken", Value: taken}, {Key: "why", Value: line(why)}})
	}
}

func (m *merged) conflict(place, left, right string, base *string) {
	o := canonical.Object{{Key: "place", Value: clip(place, 500)}, {Key: "left", Value: clip(left, 8192)}, {Key: "right", Value: clip(right, 8192)}}
	if base != nil {
		o = append(o, canonical.Member{Key: "base", Value: clip(*base, 8192)})
	}
	if len(m.conflicts) < 1000 {
		m.conflicts = append(m.conflicts, o)
	}
}

// byVersion merges contracts by the rules of the contracts.
func (t *Task) byVersion(sides []side) (merged, error) {
	say := t.tongue()
	m := merged{changes: []canonical.Object{}, conflicts: []canonical.Object{}}
	updates := make([]any, len(sides))
	for i, s := range sides {
		v, err := contract.Parse([]byte(s.text))
		if err != nil { // which may quote the text
			return m, fault.E("worker.Sync", fault.Invalid, "a version is no contract that reads", nil)
		}
		updates[i] = v
	}
	r, err := merge.Updates(updates...)
	place := say.say(sayWholeRecord)
	switch {
	case r.Winner >= 0 && err == nil:
		m.text = sides[r.Winner].text
		if r.Merge.Strategy != nil {
			loser := 0
			if r.Winner == 0 {
				loser = 1
			}
			m.change(place, leftOrRight(r.Winner), say.say(sayHigher, versionOf(updates[r.Winner]), versionOf(updates[loser])))
		}
	case r.Merge.Status == contract.MergeManual:
		m.text = conflicted(sides[0].text, sides[1].text)
		m.conflict(place, sides[0].text, sides[1].text, nil)
	default: // other contracts, an archived one, evidence that differs: nothing is merged
		m.text = sides[0].text
		m.conflict(place, sides[0].text, sides[1].text, nil)
	}
	return m, nil
}

func leftOrRight(i int) string {
	if i == 0 {
		return "left"
	}
	return "right"
}

func versionOf(v any) int {
	o, _ := v.(map[string]any)
	n := 0
	if number := fmt.Sprint(o["version"]); number != "" {
		for _, r := range number {
			if r < '0' || r > '9' || n > maxNumber {
				break
			}
			n = n*10 + int(r-'0')
		}
	}
	return n
}

func conflicted(left, right string) string {
	return "<<<<<<<\n" + strings.TrimSuffix(left, "\n") + "\n=======\n" + strings.TrimSuffix(right, "\n") + "\n>>>>>>>"
}

// byLine merges texts two by two, in their order.
func (t *Task) byLine(sides []side, base *side) merged {
	m := merged{changes: []canonical.Object{}, conflicts: []canonical.Object{}}
	m.text = sides[0].text
	for _, s := range sides[1:] {
		m.text = t.join(&m, m.text, s.text, base)
	}
	if len(m.text) > 200_000 {
		m.text = m.text[:200_000]
	}
	m.text = strings.ToValidUTF8(m.text, "")
	return m
}

func linesOf(s string) []string { return strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }

// join merges two texts against the one they began with.
func (t *Task) join(m *merged, left, right string, base *side) string {
	say := t.tongue()
	a, b := linesOf(left), linesOf(right)
	if slices.Equal(a, b) {
		return left
	}
	if base == nil || len(a)+len(b) > 2*maxMergeLines {
		return t.apart(m, a, b)
	}
	o := linesOf(base.text)
	inLeft, inRight := kept(o, a), kept(o, b) // for each line of the base, where it is
	out := []string{}
	i, j, at := 0, 0, 0
	for at <= len(o) {
		// The next line of the base that both still have ends a place.
		next := at
		for next < len(o) && (inLeft[next] < 0 || inRight[next] < 0) {
			next++
		}
		endLeft, endRight := len(a), len(b)
		if next < len(o) {
			endLeft, endRight = inLeft[next], inRight[next]
		}
		was, l, r := o[at:next], a[i:endLeft], b[j:endRight]
		place := say.say(sayLines, at+1, max(at+1, next))
		switch {
		case slices.Equal(l, r):
			out = append(out, l...)
			if !slices.Equal(l, was) {
				m.change(place, "both", say.say(sayBothChanged))
			}
		case slices.Equal(l, was):
			out = append(out, r...)
			m.change(place, "right", say.say(deletedOr(r)))
		case slices.Equal(r, was):
			out = append(out, l...)
			m.change(place, "left", say.say(deletedOr(l)))
		default:
			base := strings.Join(was, "\n")
			m.conflict(place, strings.Join(l, "\n"), strings.Join(r, "\n"), &base)
			out = append(out, conflicted(strings.Join(l, "\n"), strings.Join(r, "\n")))
		}
		if next < len(o) {
			out = append(out, o[next])
		}
		i, j, at = endLeft+1, endRight+1, next+1
	}
	return strings.Join(out, "\n")
}

func deletedOr(taken []string) phrase {
	if len(taken) == 0 {
		return sayOneDeleted
	}
	return sayOneChanged
}

// apart merges two texts whose beginning nobody knows: what both have stands, the
// rest is for people.
func (t *Task) apart(m *merged, a, b []string) string {
	say := t.tongue()
	out := []string{}
	where := kept(a, b)
	i, j := 0, 0
	for i <= len(a) {
		next := i
		for next < len(a) && where[next] < 0 {
			next++
		}
		end := len(b)
		if next < len(a) {
			end = where[next]
		}
		if l, r := a[i:next], b[j:end]; len(l) > 0 || len(r) > 0 {
			left, right := strings.Join(l, "\n"), strings.Join(r, "\n")
			m.conflict(say.say(sayLines, i+1, max(i+1, next)), left, right, nil)
			out = append(out, conflicted(left, right))
		}
		if next < len(a) {
			out = append(out, a[next])
		}
		i, j = next+1, end+1
	}
	return strings.Join(out, "\n")
}

// kept says for each line of a where it stands in b, -1 where it does not: the
// longest list of lines that both have in one order. Long texts are compared at
// their ends only.
func kept(a, b []string) []int {
	where := make([]int, len(a))
	for i := range where {
		where[i] = -1
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		where[head] = head
		head++
	}
	endA, endB := len(a), len(b)
	for endA > head && endB > head && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
		where[endA] = endB
	}
	a, b = a[head:endA], b[head:endB]
	if len(a)*len(b) > 4_000_000 {
		return where
	}
	longest := make([][]int32, len(a)+1)
	for i := range longest {
		longest[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			where[head+i] = head + j
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return where
}
