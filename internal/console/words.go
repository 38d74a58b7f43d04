package console

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"plimsoll.dev/internal/fault"
)

// languages is the languages of the pages, the first of them when nobody says.
var languages = []string{"en", "uk"}

// The catalogue: one file for each page, each key with its sentence in every
// language. A sentence that counts has one form for each plural of the language,
// chosen by its first argument. {0} is the first argument.
//
//go:embed words/*.json
var wordFiles embed.FS

// sentence is one entry in one language: a text, or one for each plural.
type sentence struct {
	text  string
	forms map[plural.Form]string
}

// words is the sentences of one language.
type words struct {
	lang string
	tag  language.Tag
	list map[string]sentence
}

var pluralNames = map[string]plural.Form{"one": plural.One, "few": plural.Few, "many": plural.Many, "other": plural.Other}

func readWords() (map[string]*words, error) {
	const op = "console.readWords"
	all := map[string]*words{}
	for _, l := range languages {
		all[l] = &words{lang: l, tag: language.MustParse(l), list: map[string]sentence{}}
	}
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := wordFiles.ReadFile(path.Join("words", f.Name()))
		if err != nil {
			return nil, err
		}
		var list map[string]map[string]json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fault.E(op, fault.Internal, f.Name(), err)
		}
		for key, entry := range list {
			for _, l := range languages {
				s, err := readSentence(entry[l])
				if err != nil {
					return nil, fault.E(op, fault.Internal, fmt.Sprintf("%s: %s in %s", f.Name(), key, l), err)
				}
				if _, twice := all[l].list[key]; twice {
					return nil, fault.E(op, fault.Internal, fmt.Sprintf("%s: %s is there twice", f.Name(), key), nil)
				}
				all[l].list[key] = s
			}
		}
	}
	return all, nil
}

func readSentence(raw json.RawMessage) (s sentence, err error) {
	if len(raw) == 0 {
		return s, fault.E("console.readSentence", fault.Internal, "there is none", nil)
	}
	if raw[0] == '"' {
		return s, json.Unmarshal(raw, &s.text)
	}
	var forms map[string]string
	if err := json.Unmarshal(raw, &forms); err != nil {
		return s, err
	}
	s.forms = map[plural.Form]string{}
	for name, text := range forms {
		form, ok := pluralNames[name]
		if !ok {
			return s, fault.E("console.readSentence", fault.Internal, name+" is no plural", nil)
		}
		s.forms[form] = text
	}
	if _, ok := s.forms[plural.Other]; !ok {
		return s, fault.E("console.readSentence", fault.Internal, "there is no other", nil)
	}
	return s, nil
}

// has says whether there is a sentence of that key.
func (w *words) has(key string) bool { _, ok := w.list[key]; return ok }

// say is the sentence of a key with its arguments. A key that is missing is a
// fault that a test finds; a page shows the key.
func (w *words) say(key string, args ...any) string {
	s, ok := w.list[key]
	if !ok {
		return key
	}
	text := s.text
	if s.forms != nil {
		text = s.forms[plural.Other]
		if len(args) > 0 {
			if n, ok := count(args[0]); ok {
				if t, ok := s.forms[plural.Cardinal.MatchPlural(w.tag, n, 0, 0, 0, 0)]; ok {
					text = t
				}
			}
		}
	}
	if len(args) == 0 {
		return text
	}
	pairs := make([]string, 0, 2*len(args))
	for i, a := range args {
		if n, ok := count(a); ok {
			a = w.number(int64(n))
		}
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", fmt.Sprint(a))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// refusal is a code of the catalogue of refusals in words, the code where nobody
// wrote any.
func (w *words) refusal(code string) string {
	if w.has("refusal." + code) {
		return w.say("refusal." + code)
	}
	return w.say("refusal.other", code)
}

func count(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	}
	return 0, false
}

// number is n with its thousands apart, as the language writes them.
func (w *words) number(n int64) string {
	text := strconv.FormatInt(n, 10)
	apart := ","
	if w.lang == "uk" {
		apart = "\u00a0"
	}
	start := 0
	if strings.HasPrefix(text, "-") {
		start = 1
	}
	for i := len(text) - 3; i > start; i -= 3 {
		text = text[:i] + apart + text[i:]
	}
	return text
}

var matcher = language.NewMatcher([]language.Tag{language.English, language.Ukrainian})

// languageOf is the language a browser asks for: the one its person chose, else
// the one it prefers.
func languageOf(r *http.Request, chosen string) string {
	for _, l := range languages {
		if l == chosen {
			return l
		}
	}
	tags, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil || len(tags) == 0 {
		return languages[0]
	}
	_, i, sure := matcher.Match(tags...)
	if sure == language.No {
		return languages[0]
	}
	return languages[i]
}
