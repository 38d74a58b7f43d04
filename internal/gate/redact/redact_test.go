package redact_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/redact"
)

const sentinel = "s3nt1nel"

// The tokens are made here: none stands in the text of a file.
func TestTextMasksTokensWhereverTheyStand(t *testing.T) {
	const chance = "0a1B2c3D4e5F6g7H8i9J"
	for _, prefix := range []string{"gh" + "p_", "github_" + "pat_11AB_", "gl" + "pat-", "s" + "k-ant-api03-", "sk_" + "live_", "xox" + "b-12-34-", "AI" + "za", "np" + "m_", "h" + "f_"} {
		for _, around := range [][2]string{{"", ""}, {"key ", ", then"}, {"(", ")"}, {`"`, `"`}, {"a/", ".txt"}, {"x.", ""}, {"`", "`"}} {
			text := around[0] + prefix + chance + around[1]
			got := redact.Text(text)
			if strings.Contains(got, chance) || !strings.Contains(got, "<redacted>") || redact.Text(got) != got || !strings.HasPrefix(got, around[0]) {
				t.Errorf("%s: %q", prefix, strings.ReplaceAll(got, chance, "SECRET"))
			}
		}
	}
	if got := redact.Text("AK" + "IA" + "0A1B2C3D4E5F6G7H and on"); got != "<redacted> and on" {
		t.Errorf("%q", got)
	}
	for _, name := range []string{
		"sk-learn-pipeline-utilities-2", "npm_config_cache_folder_1", "hf_hub_download_tool_7", "pypi-server-of-the-team", "AKIA", "risk-Assessment-Of-Payments-2",
		"ghp_short1A", "sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9", "docs/AIzation-Of-Everything.md",
	} {
		if got := redact.Text(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}

func TestTextMasksSecrets(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a URL's path", "see https://crm.test/v1/" + sentinel, "see https://crm.test/<redacted-path>"},
		{"a URL's user, query and fragment", "https://u:" + sentinel + "@crm.test:8443/?k=" + sentinel + "#" + sentinel, "https://crm.test:8443/"},
		{"a query without a path", "ws://crm.test?k=" + sentinel, "ws://crm.test"},
		{"a URL in a sentence", "(at WSS://crm.test/" + sentinel + "), then", "(at WSS://crm.test/<redacted-path>), then"},
		{"a URL in quotes", `url "https://crm.test/` + sentinel + `" changed`, `url "https://crm.test/<redacted-path>" changed`},
		{"a URL in angle brackets", "<https://crm.test/" + sentinel + ">", "<https://crm.test/<redacted-path>>"},
		{"a URL before a tag", "<a>https://crm.test</a>", "<a>https://crm.test</a>"},
		{"a URL with brackets of its own", "https://crm.test/a_(" + sentinel + ")", "https://crm.test/<redacted-path>"},
		{"a URL with a placeholder", "https://crm.test/<org>/x?k=" + sentinel, "https://crm.test/<redacted-path>"},
		{"an address", "http://[::1]:80/" + sentinel, "http://[::1]:80/<redacted-path>"},
		{"a URL without a host", "https:///" + sentinel, "<redacted-url>"},
		{"a URL with a bad port", "https://crm.test:" + sentinel + "/x", "<redacted-url>"},
		{"a URL with a variable for a host", "https://${" + sentinel + "}/x", "<redacted-url>"},
		{"a backslash that browsers take for a slash", `https://crm.test\` + sentinel, "https://crm.test/<redacted-path>"},
		{"a compound scheme", "git+https://" + sentinel + "@git.test/x", "git+https://git.test/<redacted-path>"},
		{"a URL glued to a word", "athttps://" + sentinel + "@git.test", "athttps://git.test"},
		{"a database's password", "postgres://app:" + sentinel + "@db.test/app", "postgres://db.test/app"},
		{"a database's password in the query", "mysql://db.test/app?password=" + sentinel + "&tls=1", "mysql://db.test/app?password=<redacted>&tls=1"},
		{"two URLs", "https://a.test/" + sentinel + " https://b.test/" + sentinel, "https://a.test/<redacted-path> https://b.test/<redacted-path>"},

		{"Authorization", "Authorization: Basic " + sentinel, "Authorization: <redacted>"},
		{"authorization in any case", "authorization:" + sentinel, "authorization:<redacted>"},
		{"Cookie, to the end of the line", "Cookie: a=1; b=" + sentinel + "\nnext", "Cookie: <redacted>\nnext"},
		{"Set-Cookie", "Set-Cookie: " + sentinel + "; Path=/", "Set-Cookie: <redacted>"},
		{"X-Api-Key", "X-Api-Key: " + sentinel, "X-Api-Key: <redacted>"},
		{"another header that names a token", "x-vendor-token : " + sentinel, "x-vendor-token : <redacted>"},
		{"a header in quotes", "curl -H 'Authorization: Bearer " + sentinel + "' crm.test", "curl -H 'Authorization: <redacted>' crm.test"},
		{"a header on a command line without quotes", "curl -HAuthorization: " + sentinel + " " + sentinel, "curl -HAuthorization: <redacted>"},
		{"a header as JSON", `{"Authorization": "Bearer ` + sentinel + `", "a": 1}`, `{"Authorization": "<redacted>", "a": 1}`},
		{"a header as escaped JSON", `{\"Authorization\": \"Bearer ` + sentinel + `\", \"a\": 1}`, `{\"Authorization\": \"<redacted>\", \"a\": 1}`},
		{"an apostrophe in an unquoted header", "Cookie: it's " + sentinel, "Cookie: <redacted>"},
		{"an open quote", `Authorization: "` + sentinel, `Authorization: "<redacted>`},

		{"Bearer", "send Bearer " + sentinel + ", then go", "send Bearer <redacted>, then go"},
		{"bearer in lower case", "bearer\t" + sentinel, "bearer\t<redacted>"},

		{"an environment variable", "DEPLOY_TOKEN=" + sentinel + " make", "DEPLOY_TOKEN=<redacted> make"},
		{"an assignment in quotes", `"DEPLOY_TOKEN=` + sentinel + ` ` + sentinel + `"`, `"DEPLOY_TOKEN=<redacted>"`},
		{"a quoted value", "api_key='" + sentinel + " x' y", "api_key='<redacted>' y"},
		{"a value with a comma", "PASSWORD=a," + sentinel, "PASSWORD=<redacted>"},
		{"TOML", `client_secret = "` + sentinel + `"`, `client_secret = "<redacted>"`},
		{"JSON", `{"dbPassword": "` + sentinel + `"}`, `{"dbPassword": "<redacted>"}`},
		{"escaped JSON", `"{\"apiKey\":\"` + sentinel + `\"}"`, `"{\"apiKey\":\"<redacted>\"}"`},
		{"an authorization as a variable", "AUTHORIZATION=Bearer " + sentinel, "AUTHORIZATION=<redacted>"},
		{"a query without a URL", "/cb?access_token=" + sentinel + "&x=1", "/cb?access_token=<redacted>&x=1"},

		{"a flag with a word", "run --password " + sentinel + " --quiet", "run --password <redacted> --quiet"},
		{"a flag with =", "run --password=" + sentinel + " x", "run --password=<redacted> x"},
		{"a flag with a quoted value", `run --api-key "` + sentinel + ` x" y`, `run --api-key "<redacted>" y`},
		{"a flag in a list", `["--token", "` + sentinel + `", "x"]`, `["--token", "<redacted>", "x"]`},
		{"a flag whose value looks like another until it is masked", "--password --passwordhttps://=", "--password <redacted>"},
		{"a flag and its value in one quoted word", `"--token=` + sentinel + ` x"`, `"--token=<redacted>"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := redact.Text(c.text); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if got := redact.Text(c.want); got != c.want {
				t.Errorf("a second time: %q", got)
			}
		})
	}
}

func TestTextLeavesOrdinaryTextAlone(t *testing.T) {
	for _, text := range []string{
		"",
		"CODEX-MCP-AUTO-APPROVE-WRITE",
		"SHIP-HOST-BOUNDARY-CONFIG-PARSE-FAILED",
		"command_or_url: crm.test",
		"JSONDecodeError at line 3, column 7",
		"mcp_servers.files", "mcp_servers.token-service", "plugins.kit.mcp_servers.secrets",
		"$.jobs", "$.mcpServers.token-service.headers",
		".claude/settings.local.json", "docs/tokens/secret-rotation.md", `C:\keys\api_key.txt`,
		"server token-service was added", "the key apiKeyHelper changed", "`password` is required",
		"permissions.id-token: write", "unknown key token: it is not read", "changed: env, headers, cookie",
		"Token permissions widened", "secrets.GITHUB_TOKEN", "${{ secrets.GITHUB_TOKEN }}",
		"Bash(<redacted-arguments>)", "WebFetch(<wildcard>)", "mcp__git", "Read(*)",
		"https://crm.test", "https://crm.test/", "wss://crm.test:8443", "the https:// scheme", "HTTP://crm.test/.",
		"ssh://git@git.test/team/repo", "git@git.test:team/repo", "file:///etc/hosts", "postgres://db.test/app",
		"a = 1", "max=3; min=1", "--model gpt", "--config=x", "--password", "--password --quiet", "PASSWORD=", "Cookie:", "Cookie: ", "Bearer", "Bearer.",
		"A rule about bearer tokens, and Bearer authentication",
		"naïve café 🚢", "half\xff a \xc3 character",
	} {
		if got := redact.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestURL(t *testing.T) {
	for _, c := range [][2]string{
		{"https://crm.test", "https://crm.test"},
		{"https://crm.test/", "https://crm.test/"},
		{"https://crm.test/mcp", "https://crm.test/<redacted-path>"},
		{"https://u:p@CRM.test:8443/a/b?c#d", "https://CRM.test:8443/<redacted-path>"},
		{"https://crm.test/?c", "https://crm.test/"},
		{"https://crm.test#d", "https://crm.test"},
		{"https://a@b@crm.test/", "https://crm.test/"},
		{"https://crm.test/a b", "https://crm.test/<redacted-path>"},
		{"wss://[::1]:1/", "wss://[::1]:1/"},
		{"https://bücher.test/x", "https://bücher.test/<redacted-path>"},
		{"", "<redacted-url>"},
		{"crm.test", "<redacted-url>"},
		{"ftp://crm.test", "<redacted-url>"},
		{"https://", "<redacted-url>"},
		{"https:///x", "<redacted-url>"},
		{"https://crm test/", "<redacted-url>"},
		{"https://crm.test:8a/", "<redacted-url>"},
		{"https://[::1/", "<redacted-url>"},
		{"https://[x]/", "<redacted-url>"},
		{"https://[::1]x/", "<redacted-url>"},
		{"https://:80/", "<redacted-url>"},
		{"https://a%20b/", "<redacted-url>"},
		{"https://\xff/", "<redacted-url>"},
		{"javascript:https://x", "<redacted-url>"},
	} {
		if got := redact.URL(c[0]); got != c[1] {
			t.Errorf("%q: got %q, want %q", c[0], got, c[1])
		}
		if got := redact.URL(c[1]); got != c[1] {
			t.Errorf("%q a second time: %q", c[1], got)
		}
	}
}

func TestIsSecretKey(t *testing.T) {
	for _, key := range []string{
		"token", "GITHUB_TOKEN", "accessToken", "client_secret", "PASSWORD", "db-password", "passwd", "apiKey", "API_KEY", "x-api-key", "api key", "Authorization",
		"proxy-authorization", "Cookie", "set-cookie", "credentials", "aws_credential", "passphrase", "private_key", "PrivateKey", "AWS_SECRET_ACCESS_KEY", "signing.key", "--password",
	} {
		if !redact.IsSecretKey(key) {
			t.Errorf("%q is not taken for a secret", key)
		}
	}
	for _, key := range []string{
		"", "key", "keys", "rule", "server", "mode", "url", "author", "authority", "command_or_url", "changed_keys", "kind", "path", "public_key", "monkey", "pass", "message", "command_present",
	} {
		if redact.IsSecretKey(key) {
			t.Errorf("%q is taken for a secret", key)
		}
	}
}

func TestObjectMasksEvidence(t *testing.T) {
	in := canonical.Object{
		{Key: "kind", Value: "mcp_server_changed"},
		{Key: "server", Value: "token-service"},
		{Key: "key", Value: "apiKeyHelper"},
		{Key: "changed_keys", Value: []string{"env", "headers", "url"}},
		{Key: "rule", Value: "Bash(<redacted-arguments>)"},
		{Key: "scope", Value: "id-token"},
		{Key: "old", Value: nil},
		{Key: "api_key", Value: sentinel},
		{Key: "tokens", Value: []string{sentinel}},
		{Key: "secret", Value: canonical.Object{{Key: "a", Value: sentinel}}},
		{Key: "password", Value: nil},
		{Key: "token_required", Value: true},
		{Key: "env", Value: canonical.Object{{Key: "HOME", Value: sentinel}, {Key: "PORT", Value: 80}, {Key: "GONE", Value: nil}}},
		{Key: "Headers", Value: map[string]any{"X-Trace": sentinel}},
		{Key: "value", Value: "https://crm.test/" + sentinel},
		{Key: "list", Value: []any{"Bearer " + sentinel, 1, canonical.Object{{Key: "env", Value: []string{"A=" + sentinel}}}}},
		{Key: "rules", Value: []canonical.Object{{{Key: "id", Value: "X-1"}, {Key: "cookie", Value: sentinel}}}},
		{Key: "map", Value: map[string]any{"headers": sentinel, "n": int64(1)}},
		{Key: "empty", Value: []string{}},
	}
	const want = `{"kind":"mcp_server_changed","server":"token-service","key":"apiKeyHelper","changed_keys":["env","headers","url"],` +
		`"rule":"Bash(<redacted-arguments>)","scope":"id-token","old":null,"api_key":"<redacted>","tokens":"<redacted>","secret":"<redacted>","password":null,"token_required":true,` +
		`"env":{"HOME":"<redacted>","PORT":"<redacted>","GONE":null},"Headers":{"X-Trace":"<redacted>"},"value":"https://crm.test/<redacted-path>",` +
		`"list":["Bearer <redacted>",1,{"env":"<redacted>"}],"rules":[{"id":"X-1","cookie":"<redacted>"}],"map":{"headers":"<redacted>","n":1},"empty":[]}`
	before := canonical.Compact.String(in)
	out := redact.Object(in)
	got, err := out.MarshalJSON()
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if canonical.Compact.String(in) != before {
		t.Error("the argument was changed")
	}
	if again := redact.Object(out); !reflect.DeepEqual(again, out) {
		t.Errorf("a second time: %v", again)
	}
	if redact.Object(nil) != nil || redact.Value("list", []string(nil)).([]string) != nil {
		t.Error("nothing became something")
	}
}

// pieces is what texts in which something may be wrong are made of.
var pieces = []string{
	"https://", "ws://", "x://", "Authorization", "Cookie", "X-Api-Key", "Bearer", "basic", "TOKEN", "--password", "api_key", ":", "=", " ", "\t", "\n", `"`, "'", "`", `\`,
	"@", "/", "?", "#", "&", ";", ",", ".", "(", ")", "[", "]", "{", "}", "<", ">", "<redacted>", "<redacted-path>", "<redacted-url>", "a", "h.test", "-", "+", ":80", "é", "\xff", "\r",
}

func TestTextIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		once := redact.Text(text)
		if twice := redact.Text(once); twice != once {
			t.Fatalf("%q became %q and then %q", text, once, twice)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + " x " + p + "x")
	}
	f.Add("Authorization: Bearer x https://u:p@h/x?y --password 'x'")
	f.Fuzz(func(t *testing.T, text string) {
		once := redact.Text(text)
		if twice := redact.Text(once); twice != once {
			t.Fatalf("%q became %q and then %q", text, once, twice)
		}
		if u := redact.URL(text); redact.URL(u) != u {
			t.Fatalf("%q: %q is not stable", text, u)
		}
	})
}

// Whatever a text is made of, its cost grows with its length. No clock is
// asked: the square of this size, once for each unit, would take longer than a
// test run may.
func TestHostileTextsCostNoMoreThanTheirLength(t *testing.T) {
	for _, unit := range append([]string{
		"token=", "token ", "Cookie:", "Bearer ", "--password ", "https://h/)", "https://h/(", "x://a:b@", "x://a", `"token`, `token="`, "token='", `'token="`, `"Cookie`, `'Cookie: "`, `--token",`,
		"a", "token", "aé",
	}, pieces...) {
		text := strings.Repeat(unit, 1<<18/len(unit))
		redact.Text(text)
		redact.URL("https://" + text)
		redact.IsSecretKey(text)
	}
}
