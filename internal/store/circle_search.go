package store

import (
	"database/sql"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/memory"
)

// FullText is how a database finds words. $1 is the query in every part.
type FullText struct {
	Terms  string // makes what is indexed of the words in $1
	Match  string // the condition
	Best   string // what the list is ordered by, best first
	Begin  string // ends a word of a query that is the beginning of one
	Either string // stands between the words of a query
}

// candidates is how many notes the database may find for each that is asked for.
// Its own order is a first choice: the two rank by rules of their own.
const candidates = 8

const noteColumns = `id, kind, circle, owner, visibility, origin, source, sha256, title, text, created_at, expires_at`

func scanNote(rows *sql.Rows) (memory.Note, error) {
	var n memory.Note
	err := rows.Scan(&n.ID, &n.Kind, &n.Circle, &n.Owner, &n.Visibility, &n.Origin, &n.Source, &n.SHA256,
		typed{&n.Title}, typed{&n.Text}, instant{&n.CreatedAt}, instant{&n.ExpiresAt})
	return n, err
}

// typed reads a text that is kept as bytes, since people may type anything.
type typed struct{ to *string }

// Scan implements sql.Scanner.
func (p typed) Scan(v any) error {
	text, ok := v.([]byte)
	if !ok {
		return fault.E("store.Scan", fault.Internal, "a text is not stored as bytes", nil)
	}
	*p.to = string(text)
	return nil
}

// seen demands that the viewer may see a note and that it has not ended.
func (c circleReader) seen(w *where, v memory.Viewer) {
	circle := w.arg(v.Circle)
	w.add(`(visibility = 'public' OR visibility IN ('circle', 'clan') AND circle = ` + circle +
		` OR visibility = 'private' AND circle = ` + circle + ` AND owner = ` + w.arg(v.Actor) +
		` OR visibility = 'clan' AND circle IN (SELECT id FROM circles WHERE clan <> '' AND clan = ` + w.arg(v.Clan) + `))`)
	w.add(`(expires_at IS NULL OR expires_at > ` + w.arg(c.Now().UnixMicro()) + `)`)
}

// Note implements request.MemoryReader.
func (c circleReader) Note(id string, v memory.Viewer) (*memory.Note, error) {
	w := &where{}
	w.add("id = " + w.arg(id))
	c.seen(w, v)
	n, err := one(c.r, "store.Note", "read note "+id, scanNote, `SELECT `+noteColumns+` FROM circle_notes`+w.String(), w.args...)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

// Search implements request.MemoryReader.
func (c circleReader) Search(q memory.Query, kinds []memory.Kind, v memory.Viewer, limit int) ([]memory.Note, error) {
	if len(q) == 0 || limit <= 0 {
		return []memory.Note{}, nil
	}
	ft := c.r.d.FullText
	wanted := make([]string, len(q))
	for i, s := range q {
		wanted[i] = spelt(s.Text)
		if s.Begin {
			wanted[i] += ft.Begin
		}
	}
	w := &where{}
	w.arg(strings.Join(wanted, ft.Either)) // $1
	w.add(ft.Match)
	in(w, "kind", kinds)
	c.seen(w, v)
	found, err := rows(c.r, "store.Search", "search what the circle remembers", scanNote,
		`SELECT `+noteColumns+` FROM circle_search JOIN circle_notes ON circle_notes.seq = circle_search.rowid`+w.String()+
			` ORDER BY `+ft.Best+`, created_at DESC, id`+w.limit(limit*candidates), w.args...)
	if err != nil {
		return nil, err
	}
	found = q.Ranked(found)
	return found[:min(len(found), limit)], nil
}

// Keep implements request.MemoryWriter.
func (c circleTx) Keep(n memory.Note) error {
	const op = "store.Keep"
	what := "keep note " + n.ID
	row := []any{
		n.ID, string(n.Kind), n.Circle, n.Owner, string(n.Visibility), string(n.Origin), n.Source, n.SHA256, []byte(n.Title), []byte(n.Text),
		n.CreatedAt.UnixMicro(), micros(n.ExpiresAt),
	}
	replaced, err := c.t.exec(op, what, `UPDATE circle_notes SET (kind, visibility, origin, source, sha256, title, text, created_at, expires_at) =
		($2, $5, $6, $7, $8, $9, $10, $11, $12) WHERE id = $1 AND circle = $3 AND owner = $4`, row...)
	if err == nil && replaced == 0 {
		err = c.t.create(op, what, `INSERT INTO circle_notes (`+noteColumns+`) VALUES `+params(len(row)), row...)
	}
	if err != nil {
		return err
	}
	var seq int64
	if err := c.t.row(op, what, `SELECT seq FROM circle_notes WHERE id = $1`, n.ID)(&seq); err != nil {
		return err
	}
	if _, err := c.t.exec(op, what, `DELETE FROM circle_search WHERE rowid = $1`, seq); err != nil {
		return err
	}
	terms := memory.Terms(n.Title + "\n" + n.Text)
	for i, t := range terms {
		terms[i] = spelt(t)
	}
	_, err = c.t.exec(op, what, `INSERT INTO circle_search (terms, rowid) VALUES (`+c.t.d.FullText.Terms+`, $2)`, strings.Join(terms, " "), seq)
	return err
}

// Forget implements request.MemoryWriter.
func (c circleTx) Forget(id string) error {
	const op = "store.Forget"
	what := "forget note " + id
	if _, err := c.t.exec(op, what, `DELETE FROM circle_search WHERE rowid = (SELECT seq FROM circle_notes WHERE id = $1)`, id); err != nil {
		return err
	}
	n, err := c.t.exec(op, what, `DELETE FROM circle_notes WHERE id = $1`, id)
	if err == nil && n == 0 {
		return fault.E(op, fault.NotFound, what+": there is none", nil)
	}
	return err
}

// spelt is a word in letters from a to p, two for each byte: both databases then
// index exactly the words the program made, whatever their own tokenizers think
// of a script, and the beginning of a word stays one.
func spelt(word string) string {
	const letters = "abcdefghijklmnop"
	out := make([]byte, 0, 2*len(word))
	for i := range len(word) {
		out = append(out, letters[word[i]>>4], letters[word[i]&15])
	}
	return string(out)
}
