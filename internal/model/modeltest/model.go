package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Well is a model that does what it is asked: it gives every draft back with
// some words of its own.
func Well(c Call) Reply {
	return Reply{Text: answer(c, func(_ int, _, old string) string { return strings.TrimSpace(old + " ✓") })}
}

// Says is a model that always answers the same.
func Says(text string) Model { return func(Call) Reply { return Reply{Text: text} } }

// Status answers with an HTTP status, and Retry-After when after is not "". The
// body repeats what was asked, as some endpoints do.
func Status(code int, after string) Model {
	return raw(func(w http.ResponseWriter, r *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(object{"error": object{"message": "no: " + r.Header.Get("Authorization") + r.Header.Get("X-Api-Key"), "type": "error"}})
	})
}

// Redirect sends the caller elsewhere.
func Redirect(code int, to string) Model {
	return raw(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(code)
	})
}

// Body answers 200 with a body as it is.
func Body(contentType, text string) Model {
	return raw(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, text)
	})
}

// Huge answers with n bytes that begin like an answer.
func Huge(n int) Model {
	return raw(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"model":"m","choices":[{"message":{"content":"`)
		block := strings.Repeat("a", 64<<10)
		for ; n > 0; n -= len(block) {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	})
}

// Cutoff says how long its answer is and ends the connection before that.
func Cutoff(text string) Model {
	return raw(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)*2))
		_, _ = io.WriteString(w, text)
	})
}

// Hang answers nothing until the caller is gone.
func Hang(Call) Reply {
	return raw(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })(Call{})
}

// Drip answers a byte at a time, without an end.
func Drip(every time.Duration) Model {
	return raw(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	})
}

func raw(h http.HandlerFunc) Model { return func(Call) Reply { return Reply{Raw: h} } }

// answer writes every member of every draft by a function of its place, its name
// and the text it has now, and keeps the form that was asked for.
func answer(c Call, write func(draft int, member, old string) string) string {
	drafts := make([]object, len(c.Drafts))
	for i, d := range c.Drafts {
		var now object
		_ = json.Unmarshal([]byte(d.Content), &now)
		content := object{}
		for _, m := range d.Members {
			switch old := now[m].(type) {
			case string:
				content[m] = write(i, m, old)
			case []any:
				list := []any{}
				for _, e := range old {
					switch e := e.(type) {
					case string:
						list = append(list, write(i, m, e))
					case object: // a finding or a step: the words in it are the model's
						for _, name := range []string{"statement", "title", "form"} {
							if s, ok := e[name].(string); ok {
								e[name] = write(i, m, s)
							}
						}
						list = append(list, e)
					default:
						list = append(list, e)
					}
				}
				content[m] = list
			case nil:
			default:
				content[m] = old
			}
		}
		drafts[i] = object{"type": d.Type, "content": content}
	}
	text, _ := json.Marshal(object{"drafts": drafts})
	return string(text)
}
