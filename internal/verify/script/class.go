package script

import "slices"

// class reads the class at i: its name and its fields.
func (f *File) class(i int) {
	open, extends := i+1, ""
	for n := 0; n < 200 && !f.tokens[open].is("{") && f.tokens[open].sort != end; n++ {
		switch t := &f.tokens[open]; {
		case t.is("<"):
			if j := f.angles(open); j > 0 {
				open = j
				continue
			}
		case t.isWord("extends"):
			extends = f.typeName(open + 1)
		case t.is("("):
			open = int(t.match)
		case t.is(";"), t.is(")"), t.is("]"), t.is("}"), t.is(","):
			return
		}
		open++
	}
	if !f.tokens[open].is("{") {
		return
	}
	c := class{
		extends: extends, from: open, to: int(f.tokens[open].match), fields: map[string]Field{},
		known: &Class{Extends: extends, At: i, methods: map[string]*Func{}},
	}
	for j := open + 1; j < c.to; {
		j = f.memberAt(j, &c)
	}
	f.classes = append(f.classes, c)
	if name := &f.tokens[i+1]; name.sort == word && name.text != "extends" {
		c.known.Name = name.text
		from, to := f.scope(i)
		f.bind(Binding{Name: name.text, How: ByClass, from: from, to: to, at: i})
	}
}

var memberWords = []string{
	"public", "private", "protected", "readonly", "static", "declare", "override", "abstract", "async", "get", "set", "accessor",
}

// memberAt reads one member of a class and answers the token after it.
func (f *File) memberAt(j int, c *class) int {
	for j < c.to && f.tokens[j].is("@") {
		j += 2
		for j < c.to && f.tokens[j].is(".") {
			j += 2
		}
		if j < c.to && f.tokens[j].is("(") {
			j = int(f.tokens[j].match) + 1
		}
	}
	for f.tokens[j].is("*") || f.tokens[j].sort == word && slices.Contains(memberWords, f.tokens[j].text) && !f.endsName(j+1) {
		j++
	}
	if j >= c.to {
		return c.to
	}
	t := &f.tokens[j]
	name := ""
	switch {
	case t.sort == word, t.sort == private:
		name = t.text
		j++
	case t.sort == text:
		name = bare(t)
		j++
	case t.is("["):
		j = int(t.match) + 1
	case t.is("{"): // a static block
		return int(t.match) + 1
	default:
		return j + 1
	}
	if f.tokens[j].is("<") {
		if k := f.angles(j); k > 0 {
			j = k
		}
	}
	if f.tokens[j].is("(") {
		if name == "constructor" {
			for _, p := range f.params(j) {
				if p.Field && p.Name != "" {
					c.fields[p.Name] = Field{Type: p.Type}
				}
			}
		}
		fn, next := f.signature(j)
		if fn != nil && name != "" {
			c.known.methods[name] = fn
		}
		return max(next, j+1)
	}
	var field Field
	if f.tokens[j].is("?") || f.tokens[j].is("!") {
		j++
	}
	if f.tokens[j].is(":") {
		field.Type = f.typeName(j + 1)
		j = f.skipType(j + 1)
	}
	if f.tokens[j].is("=") {
		field.Init, j = f.expression(j + 1)
	}
	if name != "" {
		c.fields[name] = field
	}
	return j
}

// endsName says that the token shows the word before it to be a member's name.
func (f *File) endsName(i int) bool {
	t := &f.tokens[i]
	return t.sort == sign && slices.Contains([]string{":", "(", "=", ";", "?", "!", "<", "}"}, t.text)
}

// enum binds an enumeration as the object of its members.
func (f *File) enum(i int) {
	name := &f.tokens[i+1]
	if name.sort != word || !f.tokens[i+2].is("{") {
		return
	}
	p := &parser{File: f, i: i + 2}
	init := p.object(p.at(Object))
	from, to := f.scope(i)
	f.bind(Binding{Name: name.text, How: ByEnum, Init: init, from: from, to: to, at: i + 1})
}

// mutators are the methods that change a list, a map or a set in place.
var mutators = []string{
	"push", "unshift", "pop", "shift", "splice", "sort", "reverse", "fill", "copyWithin", "set", "add", "delete", "clear",
}

// changes marks bindings that are assigned again or changed in place: what they
// were made with is not what they hold.
func (f *File) changes() {
	for i := range f.tokens[:len(f.tokens)-1] {
		t := &f.tokens[i]
		if t.sort != word || i > 0 && (f.tokens[i-1].is(".") || f.tokens[i-1].is("?.")) {
			continue
		}
		if t.text == "this" {
			f.fieldAssigned(i)
			continue
		}
		if len(f.names[t.text]) == 0 || !f.changed(i) {
			continue
		}
		if b := f.Lookup(t.text, i); b != nil && b.at != i {
			b.Changed = true
			if (f.tokens[i+1].is("=") || f.tokens[i+1].is("??=") || f.tokens[i+1].is("||=")) && len(b.later) < maxValues {
				b.later = append(b.later, i+2)
			}
		}
	}
}

func assigned(t *token) bool {
	return t.sort == sign && (slices.Contains(assigns, t.text) || t.text == "++" || t.text == "--")
}

// changed says whether the name at i is changed by what stands around it.
func (f *File) changed(i int) bool {
	next := &f.tokens[i+1]
	if i > 0 {
		before := &f.tokens[i-1]
		if before.is("++") || before.is("--") || before.isWord("delete") {
			return true
		}
		if before.is("(") && i > 3 && f.tokens[i-2].isWord("assign") && f.tokens[i-4].isWord("Object") {
			return true
		}
		if next.is("=") && (before.is("{") || before.is(",") || before.isWord("const")) {
			return false // a default, or the declaration
		}
	}
	switch {
	case assigned(next):
		return true
	case next.is("."):
		member := &f.tokens[i+2]
		if member.sort != word {
			return false
		}
		after := &f.tokens[i+3]
		return assigned(after) || after.is("(") && slices.Contains(mutators, member.text)
	case next.is("["):
		return assigned(&f.tokens[int(next.match)+1])
	}
	return false
}

// fieldAssigned reads this.x = value in a class.
func (f *File) fieldAssigned(i int) {
	if !f.tokens[i+1].is(".") || f.tokens[i+2].sort == end || !f.tokens[i+3].is("=") {
		return
	}
	best := f.classAt(i)
	if best < 0 {
		return
	}
	name := f.tokens[i+2].text
	field := f.classes[best].fields[name]
	if field.Init != nil {
		field.Changed = true
	}
	field.Init, _ = f.expression(i + 4)
	f.classes[best].fields[name] = field
}
