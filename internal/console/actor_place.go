package console

import (
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline"
)

// actorsShown is how many rows the lists of actors and of tokens show.
const actorsShown = 50

// place is where in a list a page begins, as a query has it.
func place(m pipeline.Mark) string { return strconv.FormatInt(m.At.UnixMicro(), 36) + "." + m.ID }

// readPlace is such a place; the start for what is none.
func readPlace(text string) (m pipeline.Mark) {
	at, id, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(at, 36, 64)
	if !ok || err != nil || id == "" {
		return m
	}
	return pipeline.Mark{At: time.UnixMicro(n).UTC(), ID: id}
}
