package action_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A release is taken when it is the file that its checksum, or the workflow's
// own digest, names.
func TestAReleaseIsTheFileThatItsChecksumNames(t *testing.T) {
	t.Parallel()
	_, api := newForge(t)
	o := newOrigin(t, "passes")
	program, err := os.ReadFile(filepath.Join(gate(t), "shipgate"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(program)
	right := hex.EncodeToString(sum[:])
	wrong := strings.Repeat("0", 64)
	for _, c := range []struct {
		name, version, sums string
		runs                bool
	}{
		{"its checksum", "1.2.3", right + "  shipgate_1.2.3_linux_amd64\n", true},
		{"its checksum among others", "v1.2.3", wrong + "  shipgate_1.2.3_linux_arm64\n" + right + " *shipgate_1.2.3_linux_amd64\n", true},
		{"a digest of the workflow", "1.2.3@sha256:" + right, "", true},
		{"another checksum", "1.2.3", wrong + "  shipgate_1.2.3_linux_amd64\n", false},
		{"another digest", "1.2.3@sha256:" + wrong, right + "  shipgate_1.2.3_linux_amd64\n", false},
		{"no digest", "1.2.3@sha256:", right + "  shipgate_1.2.3_linux_amd64\n", false},
		{"no checksum", "1.2.3", right + "  shipgate_1.2.3_linux_arm64\n", false},
		{"two checksums", "1.2.3", right + "  shipgate_1.2.3_linux_amd64\n" + wrong + "  shipgate_1.2.3_linux_amd64\n", false},
		{"no checksums", "1.2.3", "", false},
		{"no such release", "9.9.9", "", false},
		{"a way out of the folder", "1.2.3/../../x", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch name, ok := strings.CutPrefix(r.URL.Path, "/plimsoll/plimsoll/releases/download/v1.2.3/"); {
				case ok && name == "SHA256SUMS" && c.sums != "":
					_, _ = w.Write([]byte(c.sums))
				case ok && name == "shipgate_1.2.3_linux_amd64":
					_, _ = w.Write(program)
				default:
					http.NotFound(w, r)
				}
			}))
			defer s.Close()
			j := o.pull(t, api, 1)
			j.path, j.server, j.owner, j.inputs = t.TempDir(), s.URL, "plimsoll/plimsoll", map[string]string{"shipgate_version": c.version}
			r := j.run()
			if !c.runs {
				silent(t, r)
				return
			}
			ended(t, r, false, map[string]string{"status": "evaluated", "conclusion": "success"})
		})
	}
}

// A checkout that kept no credentials is completed with the token, which no
// process shows.
func TestTheBaseOfAPrivateRepositoryIsFetchedWithTheToken(t *testing.T) {
	t.Parallel()
	exec, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	_, api := newForge(t)
	o := newOrigin(t, "blocked")
	git(t, o.dir, "config", "http.uploadpack", "true")
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "x-access-token" || password != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="forge"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		asked++
		(&cgi.Handler{
			Path: exec, Args: []string{"http-backend"}, Root: "/" + repository,
			Env: []string{"GIT_PROJECT_ROOT=" + o.dir + "/.git", "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + t.TempDir()},
		}).ServeHTTP(w, r)
	}))
	defer s.Close()
	j := o.pull(t, api, 1)
	git(t, j.workspace, "remote", "set-url", "origin", s.URL+"/"+repository)
	j.server = s.URL
	ended(t, j.run(), false, map[string]string{"status": "evaluated", "merge_verdict": "blocked", "capability_changes_added": "1"})
	if asked == 0 {
		t.Error("nothing was fetched")
	}
	j.inputs = with(j.inputs, "github_token", "")
	j.workspace = o.checkout(t, "refs/pull/7/merge", 1)
	git(t, j.workspace, "remote", "set-url", "origin", s.URL+"/"+repository)
	silent(t, j.run())
}
