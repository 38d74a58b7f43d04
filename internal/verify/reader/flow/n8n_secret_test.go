package flow_test

import (
	"strconv"
	"strings"
	"testing"

	"plimsoll.dev/internal/canonical"
)

// made joins the parts of a value that looks like a secret, so that no whole
// one stands in this file.
func made(parts ...string) string { return strings.Join(parts, "") }

var (
	openAIKey   = made("sk", "-", "proj4f8Kq2Zx", "91mNvB7c")
	githubToken = made("gh", "p_", "9aQ1zX8sW2", "eD7cR3vF6t")
	awsKey      = made("AK", "IA", "Q3EGR7", "ZT5WKM4PLB")
	pemBegin    = made("-----BEGIN ", "RSA PRIVATE", " KEY-----")
)

// secretFlow is a workflow with one node of the given parameters.
func secretFlow(parameters any) string {
	return `{"name":"w","nodes":[{"id":"x","name":"X","type":"n8n-nodes-base.set","parameters":` + canonical.UTF8.String(parameters) + `}],"connections":{}}`
}

func TestALikelySecretInAParameterIsNamedByPlaceAndKind(t *testing.T) {
	for name, c := range map[string]struct {
		parameters map[string]any
		want       string // pointer below /nodes/0/parameters and kind
	}{
		"a key by its prefix":      {map[string]any{"text": "use " + openAIKey + " please"}, "/text model_api_key"},
		"in an expression":         {map[string]any{"text": "={{ '" + githubToken + "' }}"}, "/text github_token"},
		"an access key":            {map[string]any{"a": map[string]any{"b": []any{"x", awsKey}}}, "/a/b/1 aws_access_key"},
		"a private key":            {map[string]any{"pem": pemBegin + "\nMIIE"}, "/pem private_key"},
		"a password in an address": {map[string]any{"url": made("postgres://app:", "tr0ub4dor", "@db.example/x")}, "/url url_password"},
		"a header by name and value": {
			map[string]any{"headers": []any{map[string]any{"name": "X-Api-Key", "value": made("7f3b9c", "1d5e8a2460")}}}, "/headers/0/value named_secret",
		},
		"a bearer header":  {map[string]any{"authorization": made("Bearer ", "q8Zt5", "Wn3Rk7Yb2Lc9")}, "/authorization named_secret"},
		"a short password": {map[string]any{"password": made("hun", "ter2")}, "/password named_secret"},
		"in code": {
			map[string]any{"jsCode": made("const token = '", "a8f5f167f44f4964", "e6c998dee827110c", "';")}, "/jsCode labelled_secret",
		},
		"in a header inside of code": {
			map[string]any{"jsCode": made("headers: {Authorization: `Bearer ", "a8f5f167f44f", "4964e6c998de", "`}")}, "/jsCode labelled_secret",
		},
		"a slash in the key": {map[string]any{"a/b~c": openAIKey}, "/a~1b~0c model_api_key"},
	} {
		t.Run(name, func(t *testing.T) {
			r := n8n(t, tree("f.json", secretFlow(c.parameters)), "f.json")
			if len(r.N8N.Secrets) != 1 {
				t.Fatalf("found %v", r.N8N.Secrets)
			}
			site := r.N8N.Secrets[0]
			if got := strings.TrimPrefix(site.Pointer, "/nodes/0/parameters") + " " + site.Kind; got != c.want || site.Path != "f.json" {
				t.Errorf("got %s in %s, want %s", got, site.Path, c.want)
			}
		})
	}
}

func TestWhatOnlySoundsLikeASecretIsNone(t *testing.T) {
	for name, parameters := range map[string]map[string]any{
		"the type of a credential":   {"nodeCredentialType": "slackOAuth2Api1", "authentication": "genericCredentialType"},
		"a limit":                    {"maxTokens": 4096, "tokenLimit": "4096tokens000000"},
		"a reference":                {"apiKey": "={{ $credentials.key1234567890 }}"},
		"a placeholder":              {"password": "<your password>", "apiKey": "YOUR_API_KEY_1234567890"},
		"a page":                     {"nextPageToken": made("CAUQAA", "1234567890abc")},
		"code that reads one":        {"jsCode": "const token = $input.first().json.accessToken12345678901234;"},
		"a reference in code":        {"jsCode": "const token = response.data.access_token_0123456789abc;"},
		"an address":                 {"url": "https://shop.example/v1/orders/12345?page=2"},
		"a word with the prefix":     {"text": "task-management-2024-overview-of-things and sk-learn"},
		"the example of the vendor":  {"text": made("AK", "IA", "IOSFODNN7EXAMPLE")},
		"prose about bearer tokens":  {"text": "Send the bearer token that you got in step 2."},
		"a token that is a sentence": {"token": "the third word of line 12"},
		"the address of a token":     {"accessTokenUrl": "https://login.example/oauth2/v2/token"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := n8n(t, tree("f.json", secretFlow(parameters)), "f.json"); len(r.N8N.Secrets) != 0 {
				t.Errorf("found %v", r.N8N.Secrets)
			}
		})
	}
}

func TestSecretsAreLookedForInNotesPinnedAndStaticDataOfEveryWorkflow(t *testing.T) {
	text := `{"name":"w","active":false,"nodes":[{"id":"x","name":"X","type":"n8n-nodes-base.set","parameters":{},"notes":` + strconv.Quote("key: "+openAIKey) +
		`}],"connections":{},"pinData":{"X":[{"json":{"auth":` + strconv.Quote(githubToken) + `}}]},"staticData":{"node:X":{"secret":"` + made("0123456789", "abcdef") + `"}}}`
	r := n8n(t, tree("f.json", text), "f.json")
	var got []string
	for _, s := range r.N8N.Secrets {
		got = append(got, s.Pointer+" "+s.Kind)
	}
	same(t, "sites", got, []string{
		"/nodes/0/notes model_api_key", "/pinData/X/0/json/auth github_token", "/staticData/node:X/secret named_secret",
	})
}

func TestTheListOfSecretsIsBounded(t *testing.T) {
	list := []any{}
	for range 1000 {
		list = append(list, openAIKey)
	}
	r := n8n(t, tree("f.json", secretFlow(map[string]any{"all": list})), "f.json")
	if got := len(r.N8N.Secrets); got != 200 {
		t.Errorf("lists %d", got)
	}
	same(t, "warnings", warnings(r), []string{"too_many_secrets"})
}
