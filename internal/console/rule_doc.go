package console

import (
	"regexp"
	"strings"
)

// The pages of the rules are written in the little Markdown that they need:
// headings, paragraphs, tables and fenced examples, with code, bold words and links
// to each other inside of lines. It is read into blocks, which a template shows as
// it shows any data.

// docBlock is one block; the member that is set says what it is.
type docBlock struct {
	Heading string
	Lines   []docSpan
	Code    string
	Head    [][]docSpan // of a table
	Rows    [][][]docSpan
}

// docSpan is a part of a line.
type docSpan struct {
	Text string
	Code bool
	Bold bool
	Link string // the rule it leads to
}

// readDoc reads a page behind its title.
func readDoc(text string) (list []docBlock) {
	lines := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "## "):
			list = append(list, docBlock{Heading: line[3:]})
		case strings.HasPrefix(line, "```"):
			var code []string
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
				code = append(code, lines[i])
			}
			list = append(list, docBlock{Code: strings.Join(code, "\n")})
		case strings.HasPrefix(line, "|"):
			b := docBlock{Head: cells(line)}
			for i++; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
				if strings.Trim(lines[i], "|-: ") != "" {
					b.Rows = append(b.Rows, cells(lines[i]))
				}
			}
			i--
			list = append(list, b)
		default:
			paragraph := []string{line}
			for i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" && !strings.HasPrefix(lines[i+1], "|") && !strings.HasPrefix(lines[i+1], "```") && !strings.HasPrefix(lines[i+1], "#") {
				i++
				paragraph = append(paragraph, lines[i])
			}
			list = append(list, docBlock{Lines: spans(strings.Join(paragraph, " "))})
		}
	}
	return list
}

// cells is a row of a table.
func cells(line string) (row [][]docSpan) {
	line = strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, "\x00")
	for cell := range strings.SplitSeq(line, "|") {
		row = append(row, spans(strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")))
	}
	return row
}

var docMark = regexp.MustCompile("``(.+?)``|`([^`]+)`|\\*\\*([^*]+)\\*\\*|\\[([^\\]]+)\\]\\(([A-Z0-9-]+)\\.md\\)")

func spans(line string) (list []docSpan) {
	for line != "" {
		at := docMark.FindStringSubmatchIndex(line)
		if at == nil {
			return append(list, docSpan{Text: line})
		}
		if at[0] > 0 {
			list = append(list, docSpan{Text: line[:at[0]]})
		}
		part := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return line[at[2*n]:at[2*n+1]]
		}
		switch {
		case at[2] >= 0:
			list = append(list, docSpan{Text: strings.TrimSpace(part(1)), Code: true})
		case at[4] >= 0:
			list = append(list, docSpan{Text: part(2), Code: true})
		case at[6] >= 0:
			list = append(list, docSpan{Text: part(3), Bold: true})
		default:
			list = append(list, docSpan{Text: part(4), Link: part(5)})
		}
		line = line[at[1]:]
	}
	return list
}
