package manifest

import (
	"bytes"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// MaxFile is the most bytes of a manifest or of a file that it names (§1).
const MaxFile = 10 << 20

// IsJSON says how a file is read: as JSON when its name says so or when its
// first byte that is no blank opens an object or a list (§1, row YAML).
func IsJSON(name string, text []byte) bool {
	if strings.HasSuffix(strings.ToLower(name), ".json") {
		return true
	}
	text, _ = source.TrimBOM(text)
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// parse reads a file whose root is a mapping, or tells why it cannot. yaml parses
// what is no JSON; nil is source.ParseYAML.
func parse(name string, text []byte, yaml source.Parser, f *faults) (source.Value, bool) {
	if len(text) > MaxFile {
		f.add(nil, source.Position{}, TooLarge, "the file is over %d MiB", MaxFile>>20)
		return source.Value{}, false
	}
	text, _ = source.TrimBOM(text)
	read, language := yaml, "YAML"
	if read == nil {
		read = source.ParseYAML
	}
	if IsJSON(name, text) {
		read, language = source.ParseJSON, "JSON"
	}
	root, err := read(text)
	if err != nil {
		f.add(nil, err.Pos, Unreadable, "%s", sentence(language, err))
		return source.Value{}, false
	}
	if root.Kind == source.Null && language == "YAML" {
		f.add(nil, root.Pos, WrongType, "the file is empty; it must be a mapping of keys to values")
		return source.Value{}, false
	}
	if root.Kind != source.Map {
		f.add(nil, root.Pos, WrongType, "the file is %s; it must be a mapping of keys to values", article(root.Kind))
		return source.Value{}, false
	}
	return root, true
}

// sentence says what a parser found, without a word of the text.
func sentence(language string, err *source.ParseError) string {
	switch err.Reason {
	case source.DuplicateKey:
		return "this key is there twice, and two readers would take two meanings; keep one of them"
	case source.SecondDocument:
		return "a second YAML document begins here; a file holds one"
	case source.TooDeep:
		return "the file nests too deep"
	case source.TooMany:
		return "the file holds too many values once its aliases are written out"
	case source.AliasInItself:
		return "an alias stands inside of what it names"
	case source.Conflict:
		return "this line is a merge conflict marker"
	case source.NotText:
		return "this is no UTF-8 text or a character that " + language + " forbids"
	}
	return "this is no valid " + language
}

// article is a kind of value in words.
func article(k source.Kind) string {
	switch k {
	case source.Null:
		return "empty"
	case source.Bool:
		return "a boolean"
	case source.Number:
		return "a number"
	case source.List:
		return "a list"
	case source.Map:
		return "a mapping"
	case source.String, source.Date:
		return "a text"
	}
	return "absent"
}
