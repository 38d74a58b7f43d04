package constitution

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"plimsoll.dev/internal/request/envelope"
)

// Facts is all that the condition of a step can see: what triage decided, what
// the envelope says, and the artifacts of earlier steps (docs/spec/circle.md §6,
// Chains). It holds no text of the request: a chain is chosen by decisions, not
// by words.
type Facts struct {
	Intent     string   `expr:"intent"`
	Flags      []string `expr:"flags"`   // after triage
	Origin     string   `expr:"origin"`  // internal or external
	Target     string   `expr:"target"`  // the level the outcome is for
	Consent    string   `expr:"consent"` // as triage counts it
	Actions    []string `expr:"actions"` // what the request allows
	Expected   []string `expr:"expected"`
	References []string `expr:"references"` // their kinds
	Artifacts  []Fact   `expr:"artifacts"`  // of earlier steps, oldest first
}

// Fact is an artifact of an earlier step as a condition sees it.
type Fact struct {
	Type       string         `expr:"type"`
	Worker     string         `expr:"worker"`
	Status     string         `expr:"status"`
	Visibility string         `expr:"visibility"`
	Origin     string         `expr:"origin"`
	Content    map[string]any `expr:"content"` // as the artifact schema has it
}

// The bounds of a condition. Nodes bounds its text, memory what it may build.
const (
	maxConditionBytes  = 1024
	maxConditionNodes  = 100
	maxConditionMemory = 10_000
)

// Condition is an expression over Facts that answers yes or no.
type Condition struct {
	text    string
	program *vm.Program
}

func (c *Condition) String() string { return c.text }

// Met says whether the facts meet the condition.
func (c *Condition) Met(f Facts) (bool, error) {
	machine := vm.VM{MemoryBudget: maxConditionMemory}
	out, err := machine.Run(c.program, f)
	if err != nil {
		return false, fmt.Errorf("condition %q: %s", c.text, firstLine(err))
	}
	met, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("condition %q: the answer is neither yes nor no", c.text)
	}
	return met, nil
}

// newCondition compiles the text. Of the language's functions only those are
// left that look at a list; none of them reads a clock or makes anything long.
func newCondition(text string) (*Condition, error) {
	if len(text) > maxConditionBytes {
		return nil, fmt.Errorf("is longer than %d bytes", maxConditionBytes)
	}
	options := []expr.Option{
		expr.Env(Facts{}), expr.AsBool(), expr.MaxNodes(maxConditionNodes), expr.DisableAllBuiltins(),
		expr.Function("wider", func(params ...any) (any, error) {
			a, b := envelope.Level(params[0].(string)), envelope.Level(params[1].(string))
			if !a.Valid() || !b.Valid() {
				return nil, errors.New("wider compares two levels")
			}
			return a.Wider(b), nil
		}, new(func(string, string) bool)),
	}
	for _, name := range []string{"len", "any", "all", "none"} {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(text, options...)
	if err != nil {
		return nil, errors.New(firstLine(err))
	}
	return &Condition{text: text, program: program}, nil
}

// firstLine leaves out the drawing the library puts below its messages.
func firstLine(err error) string {
	if e, ok := errors.AsType[*file.Error](err); ok {
		return fmt.Sprintf("%s (column %d)", e.Message, e.Column+1)
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
