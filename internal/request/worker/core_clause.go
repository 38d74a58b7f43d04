package worker

import (
	"strconv"
	"strings"
)

// clause is one paragraph or list item of a text in Markdown, with the headings
// it stands under.
type clause struct {
	under string // "English / 1. People decide"
	item  string // its number in a list: "3"; "" for a paragraph
	text  string
}

func (c clause) place() string {
	if c.item == "" {
		return c.under
	}
	return strings.TrimPrefix(c.under+" / "+c.item, " / ")
}

// clauses cuts a text in Markdown. Front matter is left out, rows of a table are
// clauses of their own, lines of one paragraph are joined.
func clauses(text string) []clause {
	list := []clause{}
	headings := []string{} // by depth
	var now clause
	end := func() {
		if now.text != "" {
			list = append(list, now)
		}
		now = clause{under: under(headings)}
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if len(lines) > 0 && lines[0] == "---" {
		for i, l := range lines[1:] {
			if l == "---" {
				lines = lines[i+2:]
				break
			}
		}
	}
	for _, l := range lines {
		trimmed := strings.TrimSpace(l)
		if depth := len(l) - len(strings.TrimLeft(l, "#")); depth > 0 && depth <= 6 && strings.HasPrefix(l[depth:], " ") {
			end()
			for len(headings) >= depth {
				headings = headings[:len(headings)-1]
			}
			for len(headings) < depth-1 {
				headings = append(headings, "")
			}
			headings = append(headings, trimmed[depth+1:])
			now = clause{under: under(headings)}
			continue
		}
		number, rest, numbered := strings.Cut(trimmed, ". ")
		if _, err := strconv.Atoi(number); numbered && err == nil {
			end()
			now = clause{under: under(headings), item: number, text: strings.TrimSpace(rest)}
			continue
		}
		if strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ") || strings.HasPrefix(trimmed, "|") {
			end()
			now = clause{under: under(headings), text: trimmed}
			continue
		}
		if trimmed == "" {
			end()
			continue
		}
		now.text = strings.TrimSpace(now.text + " " + trimmed)
	}
	end()
	return list
}

// under is the headings a clause stands under, without the title of the page.
func under(headings []string) string {
	list := []string{}
	for i, h := range headings {
		if h != "" && (i > 0 || len(headings) == 1) {
			list = append(list, h)
		}
	}
	return strings.Join(list, " / ")
}

// pair is a clause before and after: one of them may be missing.
type pair struct{ before, after *clause }

// paired holds two texts against each other: clauses that are the same are left
// out, and one that was removed beside one that was added is one that changed.
func paired(before, after []clause) []pair {
	same := func(a, b clause) bool { return a.under == b.under && a.text == b.text }
	head := 0
	for head < len(before) && head < len(after) && same(before[head], after[head]) {
		head++
	}
	before, after = before[head:], after[head:]
	for len(before) > 0 && len(after) > 0 && same(before[len(before)-1], after[len(after)-1]) {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	if len(before)*len(after) > 4_000_000 { // nobody reviews so much: all of it changed
		return runs(before, after)
	}
	// The longest list of clauses that both have.
	longest := make([][]int, len(before)+1)
	for i := range longest {
		longest[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if same(before[i], after[j]) {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	list := []pair{}
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		firstI, firstJ := i, j
		for i < len(before) && (j == len(after) || !same(before[i], after[j]) && longest[i+1][j] >= longest[i][j+1]) {
			i++
		}
		for j < len(after) && (i == len(before) || !same(before[i], after[j]) && longest[i][j+1] >= longest[i+1][j]) {
			j++
		}
		if i == firstI && j == firstJ {
			if same(before[i], after[j]) {
				i, j = i+1, j+1
				continue
			}
			i++
		}
		list = append(list, runs(before[firstI:i], after[firstJ:j])...)
	}
	return list
}

// runs pairs a run of removed clauses with the run of added ones in its place:
// first those of the same place, then the others as they stand.
func runs(before, after []clause) []pair {
	list := []pair{}
	taken := make([]bool, len(after))
	for i := range before {
		p := pair{before: &before[i]}
		for j := range after {
			if !taken[j] && after[j].place() == before[i].place() {
				p.after, taken[j] = &after[j], true
				break
			}
		}
		list = append(list, p)
	}
	for j := range after {
		if !taken[j] {
			list = append(list, pair{after: &after[j]})
		}
	}
	return list
}
