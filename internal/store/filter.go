package store

import (
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline"
)

// where collects the conditions of a query with their parameters.
type where struct {
	conditions []string
	args       []any
}

// arg adds a parameter and answers how the query names it.
func (w *where) arg(v any) string {
	w.args = append(w.args, v)
	return "$" + strconv.Itoa(len(w.args))
}

// values is a row of an INSERT of several.
func (w *where) values(row ...any) string {
	names := make([]string, len(row))
	for i, v := range row {
		names[i] = w.arg(v)
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func (w *where) add(condition string) { w.conditions = append(w.conditions, condition) }

// in demands that column has one of the values; no value demands nothing.
func in[T ~string](w *where, column string, values []T) {
	if len(values) > 0 {
		w.add(column + " IN " + among(w, values))
	}
}

// among is a list of values in parentheses.
func among[T ~string](w *where, values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = w.arg(string(v))
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// ofPath demands that a column names a chain of one of the paths: an index knows
// those.
func ofPath(column string, w *where, correlations []string) string {
	return column + " IN (SELECT id FROM chains WHERE correlation_id IN " + among(w, correlations) + ")"
}

// within demands since <= column < before; a zero bound demands nothing.
func (w *where) within(column string, since, before time.Time) {
	if !since.IsZero() {
		w.add(column + " >= " + w.arg(since.UnixMicro()))
	}
	if !before.IsZero() {
		w.add(column + " < " + w.arg(before.UnixMicro()))
	}
}

// page demands what comes behind p in a list ordered by at and id, both
// descending, and answers the end of the query.
func (w *where) page(p pipeline.Page, at, id string) string {
	if !p.Behind.At.IsZero() {
		w.add("(" + at + ", " + id + ") < (" + w.arg(p.Behind.At.UnixMicro()) + ", " + w.arg(p.Behind.ID) + ")")
	}
	return w.String() + " ORDER BY " + at + " DESC, " + id + " DESC" + w.limit(p.Limit)
}

// limit ends a query after n rows; 0 is no limit.
func (w *where) limit(n int) string {
	if n <= 0 {
		return ""
	}
	return " LIMIT " + w.arg(int64(n))
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// params is ($1, ..., $n): the values of an INSERT of n columns.
func params(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = "$" + strconv.Itoa(i+1)
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// columns counts the columns of a list like "id, version".
func columns(list string) int { return strings.Count(list, ",") + 1 }

// joined is a list of words as one text that LIKE can search: ",a,b,".
func joined[T ~string](words []T) string {
	if len(words) == 0 {
		return ""
	}
	var b strings.Builder
	for _, w := range words {
		b.WriteByte(',')
		b.WriteString(string(w))
	}
	b.WriteByte(',')
	return b.String()
}

// split undoes joined; the list is never nil.
func split[T ~string](text string) []T {
	list := []T{}
	for word := range strings.SplitSeq(strings.Trim(text, ","), ",") {
		if word != "" {
			list = append(list, T(word))
		}
	}
	return list
}
