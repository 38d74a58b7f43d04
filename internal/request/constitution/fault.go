package constitution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a configuration, and where.
type Fault struct {
	Path string `json:"path"` // below the configuration's folder, with slashes
	Line int    `json:"line"` // from 1
	Msg  string `json:"message"`
}

func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Msg) }

// Faults is everything that is wrong with a configuration, by path and line. It
// is never empty when it is an error.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// maxFaults bounds what a hostile configuration can make us say.
const maxFaults = 200

// notes collects faults.
type notes struct{ list Faults }

func (n *notes) add(path string, line int, format string, args ...any) {
	if len(n.list) < maxFaults {
		n.list = append(n.list, Fault{path, max(line, 1), fmt.Sprintf(format, args...)})
	}
}

// faults is what was collected, sorted, each once; nil when there is nothing.
func (n *notes) faults() Faults {
	list := slices.Clone(n.list)
	slices.SortStableFunc(list, func(a, b Fault) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(list)
}
