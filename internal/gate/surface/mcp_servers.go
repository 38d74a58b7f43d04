package surface

import (
	"net/url"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// MCPServer is one entry of an MCP server map.
type MCPServer struct {
	// Map is the key the entry stands under, "mcpServers" or "servers".
	Map  string
	Name string
	Pos  source.Position
	// Transport is "url" or "stdio".
	Transport string
	// Target is what a person recognises the server by: the host of its URL or
	// the first word of its command, without any secret; empty when it has
	// neither.
	Target string
	// Compared are the settings that decide what runs and what it may do.
	Compared []Setting
}

// comparedServerKeys, sorted. Other keys, a description for example, meet the
// catch-all rule only (docs/spec/boundary.md §5.2).
var comparedServerKeys = map[string]bool{
	"alwaysAllow": true, "args": true, "command": true, "disabled": true, "env": true, "excludeTools": true,
	"headers": true, "includeTools": true, "serverUrl": true, "tools": true, "url": true,
}

// MCPServersOf lists the servers of a file in file order. Hosts differ in which
// of the two maps they read, so both are read and neither can hide the other.
func MCPServersOf(v source.Value) []MCPServer {
	var out []MCPServer
	for _, key := range []string{"mcpServers", "servers"} {
		for _, m := range v.Get(key).Members {
			out = append(out, mcpServer(key, m))
		}
	}
	return out
}

func mcpServer(key string, m source.Member) MCPServer {
	s := MCPServer{
		Map: key, Name: m.Key, Pos: m.Pos, Transport: "stdio",
		Compared: settings(m.Value, func(k string) bool { return comparedServerKeys[k] }),
	}
	for _, k := range []string{"url", "serverUrl"} {
		if address := m.Value.Get(k); address.Present() && address.Kind != source.Null {
			s.Transport = "url"
			if address.Kind == source.String {
				s.Target = urlHost(address.Text)
			}
			return s
		}
	}
	s.Target = commandWord(m.Value.Get("command"))
	return s
}

// urlHost is the host of an address and nothing else of it: user, port, path
// and query stay out of evidence.
func urlHost(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || !plainHost(u.Hostname()) {
		return "<redacted-url>"
	}
	return u.Hostname()
}

// plainHost keeps placeholders and tricks of encoding out: what is no host name
// cannot be called one.
func plainHost(h string) bool {
	if h == "" || len(h) > 253 {
		return false
	}
	return strings.IndexFunc(h, func(c rune) bool {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c >= 0xA0:
			return false
		}
		return !strings.ContainsRune(".-_:", c)
	}) < 0
}

// maxCommandWord bounds what can pass for the name of a program.
const maxCommandWord = 256

// commandWord is the first word of a command line, or of the first element of
// a command list, without what a shell would take as data: "TOKEN=abc npx"
// yields "TOKEN=<redacted>".
func commandWord(command source.Value) string {
	text := command.Str()
	if command.Kind == source.List && len(command.Items) > 0 {
		text = command.Items[0].Str()
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	word := words[0]
	name, _, assigns := strings.Cut(word, "=")
	switch {
	case len(word) > maxCommandWord:
		return redacted
	case strings.Contains(word, "://"):
		return "<redacted-url>"
	case strings.Contains(word, "@") && strings.Contains(word, ":"):
		return redacted // user:password@host
	case assigns:
		return name + "=" + redacted
	}
	return word
}

// MCPServersGained lists the servers that only after has.
func MCPServersGained(before, after []MCPServer) []MCPServer {
	olds := indexServers(before)
	var out []MCPServer
	for _, s := range after {
		if _, had := olds[s.id()]; !had {
			out = append(out, s)
		}
	}
	return out
}

// MCPServerChange is a server on both sides with the compared settings that
// differ, sorted by key.
type MCPServerChange struct {
	Server  MCPServer
	Changed []Setting
}

// MCPServersChanged lists the servers that both sides have and that differ in
// a compared setting.
func MCPServersChanged(before, after []MCPServer) []MCPServerChange {
	olds := indexServers(before)
	var out []MCPServerChange
	for _, s := range after {
		old, had := olds[s.id()]
		if !had {
			continue
		}
		if changed := ChangedSettings(old.Compared, s.Compared); len(changed) > 0 {
			out = append(out, MCPServerChange{Server: s, Changed: changed})
		}
	}
	return out
}

type serverID struct{ key, name string }

func (m *MCPServer) id() serverID { return serverID{m.Map, m.Name} }

func indexServers(list []MCPServer) map[serverID]MCPServer {
	out := make(map[serverID]MCPServer, len(list))
	for _, s := range list {
		out[s.id()] = s
	}
	return out
}

// MCPServers is both sides of an MCP server file; ok is false for any other
// surface and when a side could not be read.
func (s *Surface) MCPServers() (before, after []MCPServer, ok bool) {
	if s.Role != RoleMCPServers || !s.readable() {
		return nil, nil, false
	}
	return MCPServersOf(s.OldDoc.Value), MCPServersOf(s.NewDoc.Value), true
}
