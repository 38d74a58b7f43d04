package source

// tableKind is how a TOML table came to be; it decides who may add to it.
type tableKind int

const (
	tableImplied tableKind = iota // a prefix of some [header]: may still get a header of its own
	tableHeader                   // a [header], or an inline table while it is read
	tableDotted                   // a prefix of a dotted key: closed to headers of its own
)

// A tomlTable is a table that is still being read.
type tomlTable struct {
	kind    tableKind
	pos     Position
	entries []tomlEntry
	index   map[string]int
}

// A tomlEntry is one key of a table: a table, an array of tables, or a value
// that is closed for good. Exactly one of the three is set.
type tomlEntry struct {
	key    keyPart
	table  *tomlTable
	tables []*tomlTable
	closed Value
}

func newTable(kind tableKind, pos Position) *tomlTable {
	return &tomlTable{kind: kind, pos: pos}
}

func (t *tomlTable) find(name string) *tomlEntry {
	if i, ok := t.index[name]; ok {
		return &t.entries[i]
	}
	return nil
}

func (t *tomlTable) free(name string) bool { return t.find(name) == nil }

func (t *tomlTable) add(e tomlEntry) {
	if t.index == nil {
		t.index = map[string]int{}
	}
	t.index[e.key.name] = len(t.entries)
	t.entries = append(t.entries, e)
}

func (t *tomlTable) child(k keyPart, kind tableKind) *tomlTable {
	c := newTable(kind, k.pos)
	t.add(tomlEntry{key: k, table: c})
	return c
}

// set stores a value under a free key.
func (t *tomlTable) set(k keyPart, v Value) { t.add(tomlEntry{key: k, closed: v}) }

// enter goes into k on the way to the last part of a header; of an array of
// tables that is its newest.
func (t *tomlTable) enter(k keyPart) (*tomlTable, bool) {
	e := t.find(k.name)
	switch {
	case e == nil:
		return t.child(k, tableImplied), true
	case e.table != nil:
		return e.table, true
	case e.tables != nil:
		return e.tables[len(e.tables)-1], true
	}
	return nil, false
}

// open is the table of [….k]: new, or so far only implied.
func (t *tomlTable) open(k keyPart) (*tomlTable, bool) {
	e := t.find(k.name)
	switch {
	case e == nil:
		return t.child(k, tableHeader), true
	case e.table != nil && e.table.kind == tableImplied:
		e.table.kind = tableHeader
		return e.table, true
	}
	return nil, false
}

// push is the new table of [[….k]].
func (t *tomlTable) push(k keyPart) (*tomlTable, bool) {
	c := newTable(tableHeader, k.pos)
	e := t.find(k.name)
	switch {
	case e == nil:
		t.add(tomlEntry{key: k, tables: []*tomlTable{c}})
		return c, true
	case e.tables != nil:
		e.tables = append(e.tables, c)
		return c, true
	}
	return nil, false
}

// dotted goes into k on the way to the last part of a dotted key.
func (t *tomlTable) dotted(k keyPart) (*tomlTable, bool) {
	e := t.find(k.name)
	switch {
	case e == nil:
		return t.child(k, tableDotted), true
	case e.table != nil && e.table.kind == tableDotted:
		return e.table, true
	}
	return nil, false
}

// value is the finished table.
func (t *tomlTable) value() Value {
	var m members
	for _, e := range t.entries {
		v := e.closed
		switch {
		case e.table != nil:
			v = e.table.value()
		case e.tables != nil:
			v = Value{Kind: List, Pos: e.key.pos}
			for _, item := range e.tables {
				v.Items = append(v.Items, item.value())
			}
		}
		m.add(Member{Key: e.key.name, Pos: e.key.pos, Value: v})
	}
	return m.value(t.pos)
}
