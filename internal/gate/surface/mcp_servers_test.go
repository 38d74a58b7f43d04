package surface_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/surface"
)

func itoa(i int) string { return strconv.Itoa(i) }

func TestAServerIsRecognisedByItsHostOrItsProgramAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ entry, transport, target string }{
		{`{"command":"npx","args":["s3cr3t"]}`, "stdio", "npx"},
		{`{"command":"  /opt/bin/run --key s3cr3t"}`, "stdio", "/opt/bin/run"},
		{`{"command":["uvx","s3cr3t"]}`, "stdio", "uvx"},
		{`{"command":["uvx s3cr3t"]}`, "stdio", "uvx"},
		{`{"command":[]}`, "stdio", ""},
		{`{"command":[1]}`, "stdio", ""},
		{`{"command":{"a":1}}`, "stdio", ""},
		{`{}`, "stdio", ""},
		{`"s3cr3t"`, "stdio", ""},
		{`{"command":"TOKEN=s3cr3t npx"}`, "stdio", "TOKEN=<redacted>"},
		{`{"command":"--key=s3cr3t"}`, "stdio", "--key=<redacted>"},
		{`{"command":"https://u:s3cr3t@host.test/x=y"}`, "stdio", "<redacted-url>"},
		{`{"command":"me:s3cr3t@host.test:a=b"}`, "stdio", "<redacted>"},
		{`{"command":"npx@latest"}`, "stdio", "npx@latest"},
		{`{"command":"` + strings.Repeat("s", 300) + `"}`, "stdio", "<redacted>"},
		{`{"url":"https://crm.test/mcp?k=s3cr3t#s3cr3t"}`, "url", "crm.test"},
		{`{"url":"https://u:s3cr3t@crm.test:8443/"}`, "url", "crm.test"},
		{`{"serverUrl":"wss://crm.test","command":"npx"}`, "url", "crm.test"},
		{`{"url":null,"serverUrl":"http://[::1]:9/"}`, "url", "::1"},
		{`{"url":null,"command":"npx"}`, "stdio", "npx"},
		{`{"url":["https://crm.test"]}`, "url", ""},
		{`{"url":"crm.test/s3cr3t"}`, "url", "<redacted-url>"},
		{`{"url":"https://${S3CR3T}/"}`, "url", "<redacted-url>"},
		{`{"url":"https://good.test\\@evil.test/"}`, "url", "<redacted-url>"},
		{`{"url":"https://s3cr3t;x/"}`, "url", "<redacted-url>"},
		{`{"url":"https://crm.test:s3cr3t/"}`, "url", "<redacted-url>"},
		{`{"url":"https:///s3cr3t"}`, "url", "<redacted-url>"},
		{`{"url":""}`, "url", "<redacted-url>"},
		{`{"url":"https://münchen.test/"}`, "url", "münchen.test"},
	} {
		_, after, ok := created(mcpServers, `{"mcpServers":{"a":`+c.entry+`}}`).MCPServers()
		if !ok || len(after) != 1 {
			t.Fatalf("%s: %v, %v", c.entry, after, ok)
		}
		if s := after[0]; s.Transport != c.transport || s.Target != c.target {
			t.Errorf("%s: %s %q, want %s %q", c.entry, s.Transport, s.Target, c.transport, c.target)
		}
	}
}

func TestServersAreGainedAndChangedByMapAndName(t *testing.T) {
	t.Parallel()
	before, after, ok := edited(vscodeServers, `{
		"servers": {"same": {"command": "a"}, "gone": {}, "edited": {"command": "a", "note": 1}},
		"mcpServers": {"moved": {"command": "a"}}
	}`, `{
		"servers": {"moved": {"command": "a"}, "edited": {"command": "b", "note": 2, "env": {}}, "same": {"command": "a"},},
		// a comment, and commas at the end
	}`).MCPServers()
	if !ok {
		t.Fatal("not read")
	}
	var got []string
	for _, s := range surface.MCPServersGained(before, after) {
		got = append(got, "gained "+s.Map+" "+s.Name+" on line "+itoa(s.Pos.Line))
	}
	for _, c := range surface.MCPServersChanged(before, after) {
		for _, setting := range c.Changed {
			got = append(got, "changed "+c.Server.Name+" "+setting.Key)
		}
	}
	want := []string{"gained servers moved on line 2", "changed edited command", "changed edited env"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzMCPServers(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"npx"}}}`), []byte(`{"mcpServers":{"a":{"command":["x"]},"b":{"url":"https://b.test/?k=1"}}}`))
	f.Add([]byte(`{"servers":[]}`), []byte("{\"servers\": {\"a\": {\"url\": \"https://u:p@h/\",}, // c\n}, \"mcpServers\": null}"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		for _, path := range []string{mcpServers, vscodeServers} {
			was, is, ok := edited(path, string(before), string(after)).MCPServers()
			if !ok {
				continue
			}
			inside := places(after)
			for _, s := range surface.MCPServersGained(was, is) {
				inside(t, "server", s.Pos)
				if strings.ContainsAny(s.Target, " \t\n?#") {
					t.Fatalf("target %q is more than a host or a word", s.Target)
				}
			}
			for _, c := range surface.MCPServersChanged(was, is) {
				inside(t, "server", c.Server.Pos)
				for _, setting := range c.Changed {
					inside(t, setting.Key, setting.Pos)
				}
			}
			if len(surface.MCPServersGained(is, is))+len(surface.MCPServersChanged(is, is)) > 0 {
				t.Fatal("a file gains something over itself")
			}
		}
	})
}
