package action_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const repository = "acme/shop"

// token looks like one of the forge and is none.
var token = "gh" + "s_" + strings.Repeat("t0ken", 7) + "x"

// forge is GitHub's API as far as the action uses it.
type forge struct {
	t  *testing.T
	mu sync.Mutex // guards what follows
	// readOnly refuses to write, as the token of a fork has it.
	readOnly bool
	login    string // who the token belongs to; "" when it may not ask
	comments []forgeComment
	checks   []map[string]any
	sarifs   []map[string]any
	calls    []string
	broken   bool // answers nothing that could be read
}

type forgeComment struct {
	ID   int64     `json:"id"`
	Body string    `json:"body"`
	User forgeUser `json:"user"`
}

type forgeUser struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

var bot = forgeUser{"github-actions[bot]", "Bot"}

func newForge(t *testing.T) (*forge, string) {
	t.Helper()
	f := &forge{t: t}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s.URL
}

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, r.Method+" "+r.URL.Path)
	text, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	answer := func(code int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		if err := json.NewEncoder(w).Encode(v); err != nil {
			f.t.Error(err)
		}
	}
	refused := map[string]any{"message": "Resource not accessible by integration"}
	var sent map[string]any
	switch {
	case r.Header.Get("Authorization") != "Bearer "+token:
		answer(http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
		return
	case f.broken:
		_, _ = io.WriteString(w, "<html>")
		return
	case r.Method != http.MethodGet && f.readOnly:
		answer(http.StatusForbidden, refused)
		return
	case r.Method != http.MethodGet:
		if err := json.Unmarshal(text, &sent); err != nil {
			f.t.Errorf("%s %s: the body is no JSON: %v", r.Method, r.URL.Path, err)
		}
	}
	list := "/repos/" + repository + "/issues/7/comments"
	switch {
	case r.URL.Path == "/user" && f.login != "":
		answer(http.StatusOK, forgeUser{f.login, "User"})
	case r.URL.Path == "/user":
		answer(http.StatusForbidden, refused)
	case r.Method == http.MethodGet && r.URL.Path == list:
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
		from := min((page-1)*size, len(f.comments))
		answer(http.StatusOK, f.comments[from:min(from+size, len(f.comments))])
	case r.Method == http.MethodPost && r.URL.Path == list:
		user := bot
		if f.login != "" {
			user = forgeUser{f.login, "User"}
		}
		f.comments = append(f.comments, forgeComment{int64(1000 + len(f.comments)), sent["body"].(string), user})
		answer(http.StatusCreated, f.comments[len(f.comments)-1])
	case r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, "/repos/"+repository+"/issues/comments/"):
		for i := range f.comments {
			if strings.HasSuffix(r.URL.Path, fmt.Sprintf("/%d", f.comments[i].ID)) {
				f.comments[i].Body = sent["body"].(string)
				answer(http.StatusOK, f.comments[i])
				return
			}
		}
		answer(http.StatusNotFound, refused)
	case r.Method == http.MethodPost && r.URL.Path == "/repos/"+repository+"/check-runs":
		f.checks = append(f.checks, sent)
		answer(http.StatusCreated, sent)
	case r.Method == http.MethodPost && r.URL.Path == "/repos/"+repository+"/code-scanning/sarifs":
		f.sarifs = append(f.sarifs, sent)
		answer(http.StatusAccepted, map[string]any{"id": "1"})
	default:
		f.t.Errorf("the action called %s %s", r.Method, r.URL.Path)
		answer(http.StatusNotFound, refused)
	}
}

// ours are the comments that begin with the marker and were written by the bot.
func (f *forge) ours() []forgeComment {
	var list []forgeComment
	for _, c := range f.comments {
		if strings.HasPrefix(c.Body, "<!-- agents-shipgate:pr-comment -->") && c.User == bot {
			list = append(list, c)
		}
	}
	return list
}

// made is the folder that built made; it is removed at the end.
var made string

// built is a folder with the gate in it, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "shipgate-action-")
	if err != nil {
		return "", err
	}
	made = dir
	// As the action builds it, so that nothing is compiled a second time.
	cmd := exec.Command("go", "build", "-trimpath", "-o", dir+"/shipgate", "./cmd/shipgate")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

// gate is the folder of the built gate.
func gate(t *testing.T) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made != "" {
		_ = os.RemoveAll(made)
	}
	os.Exit(code)
}

// origin is a repository on the forge: main, and pull request 7 with its merge.
type origin struct {
	t   *testing.T
	dir string
	// The tip of main, the head of the pull request, and its merge into main.
	base, head, merge string
}

var layers = map[string]map[string]string{
	"base": {
		"shipgate.yaml": manifestOf("get_order"), "tools.json": toolsOf(getOrder), "readme.txt": "a shop\n",
	},
	"passes":      {"readme.txt": "a shop that sells\n"},
	"blocked":     {"shipgate.yaml": manifestOf("get_order", "delete_order"), "tools.json": toolsOf(getOrder, deleteOrder)},
	"review":      {"shipgate.yaml": "# looked over\n" + manifestOf("get_order")},
	"no manifest": {"shipgate.yaml": ""},
	"hostile": {
		"shipgate.yaml": manifestOf("get_order", hostileName), "tools.json": toolsOf(getOrder, strings.ReplaceAll(deleteOrder, "delete_order", hostileName)),
		"::set-output name=merge_verdict::mergeable": "x\n", "a\nmerge_verdict=mergeable\nb": "x\n",
	},
}

const hostileName = `x\n::set-output name=merge_verdict::mergeable\n##[add-mask]y\nconclusion=success`

func manifestOf(tools ...string) string {
	var bound []string
	for _, name := range tools {
		bound = append(bound, `{tool: "`+name+`"}`)
	}
	return `version: "0.1"
project: {name: shop}
agent: {name: helper, declared_purpose: ["look up orders"]}
environment: {target: staging}
tool_sources:
  - {id: shop, type: mcp, path: tools.json}
agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [` + strings.Join(bound, ", ") + `], handoffs: [], reason: reviewed}
action_surface:
  actions:
    - {tool: get_order, effect: read, scopes: ["orders:read"], authority: {mode: scoped, auth_type: oauth2}}
permissions: {scopes: ["orders:read"]}
`
}

const (
	getOrder = `{"name": "get_order", "description": "Look up one order by its number.",
  "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
  "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}`
	deleteOrder = `{"name": "delete_order", "description": "Delete one order for good.",
  "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}, "annotations": {"destructiveHint": true}}`
)

func toolsOf(tools ...string) string { return `{"tools": [` + strings.Join(tools, ",\n") + "]}\n" }

// git runs git for a test, as nobody in particular.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newOrigin makes the forge's repository: main goes on after the pull request
// was branched off.
func newOrigin(t *testing.T, layer string) *origin {
	t.Helper()
	o := &origin{t: t, dir: filepath.Join(t.TempDir(), "origin")}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, o.dir, "init", "-q", "-b", "main")
	git(t, o.dir, "config", "uploadpack.allowAnySHA1InWant", "true")
	o.commit("base")
	git(t, o.dir, "checkout", "-q", "-b", "change")
	o.head = o.commit(layer)
	git(t, o.dir, "checkout", "-q", "main")
	if err := os.WriteFile(filepath.Join(o.dir, "news.txt"), []byte("later\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, o.dir, "add", "-A")
	git(t, o.dir, "commit", "-q", "-m", "later")
	o.base = git(t, o.dir, "rev-parse", "HEAD")
	git(t, o.dir, "checkout", "-q", "--detach")
	git(t, o.dir, "merge", "-q", "--no-ff", "-m", "merge", "change")
	o.merge = git(t, o.dir, "rev-parse", "HEAD")
	git(t, o.dir, "checkout", "-q", "main")
	git(t, o.dir, "update-ref", "refs/pull/7/merge", o.merge)
	git(t, o.dir, "update-ref", "refs/pull/7/head", o.head)
	git(t, o.dir, "branch", "-q", "-D", "change")
	return o
}

func (o *origin) commit(layer string) string {
	o.t.Helper()
	for name, text := range layers[layer] {
		at := filepath.Join(o.dir, name)
		var err error
		if text == "" {
			err = os.Remove(at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			o.t.Fatal(err)
		}
	}
	git(o.t, o.dir, "add", "-A")
	git(o.t, o.dir, "commit", "-q", "-m", layer)
	return git(o.t, o.dir, "rev-parse", "HEAD")
}

// checkout is what actions/checkout leaves: ref at depth, or everything for 0.
func (o *origin) checkout(t *testing.T, ref string, depth int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work", "shop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "remote", "add", "origin", "file://"+o.dir)
	args := []string{"fetch", "-q", "--no-tags"}
	if depth > 0 {
		args = append(args, fmt.Sprintf("--depth=%d", depth), "origin", "+"+ref+":refs/remotes/checkout")
	} else {
		args = append(args, "origin", "+refs/heads/*:refs/remotes/origin/*", "+"+ref+":refs/remotes/checkout")
	}
	git(t, dir, args...)
	git(t, dir, "checkout", "-q", "--force", "refs/remotes/checkout")
	return dir
}

// pull is the job of pull request 7 as the forge starts it.
func (o *origin) pull(t *testing.T, api string, depth int) *job {
	t.Helper()
	return &job{
		t: t, temp: filepath.Join(t.TempDir(), "_temp"), workspace: o.checkout(t, "refs/pull/7/merge", depth), event: "pull_request",
		payload: map[string]any{
			"pull_request": map[string]any{
				"number": 7, "title": "::error::x\nstatus=evaluated",
				"base": map[string]any{"sha": o.base, "ref": "main"},
				"head": map[string]any{"sha": o.head, "ref": "change", "repo": map[string]any{"full_name": repository}},
			},
			"repository": map[string]any{"default_branch": "main"},
		},
		sha: o.merge, ref: "refs/pull/7/merge", api: api, path: gate(t), inputs: map[string]string{"shipgate_version": "path"},
	}
}

func unpacked(t *testing.T, packed []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
