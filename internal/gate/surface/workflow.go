package surface

import (
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// Workflow is what a GitHub workflow in the root says about when it runs and
// what its token may do (docs/spec/boundary.md §5.2).
type Workflow struct {
	Triggers    []Trigger
	Permissions TokenPermissions // of the whole workflow
	Jobs        []Job            // in file order
}

// Trigger is one event of "on".
type Trigger struct {
	Event string
	Pos   source.Position
}

// Job is one job; its token has the workflow's permissions unless it sets its
// own.
type Job struct {
	Name        string
	Permissions TokenPermissions
}

// TokenPermissions is one "permissions" value. The zero value is not set.
type TokenPermissions struct {
	Set bool
	Pos source.Position
	// All is the whole-token level, "read-all" or "write-all"; empty when the
	// value is a mapping, or a string that no host knows and that grants
	// nothing.
	All    string
	Scopes []Scope

	levels map[string]string // Scopes by name
	writes []Scope           // Scopes of level write
}

// Scope is one line of a permissions mapping.
type Scope struct {
	Name  string
	Level string // read, write, none, or "<redacted>" for any other value
	Pos   source.Position
}

// The levels that rules ask for.
const (
	LevelWriteAll = "write-all"
	LevelReadAll  = "read-all"
	LevelWrite    = "write"
	LevelRead     = "read"
)

// TopLevel names the workflow's own permissions among the jobs.
const TopLevel = "<top-level>"

// WorkflowOf reads a workflow mapping.
func WorkflowOf(v source.Value) Workflow {
	w := Workflow{Permissions: tokenPermissions(v)}
	// YAML 1.1 reads the bare key "on" as true; a file that is written back by
	// such a tool has the key "true".
	for _, key := range []string{"on", "true"} {
		w.Triggers = append(w.Triggers, triggers(v.Get(key))...)
	}
	for _, m := range v.Get("jobs").Members {
		w.Jobs = append(w.Jobs, Job{Name: m.Key, Permissions: tokenPermissions(m.Value)})
	}
	return w
}

func triggers(on source.Value) []Trigger {
	var out []Trigger
	if on.Kind == source.String {
		out = append(out, Trigger{on.Text, on.Pos})
	}
	for _, e := range on.Strings() {
		out = append(out, Trigger{e.Text, e.Pos})
	}
	for _, m := range on.Members {
		out = append(out, Trigger{m.Key, m.Pos})
	}
	return out
}

// tokenPermissions reads the permissions of a workflow or of a job. A key
// without a value sets nothing.
func tokenPermissions(owner source.Value) TokenPermissions {
	p := setting(owner, "permissions")
	if !p.Value.Present() || p.Value.Kind == source.Null {
		return TokenPermissions{}
	}
	out := TokenPermissions{Set: true, Pos: p.Pos}
	switch all := strings.ToLower(p.Value.Str()); all {
	case LevelWriteAll, LevelReadAll:
		out.All = all
	}
	out.levels = make(map[string]string, len(p.Value.Members))
	for _, m := range p.Value.Members {
		scope := Scope{Name: m.Key, Level: redacted, Pos: m.Pos}
		switch l := strings.ToLower(m.Value.Str()); l {
		case LevelRead, LevelWrite, "none":
			scope.Level = l
		}
		out.Scopes = append(out.Scopes, scope)
		out.levels[scope.Name] = scope.Level
		if scope.Level == LevelWrite {
			out.writes = append(out.writes, scope)
		}
	}
	return out
}

// Level is the level of one scope; empty when nothing is said about it.
func (p *TokenPermissions) Level(scope string) string {
	switch p.All {
	case LevelWriteAll:
		return LevelWrite
	case LevelReadAll:
		return LevelRead
	}
	return p.levels[scope]
}

// Triggered is the place of an event in "on", if it is there.
func (w *Workflow) Triggered(event string) (source.Position, bool) {
	for _, t := range w.Triggers {
		if t.Event == event {
			return t.Pos, true
		}
	}
	return source.Position{}, false
}

// TokenContext is one token with what it may do on both sides.
type TokenContext struct {
	Job           string // TopLevel, or the job's name
	Before, After TokenPermissions
}

// TokenContexts lists the workflow's own token, then each job of the new side
// that sets permissions on either side. A side that sets none inherits the
// workflow's; a job that is gone has no token any more.
func TokenContexts(before, after *Workflow) []TokenContext {
	out := []TokenContext{{TopLevel, before.Permissions, after.Permissions}}
	olds := make(map[string]TokenPermissions, len(before.Jobs))
	for _, j := range before.Jobs {
		olds[j.Name] = j.Permissions
	}
	for _, j := range after.Jobs {
		old := olds[j.Name]
		if old.Set || j.Permissions.Set {
			out = append(out, TokenContext{j.Name, old.or(before.Permissions), j.Permissions.or(after.Permissions)})
		}
	}
	return out
}

// ScopeGained is one scope that a token may write now and could not before.
type ScopeGained struct {
	Job   string
	Scope string
	Old   string // the level before; empty when nothing was said
	Pos   source.Position
}

// MaxScopesGained bounds what one workflow is said to gain. Every job inherits
// the workflow's list, so a hostile file could multiply the two; the verdict is
// the same after the first row, and no host knows a tenth as many scopes.
const MaxScopesGained = 1000

// ScopesGained lists what the tokens gain, context by context in file order. A
// token that may write everything gains no single scope.
func ScopesGained(before, after *Workflow) []ScopeGained {
	var out []ScopeGained
	for _, c := range TokenContexts(before, after) {
		if c.Before.All == LevelWriteAll {
			continue // nothing is left to gain; a long list need not be walked
		}
		for _, s := range c.After.writes {
			old := c.Before.Level(s.Name)
			if old == LevelWrite {
				continue
			}
			if out = append(out, ScopeGained{Job: c.Job, Scope: s.Name, Old: old, Pos: s.Pos}); len(out) == MaxScopesGained {
				return out
			}
		}
	}
	return out
}

// WriteAllGained says whether the token may write everything now and could not
// before.
func (c *TokenContext) WriteAllGained() bool {
	return c.After.All == LevelWriteAll && c.Before.All != LevelWriteAll
}

func (p TokenPermissions) or(inherited TokenPermissions) TokenPermissions {
	if p.Set {
		return p
	}
	return inherited
}

// Workflow is both sides of a root workflow; ok is false for any other surface
// and when a side could not be read or is no mapping.
func (s *Surface) Workflow() (before, after Workflow, ok bool) {
	if s.Role != RoleWorkflow || !s.readable() ||
		s.OldDoc.Value.Kind != source.Map || s.NewDoc.Value.Kind != source.Map {
		return Workflow{}, Workflow{}, false
	}
	return WorkflowOf(s.OldDoc.Value), WorkflowOf(s.NewDoc.Value), true
}
