package patch

import (
	"fmt"
	"strings"
)

// usual is how many unchanged lines stand around a change.
const usual = 3

// maxTable bounds the work of finding common lines; past it, what lies between
// the first and the last changed line is shown as one change.
const maxTable = 1 << 22

// op is one line of a diff: ' ', '-' or '+'.
type op struct {
	sign byte
	line string // with its line break, if it has one
}

// Diff is the unified diff from one text to another; "" when they are equal.
// name is how the file is called, with forward slashes.
func Diff(name string, before, after []byte) string { return around(name, before, after, usual) }

// Narrow is a diff with a single unchanged line around each change. Such diffs of
// one text can be applied one after another, in any order, as long as an
// unchanged line stands between their changes.
func Narrow(name string, before, after []byte) string { return around(name, before, after, 1) }

func around(name string, before, after []byte, context int) string {
	if string(before) == string(after) {
		return ""
	}
	ops := compare(strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?' // no name may end its line
		}
		return r
	}, name)
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", name, name)
	oldLine, newLine := 1, 1
	for i := 0; i < len(ops); {
		if ops[i].sign == ' ' {
			i++
			oldLine, newLine = oldLine+1, newLine+1
			continue
		}
		start := max(0, i-context)
		end := hunkEnd(ops, i, context)
		hunk(&b, ops[start:end], oldLine-(i-start), newLine-(i-start))
		for ; i < end; i++ {
			if ops[i].sign != '+' {
				oldLine++
			}
			if ops[i].sign != '-' {
				newLine++
			}
		}
	}
	return b.String()
}

// hunkEnd is where a hunk that has a change at i ends: after the context of its
// last change, before a gap wider than two contexts.
func hunkEnd(ops []op, i, context int) int {
	last := i
	for j := i; j < len(ops) && j-last <= 2*context; j++ {
		if ops[j].sign != ' ' {
			last = j
		}
	}
	return min(len(ops), last+1+context)
}

func hunk(b *strings.Builder, ops []op, oldLine, newLine int) {
	var olds, news int
	for _, o := range ops {
		if o.sign != '+' {
			olds++
		}
		if o.sign != '-' {
			news++
		}
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", lines(oldLine, olds), lines(newLine, news))
	for _, o := range ops {
		b.WriteByte(o.sign)
		b.WriteString(o.line)
		if !strings.HasSuffix(o.line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// lines is a range as a hunk header writes it; an empty one stands after the
// line before it.
func lines(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, n)
}

// compare is the lines of both texts as a diff: what is common at the beginning
// and the end, and a longest common subsequence between.
func compare(a, b []string) []op {
	a, b = ended(a), ended(b)
	var head, tail []op
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head, a, b = append(head, op{' ', a[0]}), a[1:], b[1:]
	}
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for _, line := range a[len(a)-n:] {
		tail = append(tail, op{' ', line})
	}
	return append(append(head, middle(a[:len(a)-n], b[:len(b)-n])...), tail...)
}

// ended drops the empty text that SplitAfter leaves after a last line break.
func ended(list []string) []string {
	if n := len(list); n > 0 && list[n-1] == "" {
		return list[:n-1]
	}
	return list
}

func middle(a, b []string) []op {
	var ops []op
	if len(a)*len(b) > maxTable {
		for _, line := range a {
			ops = append(ops, op{'-', line})
		}
		for _, line := range b {
			ops = append(ops, op{'+', line})
		}
		return ops
	}
	// common[i][j] is how many lines a[i:] and b[j:] have in common.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			ops = append(ops, op{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			ops = append(ops, op{'-', a[i]})
			i++
		default:
			ops = append(ops, op{'+', b[j]})
			j++
		}
	}
	return ops
}
