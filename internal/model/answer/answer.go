// Package answer reads what a language model answered: strictly, as the words of
// a stranger, and with an eye on whom the model followed (docs/spec/circle.md §8).
//
// It knows no protocol of any endpoint.
package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/problem"
)

// Flaw is what is wrong with an answer, for those who count.
type Flaw string

// The flaws. The first six break the output contract; the others show that the
// answer follows somebody else than its prompt.
const (
	Cut       Flaw = "cut"        // it was longer than an answer may be, and ends early
	Refused   Flaw = "refused"    // the model would not answer, or wanted a tool
	TooLarge  Flaw = "too_large"  // more bytes than an answer may have
	Shape     Flaw = "shape"      // no JSON, or not of the form that was asked for
	WrongType Flaw = "wrong_type" // other drafts than those that were asked for
	Foreign   Flaw = "foreign"    // a member that is not the model's to write

	MarkLeak   Flaw = "mark"   // it repeats the mark
	PromptLeak Flaw = "prompt" // it repeats its instructions
	KeyLeak    Flaw = "key"    // it holds the key of the endpoint
	Link       Flaw = "link"   // a link or an address that nobody handed to it
	Hidden     Flaw = "hidden" // characters that people cannot see
	Order      Flaw = "order"  // it hands an instruction on to whoever reads it next
)

// Broken is an answer that must not be used. It is of kind Invalid, and holds
// Faults, which say what is wrong and quote nothing.
type Broken struct {
	Flaws  []Flaw // without repetition, in the order of Faults
	Faults problem.List
}

func (b *Broken) Error() string { return "the model's answer cannot be used: " + b.Faults.Error() }

// Unwrap gives the error its kind, and its faults to those who look for them.
func (b *Broken) Unwrap() []error {
	return []error{fault.E("model.Draft", fault.Invalid, "the model's answer cannot be used", nil), b.Faults}
}

func (b *Broken) add(f Flaw, code problem.Code, path, format string, args ...any) {
	if !slices.Contains(b.Flaws, f) {
		b.Flaws = append(b.Flaws, f)
	}
	if len(b.Faults) < maxFaults {
		b.Faults = append(b.Faults, problem.At(code, path, format, args...))
	}
}

// Break is an answer with one flaw as a whole. The sentence is the caller's own.
func Break(f Flaw, sentence string) *Broken {
	b := &Broken{}
	b.add(f, problem.ContentInvalid, "", "%s", sentence)
	return b
}

func (b *Broken) err() error {
	if len(b.Flaws) == 0 {
		return nil
	}
	return b
}

// Read decodes an answer into the drafts of a contract, in its order, and checks
// whom it follows. The error is a *Broken with everything that is wrong.
func Read(text string, blanks []request.Blank, w Witness) ([]request.Prose, error) {
	b := &Broken{}
	drafts, list := decode(b, text, blanks)
	w.check(b, text, list)
	if err := b.err(); err != nil {
		return nil, err
	}
	return drafts, nil
}

// maxFaults is how many faults of one answer are told.
const maxFaults = 20

// maxNesting is how deep the members of a draft go; those of the schemas go to
// six.
const maxNesting = 16

// decode reads an answer into the drafts of a contract, and lists every text in
// it, names included. Whatever is wrong is added to b. One fence of a code block
// around the object is taken off: many models cannot leave it out, and there is
// one way to read it.
func decode(b *Broken, text string, blanks []request.Blank) (drafts []request.Prose, strings []string) {
	if !utf8.ValidString(text) {
		b.add(Shape, problem.ContentInvalid, "", "the answer is not UTF-8")
		return nil, nil
	}
	v, err := contract.Parse([]byte(unfenced(text)))
	if err != nil {
		what := "the answer is not one JSON object and nothing around it"
		if t, ok := errors.AsType[*contract.TextError](err); ok {
			switch t.Flaw {
			case contract.Truncated:
				what = "the answer ends before its JSON does"
			case contract.DuplicateKey:
				what = "an object of the answer has a member twice"
			case contract.BadUnicode, contract.NotFinite, contract.Malformed:
			}
		}
		b.add(Shape, problem.ContentInvalid, "", "%s", what)
		return nil, nil
	}
	if strings = texts(v, nil, 0); strings == nil {
		b.add(Shape, problem.ContentInvalid, "", "the answer is nested too deeply")
		return nil, nil
	}
	root, ok := v.(map[string]any)
	list, isList := root["drafts"].([]any)
	if !ok || !isList {
		b.add(Shape, problem.ContentInvalid, "", "the answer is no object with a list of drafts")
		return nil, strings
	}
	if len(root) > 1 {
		b.add(Foreign, problem.OutputForbidden, "", "the answer has members beside its drafts")
	}
	if len(list) != len(blanks) {
		b.add(WrongType, problem.OutputForbidden, "/drafts", "%d drafts were asked for", len(blanks))
	}
	for i := range min(len(list), len(blanks)) {
		drafts = append(drafts, prose(b, fmt.Sprintf("/drafts/%d", i), list[i], blanks[i]))
	}
	return drafts, strings
}

// prose reads one draft. Faults name no member of the answer's own making.
func prose(b *Broken, at string, v any, blank request.Blank) request.Prose {
	draft, ok := v.(map[string]any)
	if !ok {
		b.add(Shape, problem.ContentInvalid, at, "a draft is an object")
		return request.Prose{}
	}
	known := 0
	for _, name := range []string{"type", "content"} {
		if _, has := draft[name]; has {
			known++
		}
	}
	if len(draft) > known {
		b.add(Foreign, problem.OutputForbidden, at, "a draft has a type and a content and nothing else")
	}
	if t, _ := draft["type"].(string); t != string(blank.Type) {
		b.add(WrongType, problem.OutputForbidden, at+"/type", "the type that was asked for is %s", blank.Type)
	}
	content, ok := draft["content"].(map[string]any)
	if !ok || len(content) == 0 {
		b.add(Shape, problem.ContentInvalid, at+"/content", "the content is an object with at least one of its members")
		return request.Prose{}
	}
	before := map[string]any{}
	if v, err := contract.Parse(blank.Content); err == nil {
		before, _ = v.(map[string]any)
	}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		v := content[name]
		if !slices.Contains(blank.Prose, name) {
			b.add(Foreign, problem.OutputForbidden, at+"/content", "there is a member that was not asked for")
			continue
		}
		if old, has := before[name]; has && kind(old) != kind(v) {
			b.add(Shape, problem.ContentInvalid, at+"/content/"+contract.Pointer(name)[1:], "it is of another kind than in the draft")
		}
	}
	return request.Prose{Type: blank.Type, Content: contract.CanonicalValue(content)}
}

// kind is the JSON kind of a value Parse returned.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// texts is every string of a value and every name in it; nil when it is nested
// too deeply.
func texts(v any, list []string, depth int) []string {
	if list == nil {
		list = []string{}
	}
	if depth > maxNesting {
		return nil
	}
	switch v := v.(type) {
	case string:
		return append(list, v)
	case []any:
		for _, e := range v {
			if list = texts(e, list, depth+1); list == nil {
				return nil
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if list = texts(v[name], append(list, name), depth+1); list == nil {
				return nil
			}
		}
	}
	return list
}

// unfenced is a text without the one code fence that stands around all of it.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	rest = strings.TrimPrefix(rest, "json")
	if inner, ok := strings.CutSuffix(rest, "```"); ok && strings.HasPrefix(strings.TrimLeft(inner, " \r"), "\n") {
		return strings.TrimSpace(inner)
	}
	return text
}
