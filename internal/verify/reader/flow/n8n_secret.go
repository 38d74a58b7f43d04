package flow

import (
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// maxSites bounds what one file may list; the first is enough to fail.
const maxSites = 200

// secretSites says where a workflow holds what looks like a secret: in
// parameters and notes of nodes, in pinned data and in static data
// (§12.5, SHIP-N8N-SECRET-IN-WORKFLOW-PARAMETER). keys lead to the workflow.
func secretSites(workflow source.Value, file string, keys []string) []tool.SecretSite {
	var s secretScan
	path := func(more ...string) []string { return append(append([]string(nil), keys...), more...) }
	for i, n := range workflow.Get("nodes").Items {
		for _, part := range []string{"parameters", "notes"} {
			s.walk(n.Get(part), part, path("nodes", strconv.Itoa(i), part))
		}
	}
	for _, part := range []string{"pinData", "staticData"} {
		s.walk(workflow.Get(part), part, path(part))
	}
	return s.sites(file)
}

// secretScan collects pointers and kinds; it never keeps a value.
type secretScan struct{ found []tool.SecretSite }

func (s *secretScan) sites(file string) []tool.SecretSite {
	for i := range s.found {
		s.found[i].Path = file
	}
	return s.found
}

// walk looks at every text below v. key is the name that v stands under; path
// is a stack that siblings share. A reader of source values has bounded their
// depth.
func (s *secretScan) walk(v source.Value, key string, path []string) {
	if len(s.found) > maxSites {
		return
	}
	switch v.Kind {
	case source.String:
		if kind := secretKind(key, v.Text); kind != "" {
			s.found = append(s.found, tool.SecretSite{Pointer: tool.Pointer(path...), Kind: kind})
		}
	case source.List:
		for i, item := range v.Items {
			s.walk(item, key, append(path, strconv.Itoa(i)))
		}
	case source.Map:
		// n8n writes headers and fields as {name: "X-Api-Key", value: "…"}.
		label := firstText(v.Get("name"), v.Get("key"))
		for _, m := range v.Members {
			under := m.Key
			if (m.Key == "value" || m.Key == "stringValue") && label != "" {
				under = label
			}
			s.walk(m.Value, under, append(path, m.Key))
		}
	case source.Null, source.Bool, source.Number, source.Date:
	}
}

// secretKind says what a text looks like, "" for nothing. key is what it is
// called.
func secretKind(key, text string) string {
	if kind := knownSecret(text); kind != "" {
		return kind
	}
	value, expression := strings.CutPrefix(text, "=")
	if expression && strings.Contains(value, "{{") {
		return "" // computed; what stands in it literally was looked at above
	}
	if redact.IsSecretKey(key) && !structural(key) && secretValue(key, value) {
		return "named_secret"
	}
	return ""
}

// structural keys hold what a secret is called, where it is or of which sort it
// is, not the secret.
func structural(key string) bool {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(key))
	for _, end := range []string{"type", "name", "id", "url", "uri", "field", "property", "header", "location", "expiry", "expires", "expiresat", "format", "prefix"} {
		if strings.HasSuffix(plain, end) {
			return true
		}
	}
	for _, word := range []string{"pagetoken", "synctoken", "continuationtoken", "tokenlimit", "tokencount", "maxtoken"} {
		if strings.Contains(plain, word) {
			return true
		}
	}
	return false
}

// secretValue says whether a literal under a secret's name is the secret: a
// password is one at almost any length, anything else needs digits and letters
// and no blank.
func secretValue(key, value string) bool {
	value = strings.TrimSpace(value)
	if scheme, rest, ok := strings.Cut(value, " "); ok {
		switch strings.ToLower(scheme) {
		case "bearer", "basic", "token", "digest":
			value = strings.TrimSpace(rest)
		}
	}
	if placeholder(value) {
		return false
	}
	plain := strings.ToLower(key)
	if strings.Contains(plain, "passw") || strings.Contains(plain, "passphrase") {
		return len(value) >= 4
	}
	return len(value) >= 12 && !strings.ContainsAny(value, " \t\n") && mixed(value)
}

// mixed says whether a text holds both digits and letters.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") &&
		strings.IndexFunc(s, func(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }) >= 0
}

// placeholder says whether a value only says that something belongs here.
func placeholder(value string) bool {
	lower := strings.ToLower(value)
	for _, part := range []string{
		"<", "{{", "${", "your", "example", "changeme", "change_me", "placeholder", "xxxx", "****", "redacted", "dummy", "todo", "...", "…",
	} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return strings.Trim(lower, lower[:min(1, len(lower))]) == "" // one letter over and over, or nothing
}

// A form is a secret that its issuer marks: what it begins with and how many
// characters follow at least.
type form struct {
	prefix, kind string
	rest         int
}

func forms() []form {
	return []form{
		{"sk_live_", "stripe_key", 16},
		{"rk_live_", "stripe_key", 16},
		{"sk-", "model_api_key", 16},
		{"ghp_", "github_token", 16},
		{"gho_", "github_token", 16},
		{"ghs_", "github_token", 16},
		{"ghu_", "github_token", 16},
		{"github_pat_", "github_token", 20},
		{"glpat-", "gitlab_token", 16},
		{"AKIA", "aws_access_key", 16},
		{"ASIA", "aws_access_key", 16},
		{"xoxb-", "slack_token", 10},
		{"xoxp-", "slack_token", 10},
		{"xoxa-", "slack_token", 10},
		{"xoxs-", "slack_token", 10},
		{"xapp-", "slack_token", 10},
		{"AIza", "google_api_key", 30},
		{"npm_", "npm_token", 30},
		{"hf_", "hugging_face_token", 30},
		{"shpat_", "shopify_token", 30},
		{"SG.", "sendgrid_key", 20},
		{"eyJ", "json_web_token", 40},
	}
}

// knownSecret looks for the forms, a private key, a password in an address, and
// a labelled value anywhere in a text.
func knownSecret(text string) string {
	if strings.Contains(text, "-----BEGIN ") && strings.Contains(text, "PRIVATE KEY-----") {
		return "private_key"
	}
	for _, f := range forms() {
		if f.in(text) {
			return f.kind
		}
	}
	if passwordInURL(text) {
		return "url_password"
	}
	if redact.Text(text) != text && labelled(text) {
		return "labelled_secret"
	}
	return ""
}

func (f *form) in(text string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], f.prefix)
		if i < 0 {
			return false
		}
		start := at + i
		at = start + len(f.prefix)
		if start > 0 && isIdentifier(text[start-1]) {
			continue
		}
		end := at
		for end < len(text) && (isIdentifier(text[end]) || text[end] == '-' || text[end] == '.') {
			end++
		}
		if rest := text[at:end]; len(rest) >= f.rest && mixed(rest) && !placeholder(rest) {
			return f.kind != "json_web_token" || strings.Count(rest, ".") == 2
		}
		at = max(at, end)
	}
}

// passwordInURL says whether an address carries user:password@.
func passwordInURL(text string) bool {
	for {
		i := strings.Index(text, "://")
		if i < 0 {
			return false
		}
		text = text[i+3:]
		end := 0
		for end < len(text) && text[end] > ' ' && strings.IndexByte("/?#\\\"'`<>", text[end]) < 0 {
			end++
		}
		user, _, ok := cutLast(text[:end], "@")
		if _, password, has := strings.Cut(user, ":"); ok && has && len(password) >= 3 && !placeholder(password) && !strings.HasPrefix(password, "$") {
			return true
		}
		text = text[end:]
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// labelled says whether a secret's name is followed by a literal of at least 20
// characters, in prose, a header or code. In code a value without quotes and
// with a dot is a reference.
func labelled(text string) bool {
	for i := 0; i < len(text); {
		if !isLabel(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && isLabel(text[i]) {
			i++
		}
		word := text[start:i]
		bearer := strings.EqualFold(word, "bearer")
		if !bearer && !redact.IsSecretKey(word) {
			continue
		}
		value, quoted := valueAfter(text[i:], bearer)
		if len(value) >= 20 && mixed(value) && !placeholder(value) && (quoted || bearer || !strings.Contains(value, ".")) {
			return true
		}
	}
	return false
}

func isLabel(c byte) bool { return isIdentifier(c) || c == '-' }

// valueAfter is the run of value characters behind a label and its sign.
func valueAfter(s string, bearer bool) (value string, quoted bool) {
	s = strings.TrimLeft(s[:min(len(s), 512)], "\"'`\\ \t")
	if !bearer {
		if s == "" || s[0] != ':' && s[0] != '=' {
			return "", false
		}
		s = strings.TrimLeft(s[1:], " \t\\")
	}
	if s != "" && strings.IndexByte("\"'`", s[0]) >= 0 {
		s, quoted = s[1:], true
	}
	for _, scheme := range []string{"bearer ", "basic ", "token "} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			s = s[len(scheme):]
		}
	}
	end := 0
	for end < len(s) && (isIdentifier(s[end]) || strings.IndexByte("+/=-.~", s[end]) >= 0) {
		end++
	}
	return s[:end], quoted
}
