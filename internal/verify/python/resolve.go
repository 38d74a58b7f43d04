package python

import (
	"slices"
	"strings"
)

// Local is what the qualified name of something defined in the file itself
// begins with.
const Local = "__main__."

const maxCandidates = 16

// Resolve is the qualified name of what an expression means: after `from agents
// import function_tool as ft`, ft is "agents.function_tool"; after `import
// agents as a`, so is a.function_tool; relative imports keep their dots
// (".tools.lookup"); a function or class of the file is Local + its name; names
// assigned from such names mean the same. A subscript of a class (Agent[Ctx]) is
// the class. False: unknown, or one of several.
func (f *File) Resolve(e Expr) (string, bool) {
	if all := f.Candidates(e); len(all) == 1 {
		return all[0], true
	}
	return "", false
}

// Candidates are all qualified names an expression may have, sorted: one for
// each import, definition or assignment of its name, so that a fallback import
// in an except has two. A name that nothing binds may come from each star
// import.
func (f *File) Candidates(e Expr) []string {
	all := f.candidates(e, 0)
	slices.Sort(all)
	return slices.Compact(all)
}

// Is says whether one of the qualified names an expression may have is in want.
func (f *File) Is(e Expr, want ...string) bool {
	for _, name := range f.Candidates(e) {
		if slices.Contains(want, name) {
			return true
		}
	}
	return false
}

func (f *File) candidates(e Expr, depth int) []string {
	if depth > maxCandidates {
		return nil
	}
	switch e := e.(type) {
	case *Name:
		v := f.Lookup(e)
		if v == nil {
			var all []string
			for _, module := range f.Stars {
				all = append(all, join(module, e.ID))
			}
			return limit(all)
		}
		return slices.Clone(f.known(v, depth))
	case *Attribute:
		return f.attribute(e, depth)
	case *Subscript:
		return f.candidates(e.Value, depth+1)
	case *Conditional:
		return limit(append(f.candidates(e.Then, depth+1), f.candidates(e.Else, depth+1)...))
	case *Walrus:
		return f.candidates(e.Value, depth+1)
	}
	return nil
}

func (f *File) attribute(e *Attribute, depth int) []string {
	parts := []string{e.Name}
	at := e.Value
	for {
		a, ok := at.(*Attribute)
		if !ok {
			break
		}
		if len(parts) >= maxCandidates {
			return nil
		}
		parts = append(parts, a.Name)
		at = a.Value
	}
	slices.Reverse(parts)
	tail := strings.Join(parts, ".")
	all := f.candidates(at, depth+1)
	for i, name := range all {
		all[i] = join(name, tail)
	}
	return all
}

// known are the candidates of a variable, found once.
func (f *File) known(v *Variable, depth int) []string {
	if v.resolve > 0 {
		return v.known // none while being asked: a name that means itself
	}
	v.resolve = 1
	var all []string
	for _, k := range v.Bindings {
		switch k.Kind {
		case Imported:
			all = append(all, k.Import)
		case Defined:
			all = append(all, Local+v.Name)
		case Declared:
			all = append(all, Local+v.Name)
		case Assigned:
			all = append(all, f.candidates(k.Value, depth+1)...)
		case Parameter, Changed, Bound:
		}
		all = limit(all)
	}
	v.known, v.resolve = all, 2
	return all
}

func limit(all []string) []string {
	if len(all) <= maxCandidates {
		return all
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxCandidates)]
}
