package script

import "slices"

// importing reads the import at i.
func (f *File) importing(i int) {
	j, from, to := i+1, 0, len(f.tokens)
	if f.tokens[j].isWord("type") && !f.tokens[j+1].isWord("from") && !f.tokens[j+1].is("=") && !f.tokens[j+1].is(",") {
		j++
	}
	var found []Binding
	for f.tokens[j].sort != end {
		t := &f.tokens[j]
		switch {
		case t.isWord("from") && f.tokens[j+1].sort == text:
			raw := f.tokens[j+1].text
			for _, b := range found {
				b.Import.From = unescape(raw[1:max(1, len(raw)-1)])
				f.bind(b)
			}
			return
		case t.is("*") && f.tokens[j+1].isWord("as") && f.tokens[j+2].sort == word:
			found = append(found, Binding{Name: f.tokens[j+2].text, How: ByImport, Import: Import{Name: "*"}, from: from, to: to, at: j + 2})
			j += 3
		case t.is("{"):
			for _, pair := range f.pairs(j) {
				found = append(found, Binding{Name: pair[1], How: ByImport, Import: Import{Name: pair[0]}, from: from, to: to, at: j})
			}
			j = int(t.match) + 1
		case t.sort == word:
			if f.tokens[j+1].is("=") && f.tokens[j+2].isWord("require") { // import x = require("m")
				init, _ := f.expression(j + 2)
				f.bind(Binding{Name: t.text, How: ByConst, Init: init, from: from, to: to, at: j})
				return
			}
			found = append(found, Binding{Name: t.text, How: ByImport, Import: Import{Name: "default"}, from: from, to: to, at: j})
			j++
		case t.is(","):
			j++
		default:
			return
		}
	}
}

// pairs are the names of {a, b as c, type d} as [a a] [b c] [d d].
func (f *File) pairs(i int) [][2]string {
	last := int(f.tokens[i].match)
	var out [][2]string
	for j := i + 1; j < last; j++ {
		t := &f.tokens[j]
		if t.isWord("type") && (f.tokens[j+1].sort == word || f.tokens[j+1].sort == text) && !f.tokens[j+1].isWord("as") {
			continue
		}
		if t.sort != word && t.sort != text {
			continue
		}
		name := bare(t)
		pair := [2]string{name, name}
		if f.tokens[j+1].isWord("as") && j+2 < last {
			pair[1] = bare(&f.tokens[j+2])
			j += 2
		}
		out = append(out, pair)
	}
	return out
}

func bare(t *token) string {
	if t.sort == text {
		return unescape(t.text[1:max(1, len(t.text)-1)])
	}
	return t.text
}

// exporting reads the export at i. Declarations behind it are read by outline
// as well.
func (f *File) exporting(i int) {
	j := i + 1
	switch t := &f.tokens[j]; {
	case t.isWord("default"):
		f.exportDefault(j + 1)
		return
	case t.is("="):
		f.exports["="], _ = f.expression(j + 1)
		return
	case t.is("*"):
		f.exportStar(j)
		return
	case t.is("{"):
		f.exportList(j)
		return
	}
	for slices.Contains([]string{"declare", "abstract", "async"}, f.tokens[j].text) {
		j++
	}
	switch t := &f.tokens[j]; t.text {
	case "const", "let", "var":
		if !f.tokens[j+1].isWord("enum") {
			for _, name := range f.declared(j) {
				f.export(name, name, i)
			}
			return
		}
		j++
		fallthrough
	case "enum", "class", "function":
		j++
		if f.tokens[j].is("*") {
			j++
		}
		if f.tokens[j].sort == word {
			f.export(f.tokens[j].text, f.tokens[j].text, i)
		}
	}
}

// declared are the names that the declaration at i makes, without binding them.
func (f *File) declared(i int) []string {
	scratch := &File{tokens: f.tokens, names: map[string][]*Binding{}}
	return scratch.declare(i)
}

func (f *File) export(as, name string, at int) {
	f.exports[as] = &Expr{Kind: Name, Text: name, At: at, Pos: f.tokens[at].pos()}
}

func (f *File) exportDefault(j int) {
	k := j
	for f.tokens[k].isWord("async") || f.tokens[k].isWord("abstract") {
		k++
	}
	if f.tokens[k].isWord("function") || f.tokens[k].isWord("class") {
		k++
		if f.tokens[k].is("*") {
			k++
		}
		if f.tokens[k].sort == word && !f.tokens[k].isWord("extends") {
			f.export("default", f.tokens[k].text, k)
			return
		}
	}
	f.exports["default"], _ = f.expression(j)
}

func (f *File) exportStar(j int) {
	name := ""
	if f.tokens[j+1].isWord("as") {
		name = bare(&f.tokens[j+2])
		j += 2
	}
	if !f.tokens[j+1].isWord("from") || f.tokens[j+2].sort != text {
		return
	}
	module := bare(&f.tokens[j+2])
	if name != "" {
		f.from[name] = Import{From: module, Name: "*"}
		return
	}
	f.stars = append(f.stars, module)
}

func (f *File) exportList(j int) {
	next := int(f.tokens[j].match) + 1
	module := ""
	if f.tokens[next].isWord("from") && f.tokens[next+1].sort == text {
		module = bare(&f.tokens[next+1])
	}
	for _, pair := range f.pairs(j) {
		if module != "" {
			f.from[pair[1]] = Import{From: module, Name: pair[0]}
			continue
		}
		f.export(pair[1], pair[0], j)
	}
}

// commonJS reads module.exports = x, module.exports.a = x and exports.a = x.
func (f *File) commonJS(i int) {
	j := i
	if f.tokens[j].isWord("module") {
		if !f.tokens[j+1].is(".") || !f.tokens[j+2].isWord("exports") {
			return
		}
		j += 2
		if f.tokens[j+1].is("=") {
			f.exports["="], _ = f.expression(j + 2)
			return
		}
	}
	if f.tokens[j+1].is(".") && f.tokens[j+2].sort == word && f.tokens[j+3].is("=") {
		f.exports[f.tokens[j+2].text], _ = f.expression(j + 4)
	}
}
