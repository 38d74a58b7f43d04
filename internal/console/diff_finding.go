package console

import (
	"encoding/json"
	"net/url"

	"plimsoll.dev/internal/pipeline/contract"
)

// spot is a finding with what it is about, which tells its line where the finding
// names none.
type spot struct {
	finding
	about []string
}

// shortestMention is the length below which a word of a finding says nothing about
// a line.
const shortestMention = 4

// spotsOf is the findings of a boundary result and of a verification, either of
// which may be nil. What both say stands once, with the line of whichever has it.
func spotsOf(check, verify []byte) []spot {
	list := []spot{}
	if r, ok := readChecked(check); ok {
		var about struct {
			Rows []struct {
				Evidence map[string]any `json:"evidence"`
			} `json:"violations"`
		}
		_ = json.Unmarshal(check, &about) // what readChecked read
		for i, f := range r.Findings {
			s := spot{finding: f}
			for key, value := range about.Rows[i].Evidence {
				if text, ok := value.(string); ok && key != "kind" && len(text) >= shortestMention {
					s.about = append(s.about, text)
				}
			}
			list = append(list, s)
		}
	}
	type item struct {
		Check    string `json:"check_id"`
		Severity string `json:"severity"`
		Title    string `json:"title"`
		Blocks   bool   `json:"blocks_release"`
		Source   struct {
			Path string `json:"path"`
			Ref  string `json:"ref"`
			Line int64  `json:"start_line"`
		} `json:"source"`
	}
	var v struct {
		Decision struct {
			Blockers []item `json:"blockers"`
			Review   []item `json:"review_items"`
		} `json:"release_decision"`
	}
	_ = json.Unmarshal(verify, &v) // no JSON has no findings
next:
	for _, it := range append(v.Decision.Blockers, v.Decision.Review...) {
		path := it.Source.Path
		if path == "" {
			path = it.Source.Ref
		}
		for i := range list {
			if list[i].Check == it.Check && list[i].Path == path {
				if list[i].Line == 0 {
					list[i].Line = it.Source.Line
				}
				continue next
			}
		}
		if len(list) == findingsMost {
			break
		}
		f := finding{Check: it.Check, Title: it.Title, Path: path, Line: it.Source.Line, Blocks: it.Blocks, RuleURL: "/rules/" + url.PathEscape(it.Check)}
		if l := contract.Level(it.Severity); l.Valid() {
			f.Risk = l
		}
		list = append(list, spot{finding: f})
	}
	return list
}
