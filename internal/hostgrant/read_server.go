package hostgrant

import (
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// servers are the tool servers of a file with a map of them.
func (r *reading) servers(root source.Value) {
	r.odd("mcpServers", root.Get("mcpServers"), source.Map)
	r.odd("servers", root.Get("servers"), source.Map)
	seen := map[string]string{}
	for _, s := range surface.MCPServersOf(root) {
		entry := root.At(s.Map, s.Name)
		r.server(s, entry, approves(entry), s.Map, s.Name)
		if other, twice := seen[s.Name]; twice && other != s.Map {
			r.note(UnresolvedPrecedence, "A server stands under two keys; which one counts depends on the host, so both are listed.")
		}
		seen[s.Name] = s.Map
	}
}

// server is one tool server. unasked: tools of it run without a question. key
// names it in its file.
func (r *reading) server(s surface.MCPServer, entry source.Value, unasked bool, key ...string) {
	g := Grant{Kind: MCPServer, Server: s.Name, Transport: s.Transport, Endpoint: s.Target, Access: Execute, Risk: High}
	if s.Transport == "url" {
		g.Access = External
	}
	if unasked {
		g.Risk = Critical
	}
	if entry.Get("disabled").True() || entry.Get("enabled").Kind == source.Bool && !entry.Get("enabled").Truth {
		g.Access, g.Risk = NoAccess, NoRisk
	}
	g.EnvKeys = keys(entry.Get("env"))
	for _, name := range []string{"bearer_token_env_var", "env_vars"} {
		if v := entry.Get(name); v.Kind == source.String {
			g.EnvKeys = append(g.EnvKeys, v.Text)
		} else {
			for _, e := range v.Strings() {
				g.EnvKeys = append(g.EnvKeys, e.Text)
			}
		}
	}
	for _, name := range []string{"headers", "http_headers", "env_http_headers"} {
		g.HeaderKeys = append(g.HeaderKeys, keys(entry.Get(name))...)
	}
	g.EnvKeys, g.HeaderKeys = sorted(g.EnvKeys), sorted(g.HeaderKeys)
	r.add(g, digest(entry), key...)
}

// approves says whether tools of the server run without a question.
func approves(entry source.Value) bool {
	for _, key := range []string{"alwaysAllow", "autoApprove"} {
		if v := entry.Get(key); len(v.Items) > 0 || v.True() {
			return true
		}
	}
	return entry.Get("trust").True()
}

// projectServers says that a host keeps servers for single folders of this
// machine, whose names are in the file and are not taken over.
func (r *reading) projectServers() {
	for _, m := range r.root.Get("projects").Members {
		if len(m.Value.Get("mcpServers").Members) > 0 {
			r.note(UnsupportedSetting, "The file has servers for single folders; they are not listed.")
			return
		}
	}
}

// workflow is what the token of a workflow may do, and what starts it.
func (r *reading) workflow() {
	w := surface.WorkflowOf(r.root)
	g := Grant{Kind: Workflow}
	for _, t := range w.Triggers {
		g.Triggers = append(g.Triggers, clip(t.Event))
	}
	_, g.OnTarget = w.Triggered("pull_request_target")
	known := len(w.Jobs) > 0
	reads := false
	for i := range w.Jobs {
		if !w.Jobs[i].Permissions.Set && !w.Permissions.Set {
			known = false // the repository's settings decide
		}
	}
	var empty surface.Workflow
	contexts := surface.TokenContexts(&empty, &w)
	for i := range contexts {
		after := &contexts[i].After
		g.WriteAll = g.WriteAll || after.All == surface.LevelWriteAll
		reads = reads || after.All == surface.LevelReadAll
		for _, s := range after.Scopes {
			switch s.Level {
			case surface.LevelWrite:
				g.WriteScopes = append(g.WriteScopes, s.Name)
			case surface.LevelRead:
				reads = true
			}
		}
	}
	g.Triggers, g.WriteScopes = sorted(g.Triggers), sorted(g.WriteScopes)
	g.Access, g.Risk = workflowReach(&g, known, reads)
	r.add(g, digest(source.Value{Kind: source.Map, Members: []source.Member{
		{Key: "on", Value: triggersOf(r.root)}, {Key: "permissions", Value: r.root.Get("permissions")}, {Key: "jobs", Value: jobTokens(r.root)},
	}}))
	for _, m := range r.root.Get("jobs").Members {
		if uses := m.Value.Get("uses").Str(); uses != "" && !strings.HasPrefix(uses, "./") {
			r.note(RemoteSourceExcluded, "A job is a workflow of another repository, which is not read.")
		}
	}
}

func triggersOf(root source.Value) source.Value {
	if on := root.Get("on"); on.Present() {
		return on
	}
	return root.Get("true")
}

// jobTokens are the permissions of the jobs: the rest of a job is no grant.
func jobTokens(root source.Value) source.Value {
	out := source.Value{Kind: source.Map}
	for _, m := range root.Get("jobs").Members {
		if p := m.Value.Get("permissions"); p.Present() {
			out.Members = append(out.Members, source.Member{Key: m.Key, Value: p})
		}
	}
	return out
}

func workflowReach(g *Grant, known, reads bool) (Access, Risk) {
	switch {
	case g.WriteAll:
		return Admin, Critical
	case len(g.WriteScopes) > 0 && g.OnTarget:
		return Write, Critical
	case len(g.WriteScopes) > 0:
		return Write, High
	case !known && g.OnTarget:
		return Unknown, High
	case !known:
		return Unknown, UnknownRisk
	case reads:
		return Read, Low
	}
	return NoAccess, Low
}
