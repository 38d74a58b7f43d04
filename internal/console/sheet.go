package console

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
)

//go:embed page/*.html
var pageFiles embed.FS

// The templates that every page shares; all others are a page each, which defines
// "content".
var sharedPages = []string{"shell.html", "piece.html", "change.html"}

// sheet is the pages in one language.
type sheet struct {
	words *words
	pages map[string]*template.Template
}

func readSheets(c *Console) (map[string]*sheet, error) {
	const op = "console.readSheets"
	all, err := readWords()
	if err != nil {
		return nil, err
	}
	files, err := pageFiles.ReadDir("page")
	if err != nil {
		return nil, err
	}
	out := map[string]*sheet{}
	for lang, w := range all {
		s := &sheet{words: w, pages: map[string]*template.Template{}}
		base := template.New("console").Funcs(c.functions(w)).Option("missingkey=error")
		for _, name := range sharedPages {
			if base, err = parse(base, name); err != nil {
				return nil, fault.E(op, fault.Internal, name, err)
			}
		}
		for _, f := range files {
			name := strings.TrimSuffix(f.Name(), ".html")
			if slices.Contains(sharedPages, f.Name()) {
				continue
			}
			t, err := base.Clone()
			if err == nil {
				t, err = parse(t, f.Name())
			}
			if err != nil {
				return nil, fault.E(op, fault.Internal, f.Name(), err)
			}
			s.pages[name] = t
		}
		out[lang] = s
	}
	return out, nil
}

func parse(t *template.Template, name string) (*template.Template, error) {
	text, err := pageFiles.ReadFile(path.Join("page", name))
	if err != nil {
		return nil, err
	}
	if _, err := t.New(name).Parse(string(text)); err != nil {
		return nil, err
	}
	return t, nil
}

func (s *sheet) execute(w io.Writer, name string, data any) error {
	t, ok := s.pages[name]
	if !ok {
		return fault.E("console.execute", fault.Internal, "there is no page "+name, nil)
	}
	return t.ExecuteTemplate(w, "shell.html", data)
}

// functions is what templates may call. None of them makes markup out of text.
func (c *Console) functions(w *words) template.FuncMap {
	return template.FuncMap{
		"t":       w.say,
		"has":     w.has,
		"refusal": w.refusal,
		"number":  func(n any) string { i, _ := count(n); return w.number(int64(i)) },
		"asset":   func(name string) string { return c.assets.url(name) },
		"instant": w.instant, // exact: 1 Dec 2026, 17:30:05 UTC
		"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"ago":     func(t time.Time) string { return w.ago(t, c.conf.Now()) },
		"left":    func(t time.Time) string { return w.left(t, c.conf.Now()) },
		"short":   short,
		"brief":   brief,
		"digest":  grouped,
		"join":    strings.Join,
		"roles":   w.roles,
		"ids":     func(list []contract.ID) string { return names(w, list) },
		"names":   func(list []string) string { return names(w, list) },
		"text":    func(p *string) string { return *p }, // within a with
		"at":      at,
		"dict":    dict,
		"size":    w.size,
	}
}

// at is the instant a document states, zero for what is none.
func at(text string) time.Time {
	t, _ := contract.ParseTimestamp(text)
	return t.Time()
}

// dict is named values for a template within a template.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fault.E("console.dict", fault.Internal, "a name without a value", nil)
	}
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m, nil
}

// short is the first seven characters of a commit, what people call it by.
func short(v any) string {
	text := fmt.Sprint(v)
	return text[:min(len(text), 7)]
}

// briefMost is how much of an id stands in a list; the ones people say aloud
// (PG-001) are shorter.
const briefMost = 16

// brief is an id as a list shows it: of a long one what tells it apart. The whole
// one is in the title beside it and on its page.
func brief(v any) string {
	text := []rune(fmt.Sprint(v))
	if len(text) <= briefMost {
		return string(text)
	}
	return string(text[:briefMost-4]) + "…"
}

// grouped is the first twelve characters of a digest in groups of four, which a
// person can compare; the algorithm before it is left out.
func grouped(v any) string {
	text := fmt.Sprint(v)
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		text = text[i+1:]
	}
	text = text[:min(len(text), 12)]
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
