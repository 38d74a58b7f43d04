package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
)

//go:embed docs.html
var docsHTML []byte

// docsPolicy allows the page its own style and script, by their digests, and the
// document. It is computed once, when the API is made.
func docsPolicy() string {
	digest := func(open, end string) string {
		_, rest, _ := bytes.Cut(docsHTML, []byte(open))
		text, _, _ := bytes.Cut(rest, []byte(end))
		sum := sha256.Sum256(text)
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + digest("<style>", "</style>") + "; script-src " + digest("<script>", "</script>") +
		"; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}

// serveDocs is the page that shows /openapi.json to a person. It loads nothing
// but that document: the policy it is sent with allows nothing else.
func (a *API) serveDocs(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", a.docsPolicy)
	h.Set("Referrer-Policy", "no-referrer")
	write(w, http.StatusOK, "text/html; charset=utf-8", docsHTML)
}
