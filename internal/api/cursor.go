package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/refusal"
)

// A cursor is where a page ended, together with the list and the filters it was
// given out for: it carries them, so the next page asks for nothing else, and
// one that is used with another list or with other filters is refused. It is no
// secret and opens nothing; the sum in it finds the ones that were made up.

type cursor struct {
	List    string `json:"l"`           // the operation
	Filters string `json:"f"`           // as they were given, without limit and cursor
	At      int64  `json:"a,omitempty"` // of a list by time: microseconds
	ID      string `json:"i,omitempty"`
	After   int64  `json:"p,omitempty"` // of a list by position
}

const cursorSum = 9 // bytes of SHA-256 before the text

func (c cursor) String() string {
	text, _ := json.Marshal(c) // strings and integers can be written
	sum := sha256.Sum256(append([]byte("plimsoll cursor\n"), text...))
	return base64.RawURLEncoding.EncodeToString(append(sum[:cursorSum:cursorSum], text...))
}

func parseCursor(text string) (cursor, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < cursorSum {
		return cursor{}, false
	}
	var c cursor
	if err := json.Unmarshal(raw[cursorSum:], &c); err != nil || c.String() != text {
		return cursor{}, false
	}
	return c, true
}

const (
	defaultLimit = 50
	maxLimit     = 200
)

// paging takes limit and cursor out of a query and gives what is left to the
// filters: those of the cursor when there is one.
func paging(list string, query url.Values) (c cursor, limit int, err error) {
	limit = defaultLimit
	if values, given := query["limit"]; given {
		n, err := strconv.Atoi(values[0])
		if err != nil || len(values) != 1 || n < 1 || n > maxLimit {
			return cursor{}, 0, refuse(refusal.RequestMalformed, "limit is a number from 1 to %d", maxLimit)
		}
		limit = n
		query.Del("limit")
	}
	values, given := query["cursor"]
	query.Del("cursor")
	filters := query.Encode()
	if !given {
		return cursor{List: list, Filters: filters}, limit, nil
	}
	c, ok := parseCursor(values[0])
	if !ok || len(values) != 1 || c.List != list || filters != "" && filters != c.Filters {
		return cursor{}, 0, refuse(refusal.RequestCursorInvalid, "the cursor was not given out by this list with these filters")
	}
	return c, limit, nil
}

// page is where to go on in a list by time.
func (c cursor) page(limit int) pipeline.Page {
	p := pipeline.Page{Limit: limit}
	if c.ID != "" {
		p.Behind = pipeline.Mark{At: time.UnixMicro(c.At).UTC(), ID: c.ID}
	}
	return p
}

// behind is the cursor of the page after the one that ends at m.
func (c cursor) behind(m pipeline.Mark) string {
	c.At, c.ID = m.At.UnixMicro(), m.ID
	return c.String()
}

// after is the cursor of the page after the one that ends at a position.
func (c cursor) after(position int64) string {
	c.After = position
	return c.String()
}

// query is the filters of the list the cursor belongs to.
func (c cursor) query() (url.Values, error) { return url.ParseQuery(c.Filters) }
