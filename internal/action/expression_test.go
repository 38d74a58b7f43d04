package action_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// expression evaluates what action.yml has between ${{ and }}: the part of
// GitHub's language that is used there, and nothing else.
type expression struct {
	words   []string
	context map[string]any
	// failed says whether an earlier step failed.
	failed bool
	// asked is set when the expression asks for the state of the job itself.
	asked bool
}

var word = regexp.MustCompile(`\s*(\|\||&&|==|!=|[!()]|'(?:[^']|'')*'|[A-Za-z_][A-Za-z0-9_.-]*|[0-9]+)`)

func evaluate(text string, context map[string]any, failed bool) (value any, asked bool, err error) {
	e := &expression{context: context, failed: failed}
	for rest := text; strings.TrimSpace(rest) != ""; {
		m := word.FindStringSubmatchIndex(rest)
		if m == nil || m[0] != 0 {
			return nil, false, fmt.Errorf("cannot read %q in %q", rest, text)
		}
		e.words = append(e.words, rest[m[2]:m[3]])
		rest = rest[m[1]:]
	}
	value, err = e.or()
	if err == nil && len(e.words) > 0 {
		err = fmt.Errorf("%q is left of %q", e.words, text)
	}
	return value, e.asked, err
}

func (e *expression) take(words ...string) string {
	for _, w := range words {
		if len(e.words) > 0 && e.words[0] == w {
			e.words = e.words[1:]
			return w
		}
	}
	return ""
}

func (e *expression) or() (any, error) {
	left, err := e.and()
	for err == nil && e.take("||") != "" {
		var right any
		if right, err = e.and(); !truthy(left) {
			left = right
		}
	}
	return left, err
}

func (e *expression) and() (any, error) {
	left, err := e.equal()
	for err == nil && e.take("&&") != "" {
		var right any
		if right, err = e.equal(); truthy(left) {
			left = right
		}
	}
	return left, err
}

func (e *expression) equal() (any, error) {
	left, err := e.one()
	for err == nil {
		op := e.take("==", "!=")
		if op == "" {
			break
		}
		var right any
		right, err = e.one()
		left = (shown(left) == shown(right)) == (op == "==")
	}
	return left, err
}

func (e *expression) one() (any, error) {
	switch {
	case e.take("!") != "":
		v, err := e.one()
		return !truthy(v), err
	case e.take("(") != "":
		v, err := e.or()
		if err == nil && e.take(")") == "" {
			err = fmt.Errorf("a parenthesis is open")
		}
		return v, err
	case len(e.words) == 0:
		return nil, fmt.Errorf("it ends early")
	}
	w := e.words[0]
	e.words = e.words[1:]
	if strings.HasPrefix(w, "'") {
		return strings.ReplaceAll(w[1:len(w)-1], "''", "'"), nil
	}
	if n, err := strconv.Atoi(w); err == nil {
		return n, nil
	}
	if e.take("(") != "" {
		if e.take(")") == "" {
			return nil, fmt.Errorf("%s has arguments", w)
		}
		e.asked = true
		switch w {
		case "always":
			return true, nil
		case "success":
			return !e.failed, nil
		case "failure":
			return e.failed, nil
		case "cancelled":
			return false, nil
		}
		return nil, fmt.Errorf("no function %s", w)
	}
	return e.lookup(w)
}

// lookup is a context and what is in it. A name that is missing within a context
// is null, as it is for GitHub; a missing context is an error here.
func (e *expression) lookup(name string) (any, error) {
	first, rest, _ := strings.Cut(name, ".")
	v, ok := e.context[first]
	if !ok {
		return nil, fmt.Errorf("no context %s", first)
	}
	for rest != "" {
		first, rest, _ = strings.Cut(rest, ".")
		m, ok := v.(map[string]any)
		if !ok {
			return nil, nil
		}
		v = m[first]
	}
	return v, nil
}

func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int:
		return v != 0
	case float64:
		return v != 0
	}
	return true
}

func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

var placeholder = regexp.MustCompile(`\$\{\{(.*?)\}\}`)

// fill replaces every expression in text.
func fill(text string, context map[string]any, failed bool) (string, error) {
	var first error
	filled := placeholder.ReplaceAllStringFunc(text, func(m string) string {
		v, _, err := evaluate(m[3:len(m)-2], context, failed)
		if err != nil && first == nil {
			first = err
		}
		return shown(v)
	})
	return filled, first
}
