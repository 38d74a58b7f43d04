package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
)

// The scripts and styles. htmx and its extension for server-sent events are as
// their authors published them (docs/licences.md).
//
//go:embed static
var staticFiles embed.FS

const assetPath = "/static/"

// assets is the files under static/, each at a path with its digest, so that a
// browser may keep it for ever.
type assets struct {
	paths map[string]string // by name
	files map[string][]byte // by path
}

func readAssets() (*assets, error) {
	a := &assets{paths: map[string]string{}, files: map[string][]byte{}}
	list, err := staticFiles.ReadDir("static")
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		text, err := staticFiles.ReadFile("static/" + f.Name())
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		p := assetPath + hex.EncodeToString(sum[:6]) + "/" + f.Name()
		a.paths[f.Name()], a.files[p] = p, text
	}
	return a, nil
}

// url is the path of a file; a page that names none that is there gets none.
func (a *assets) url(name string) string { return a.paths[name] }

func (a *assets) serve(w http.ResponseWriter, r *http.Request) {
	text, ok := a.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	kind := mime.TypeByExtension(path.Ext(r.URL.Path))
	if kind == "" {
		kind = "application/octet-stream"
	}
	if strings.HasSuffix(r.URL.Path, ".js") {
		kind = "text/javascript; charset=utf-8"
	}
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(text)
}
