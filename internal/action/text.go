package action

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll.dev/internal/verify/report"
)

// maxSummary bounds the summary in bytes: half of what a step may write.
const maxSummary = 500_000

// text fills in what people read.
func (o *Outcome) text(in *Input, e *evidence) {
	if !in.Scan {
		o.Comment = e.files["pr-comment.md"]
		if o.Status == Failed {
			// It is not sealed: nothing of a run without a decision is.
			o.Comment, _ = e.file(in, "pr-comment.md")
		}
		if !bytes.HasPrefix(o.Comment, []byte(Marker)) || len(o.Comment) > report.MaxComment {
			o.Comment = nil
		}
	}
	body := o.Comment
	if in.Scan && o.Status == Evaluated {
		body = e.files["report.md"]
	} else if body == nil {
		o.Comment = fmt.Appendf(nil, "%s\n### Release gate for agents\n\n**%s** Nothing was decided about this change, and no earlier comment stands.\n",
			Marker, marked(o.Why))
		body = o.Comment
	}
	how := map[Conclusion]string{Success: "passes", Neutral: "passes without a release", Failure: "fails"}[o.Conclusion]
	head := fmt.Sprintf("**This job %s.** %s\n\n", how, marked(o.Why))
	o.Summary = append([]byte(head), cutLines(bytes.TrimPrefix(body, []byte(Marker+"\n")), maxSummary)...)
}

// marked is a sentence in which nothing is markup.
func marked(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		if r == '@' || r == '#' || r == ':' {
			b.WriteRune('\u2060') // no mention, no reference, no link
		}
	}
	return b.String()
}

// cutLines keeps whole lines of text.
func cutLines(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	if i := bytes.LastIndexByte(text, '\n'); i > 0 {
		text = text[:i+1]
	}
	return append(text[:len(text):len(text)], "\nThe rest is in the report.\n"...)
}
