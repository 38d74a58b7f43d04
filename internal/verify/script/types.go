package script

import "slices"

// maxAngle is how many tokens type arguments may take; a < that closes later is
// an operator. It keeps a long chain of comparisons linear.
const maxAngle = 200

// angles is the token after the type arguments that open at i, -1 when the < is
// an operator.
func (f *File) angles(i int) int {
	depth := 0
	for n := 0; i < len(f.tokens)-1 && n < maxAngle; n++ {
		t := &f.tokens[i]
		switch {
		case t.is("<"):
			depth++
		case t.is(">"):
			if depth--; depth == 0 {
				return i + 1
			}
		case t.is(";"), t.is(")"), t.is("]"), t.is("}"), t.sort == templateMiddle, t.sort == templateTail:
			return -1
		case t.match > int32(i) && t.sort == sign: //nolint:gosec // bounded by maxTokens
			i = int(t.match)
		case t.sort == templateHead:
			i = f.templateEnd(i)
		}
		i++
	}
	return -1
}

// templateEnd is the last piece of the template that begins at i.
func (f *File) templateEnd(i int) int {
	for f.tokens[i].match > 0 && f.tokens[i].sort != templateTail {
		i = int(f.tokens[i].match)
	}
	return i
}

var typePrefixes = []string{"keyof", "typeof", "readonly", "unique", "infer", "asserts", "new", "abstract"}

// skipType is the token after the type that begins at i. A type that is not
// understood ends where it stops to look like one.
func (f *File) skipType(i int) int {
	for range maxTokens {
		i = f.typePart(i)
		t := &f.tokens[i]
		switch {
		case t.is("|"), t.is("&"), t.is("=>"):
			i++
		case t.sort == word && !t.newline && (t.text == "extends" || t.text == "is"):
			i++
		case t.is("?") && f.conditional(i):
			i++
		case t.is(":") && f.inConditional(i):
			i++
		default:
			return i
		}
	}
	return i
}

// conditional says whether the ? at i belongs to a conditional type: the words
// before it hold an extends.
func (f *File) conditional(i int) bool {
	for j, n := i-1, 0; j >= 0 && n < 60; j, n = j-1, n+1 {
		t := &f.tokens[j]
		switch {
		case t.isWord("extends"):
			return true
		case t.is(","), t.is(";"), t.is("="), t.is("("), t.is("{"):
			return false
		case t.sort == sign && t.match >= 0 && int(t.match) < j:
			j = int(t.match)
		}
	}
	return false
}

// inConditional says whether the : at i parts a conditional type.
func (f *File) inConditional(i int) bool {
	for j, n := i-1, 0; j >= 0 && n < 60; j, n = j-1, n+1 {
		t := &f.tokens[j]
		switch {
		case t.is("?"):
			return f.conditional(j)
		case t.is(","), t.is(";"), t.is("="), t.is("("), t.is("{"):
			return false
		case t.sort == sign && t.match >= 0 && int(t.match) < j:
			j = int(t.match)
		}
	}
	return false
}

// typePart is the token after one operand of a type.
func (f *File) typePart(i int) int {
	for f.tokens[i].is("|") || f.tokens[i].is("&") || f.tokens[i].is("-") ||
		f.tokens[i].sort == word && slices.Contains(typePrefixes, f.tokens[i].text) && !f.endsType(i+1) {
		i++
	}
	if f.tokens[i].is("<") { // of a generic function type
		if j := f.angles(i); j > 0 {
			i = j
		}
	}
	t := &f.tokens[i]
	switch {
	case t.sort == word, t.sort == text, t.sort == numeric, t.sort == template:
		i++
	case t.sort == templateHead:
		i = f.templateEnd(i) + 1
	case t.is("("), t.is("["), t.is("{"):
		i = int(t.match) + 1
	default:
		return i
	}
	for {
		t := &f.tokens[i]
		switch {
		case t.is(".") && f.tokens[i+1].sort == word:
			i += 2
		case t.is("<"):
			j := f.angles(i)
			if j < 0 {
				return i
			}
			i = j
		case t.is("[") && !t.newline:
			i = int(t.match) + 1
		case t.is("(") && f.tokens[i-1].isWord("import"):
			i = int(t.match) + 1
		default:
			return i
		}
	}
}

// endsType says that the token cannot go on a type that began before it, so the
// word before it is a name and no operator.
func (f *File) endsType(i int) bool {
	t := &f.tokens[i]
	return t.sort == end || t.sort == sign && !slices.Contains([]string{"(", "[", "{", "<"}, t.text)
}

// typeName is the name that the type at i begins with, "a.B" for a qualified
// one.
func (f *File) typeName(i int) string {
	if f.tokens[i].sort != word {
		return ""
	}
	name := f.tokens[i].text
	for f.tokens[i+1].is(".") && f.tokens[i+2].sort == word {
		name += "." + f.tokens[i+2].text
		i += 2
	}
	return name
}
