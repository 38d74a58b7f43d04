// Package python reads Python source (3.8 to 3.14) into a syntax tree with
// positions. Nothing is run, imported or guessed: what the tree does not show
// literally is for the caller to call dynamic (docs/spec/verification.md A-13).
//
// The text is taken apart once into tokens and the tokens once into a tree, so
// the work is linear in the text. Names are then bound to scopes, which lets
// Resolve say that `ft` is agents.function_tool, and Literal say what a constant
// of the file is.
package python

import (
	"fmt"
	"unicode/utf8"
)

// Bounds. The reader refuses what lies beyond them as it refuses a syntax
// error: a program nobody can read is not evidence.
const (
	maxDepth  = 200       // brackets inside of brackets
	maxStack  = 1000      // expressions inside of expressions while parsing
	maxHeight = 4000      // of the tree: a + b + c … grows by one an operator
	maxTokens = 2_000_000 // of one file
)

// Pos is a place in the text. Line and Column are one-based; a column counts
// characters. The zero Pos means "not known".
type Pos struct {
	Line, Column int
}

// Before says whether p stands before q.
func (p Pos) Before(q Pos) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column
}

// Range is a stretch of text; End is the place after its last character.
type Range struct {
	Start, End Pos
}

// At is the range itself; it lets every node say where it stands.
func (r Range) At() Range { return r }

// SyntaxError says that a text is not Python as we read it. Detail never holds
// text of the file.
type SyntaxError struct {
	Pos    Pos
	Detail string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Pos.Line, e.Pos.Column, e.Detail)
}

// File is one module. It remembers what it was asked, so it is not for several
// goroutines at once.
type File struct {
	Body   []Stmt
	Module *Scope   // names of the module itself
	Stars  []string // modules of star imports, with leading dots when relative
	src    string
	lines  []int // offsets of the lines' first bytes, made when asked for
	scopes map[Node]*Scope
	way    []passed // through the whole module, made when asked for
}

// Parse reads one module. The text is UTF-8, with or without a byte order mark;
// a declaration of another encoding is refused. The error is a *SyntaxError.
func Parse(text []byte) (*File, error) {
	tokens, src, fault := scan(text)
	if fault != nil {
		return nil, fault
	}
	p := &parser{src: src, tokens: tokens}
	body := p.module()
	if p.fault != nil {
		return nil, p.fault
	}
	return bind(src, body)
}

// Source is the text of a range, ends of lines as \n.
func (f *File) Source(r Range) string {
	if f.lines == nil {
		f.lines = []int{0}
		for i := range len(f.src) {
			if f.src[i] == '\n' {
				f.lines = append(f.lines, i+1)
			}
		}
	}
	from, to := f.offset(r.Start), f.offset(r.End)
	if from > to {
		return ""
	}
	return f.src[from:to]
}

func (f *File) offset(p Pos) int {
	if p.Line < 1 || p.Line > len(f.lines) {
		return len(f.src)
	}
	off := f.lines[p.Line-1]
	for range p.Column - 1 {
		_, n := utf8.DecodeRuneInString(f.src[off:])
		off += n
	}
	return off
}
