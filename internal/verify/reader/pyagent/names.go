package pyagent

import (
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/python"
)

const (
	maxHops  = 12
	maxParts = 32   // of a qualified name
	maxBases = 1000 // that one class is made from
)

// def is one place where a name of the program gets its meaning, in the module
// where that place is.
type def struct {
	mod  *module
	bind *python.Binding
	of   *python.Variable
}

// is says whether an expression may mean one of names in one of packages.
// Fallback imports and re-exports of the program count: what may be a tool is
// read as one.
func (m *module) is(e python.Expr, names, packages []string) bool {
	return m.which(e, names, packages) != ""
}

// which is the qualified name that is answers for, "" when it says no.
func (m *module) which(e python.Expr, names, packages []string) string {
	for _, q := range m.file.Candidates(e) {
		if inPackage(q, names, packages) {
			return q
		}
		for _, d := range m.byQualified(q, 0) {
			inner := []string{d.bind.Import}
			if d.bind.Kind == python.Assigned {
				inner = d.mod.file.Candidates(d.bind.Value)
			}
			for _, q := range inner {
				if inPackage(q, names, packages) {
					return q
				}
			}
		}
	}
	return ""
}

// defs are the places that may give an expression its meaning: functions,
// classes, assignments of something else than a name, and imports from outside
// of the program.
func (m *module) defs(e python.Expr) []def { return m.defsHop(e, 0) }

func (m *module) defsHop(e python.Expr, hop int) []def {
	if hop > maxHops {
		return nil
	}
	switch e := e.(type) {
	case *python.Name:
		v := m.file.Lookup(e)
		if v == nil {
			return m.fromStars(e.ID, hop)
		}
		return m.shadowed(v, hop)
	case *python.Attribute:
		all := m.selfDefs(e)
		for i := range all {
			switch value := all[i].bind.Value.(type) {
			case *python.Name, *python.Attribute:
				if found := m.defsHop(value, hop+1); len(found) > 0 && len(all) == 1 {
					return found
				}
			}
		}
		for _, q := range m.file.Candidates(e) {
			all = append(all, m.byQualified(q, hop+1)...)
		}
		return all
	case *python.Subscript:
		return m.defsHop(e.Value, hop+1)
	case *python.Walrus:
		return m.defsHop(e.Value, hop+1)
	case *python.Conditional:
		return append(m.either(e.Then, hop), m.either(e.Else, hop)...)
	}
	return nil
}

// either are the definitions of one side of a choice; a call is its own.
func (m *module) either(e python.Expr, hop int) []def {
	if c, ok := e.(*python.Call); ok {
		return []def{{mod: m, bind: &python.Binding{Kind: python.Assigned, Value: c}}}
	}
	return m.defsHop(e, hop+1)
}

// shadowed are the definitions of a variable, and those that a star import may
// have put over it.
func (m *module) shadowed(v *python.Variable, hop int) []def {
	all := m.ofVariable(v, hop)
	if len(m.file.Stars) == 0 || v.Scope == nil || v.Scope.Parent != nil {
		return all
	}
	for _, d := range m.fromStars(v.Name, hop) {
		if !slices.ContainsFunc(all, func(known def) bool { return known.bind == d.bind }) {
			all = append(all, d)
		}
	}
	return all
}

func (m *module) ofVariable(v *python.Variable, hop int) []def {
	var all []def
	for i := range v.Bindings {
		k := &v.Bindings[i]
		here := []def{{mod: m, bind: k, of: v}}
		switch k.Kind {
		case python.Imported:
			if found := m.byQualified(k.Import, hop+1); len(found) > 0 {
				here = found
			}
		case python.Assigned:
			switch k.Value.(type) {
			case *python.Name, *python.Attribute, *python.Walrus:
				if found := m.defsHop(k.Value, hop+1); len(found) > 0 {
					here = found
				}
			}
		case python.Defined, python.Declared, python.Parameter, python.Changed, python.Bound:
		}
		if all = append(all, here...); len(all) > maxHops {
			return all
		}
	}
	return all
}

func (m *module) fromStars(name string, hop int) []def {
	var all []def
	for _, star := range m.file.Stars {
		all = append(all, m.byQualified(star+"."+name, hop+1)...)
	}
	return all
}

// byQualified finds a qualified name in the program: the longest part of it that
// is a module, and the rest in that module.
func (m *module) byQualified(q string, hop int) []def {
	if hop > maxHops {
		return nil
	}
	if rest, ok := strings.CutPrefix(q, python.Local); ok {
		name, _, _ := strings.Cut(rest, ".")
		return m.top(name, hop)
	}
	dots := len(q) - len(strings.TrimLeft(q, "."))
	parts := strings.Split(q[dots:], ".")
	if len(parts) > maxParts {
		return nil
	}
	for n := len(parts) - 1; n >= 0; n-- {
		if n == 0 && dots == 0 {
			break
		}
		key := ""
		if n > 0 {
			key = parts[n-1]
		} else if dir := up(m.path, dots); dir != "." {
			key = path.Base(dir)
		}
		for _, other := range m.prog.byLast[key] {
			if other != m && other.named(m, dots, parts[:n]) {
				if found := other.top(parts[n], hop); len(found) > 0 {
					return found
				}
			}
		}
	}
	return nil
}

func (m *module) top(name string, hop int) []def {
	if v := m.file.Module.Lookup(name); v != nil {
		return m.ofVariable(v, hop)
	}
	return m.fromStars(name, hop)
}

// segments are the parts of the module's own name.
func (m *module) segments() []string {
	parts := strings.Split(strings.TrimSuffix(m.path, ".py"), "/")
	if parts[len(parts)-1] == "__init__" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// named says whether the module is what importer means by dots and parts. An
// absolute name fits when it ends as the path of the file does; a longer name
// fits a path of at least two parts, because the manifest may lie inside of a
// package.
func (m *module) named(importer *module, dots int, parts []string) bool {
	own := m.segments()
	if dots > 0 {
		dir := up(importer.path, dots)
		want := parts
		if dir != "." {
			want = append(strings.Split(dir, "/"), parts...)
		}
		return slices.Equal(own, want)
	}
	if len(parts) == 0 || len(own) == 0 {
		return false
	}
	n := min(len(own), len(parts))
	if n == len(own) && n < len(parts) && n < 2 {
		return false
	}
	return slices.Equal(own[len(own)-n:], parts[len(parts)-n:])
}

// up is the folder that n leading dots mean in a file.
func up(file string, n int) string {
	dir := path.Dir(file)
	for range n - 1 {
		if dir == "." {
			return ".." // of nothing that was read
		}
		dir = path.Dir(dir)
	}
	return dir
}

// external is the qualified name of something that the program does not define,
// "" for anything else or when there are several.
func (m *module) external(e python.Expr) string {
	q, ok := m.file.Resolve(e)
	if !ok || strings.HasPrefix(q, python.Local) || strings.HasPrefix(q, ".") || len(m.byQualified(q, 0)) > 0 {
		return ""
	}
	return q
}

// classIs says whether a class, or one that it is made from, is one of names in
// one of packages.
func (d def) classIs(names, packages []string) bool {
	if d.bind.Class == nil {
		return false
	}
	key := family{d.bind.Class, strings.Join(names, " "), strings.Join(packages, " ")}
	is, known := d.mod.prog.families[key]
	if !known {
		is = d.classHop(key, names, packages, map[*python.Class]bool{})
		d.mod.prog.families[key] = is
	}
	return is
}

// family asks whether a class is made from one of names in one of packages.
type family struct {
	class           *python.Class
	names, packages string
}

// classHop looks no further than a class of which the answer is known: a file
// may stack thousands of classes, and each is asked.
func (d def) classHop(key family, names, packages []string, seen map[*python.Class]bool) bool {
	c := d.bind.Class
	if c == nil || seen[c] || len(seen) > maxBases {
		return false
	}
	key.class = c
	if is, known := d.mod.prog.families[key]; known {
		return is
	}
	seen[c] = true
	for _, base := range c.Args {
		if base.Name != "" || base.Stars > 0 {
			continue
		}
		if d.mod.is(base.Value, names, packages) {
			return true
		}
		for _, up := range d.mod.defs(base.Value) {
			if up.classHop(key, names, packages, seen) {
				return true
			}
		}
	}
	return false
}

// makes says whether a call constructs one of names in packages, or a class of
// the program made from one.
func (m *module) makes(c *python.Call, names, packages []string) bool {
	if m.is(c.Func, names, packages) {
		return true
	}
	for _, d := range m.defs(c.Func) {
		if d.classIs(names, packages) {
			return true
		}
	}
	return false
}
