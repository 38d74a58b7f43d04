package artifact

import (
	"fmt"
	"strconv"
	"strings"
)

// A change_diff is the bytes the diff hash of its run is over. Where a secret or
// the bound keeps some of them back, a line says so that begins with #, as no
// line of git's does: DiffWithheld before a line in which something is masked,
// an Omitted in the place of lines that are left out.

// DiffBound is the most bytes a change_diff has.
const DiffBound = 2 << 20

// DiffWithheld says that something is masked in the line that follows.
const DiffWithheld = "#withheld"

const diffOmitted = "#omitted"

// Omitted is how much of a diff was left out.
type Omitted struct{ Lines, Bytes int64 }

func (o Omitted) String() string { return fmt.Sprintf("%s %d %d", diffOmitted, o.Lines, o.Bytes) }

// ReadOmitted reads such a line.
func ReadOmitted(line string) (o Omitted, ok bool) {
	words := strings.Split(line, " ")
	if len(words) != 3 || words[0] != diffOmitted {
		return o, false
	}
	lines, err1 := strconv.ParseInt(words[1], 10, 64)
	bytes, err2 := strconv.ParseInt(words[2], 10, 64)
	return Omitted{lines, bytes}, err1 == nil && err2 == nil && lines > 0 && bytes > 0
}
