package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/model"
)

func TestAnEndpointIsWhatTheOperatorSaysOrNothing(t *testing.T) {
	ok := config(t, model.OpenAI, "http://127.0.0.1:8080")
	for _, c := range []struct {
		name string
		set  func(*model.Config)
		want string // "" is fine
	}{
		{"this machine", func(*model.Config) {}, ""},
		{"this machine by name", func(c *model.Config) { c.BaseURL = "http://localhost:11434/v1/" }, ""},
		{"this machine in IPv6", func(c *model.Config) { c.BaseURL = "http://[::1]:80" }, ""},
		{"another machine", func(c *model.Config) { c.BaseURL = "https://models.example.org/v1" }, ""},
		{"another machine in plain", func(c *model.Config) { c.BaseURL = "http://models.example.org/v1" }, "over plain http"},
		{"a name that begins like this machine", func(c *model.Config) { c.BaseURL = "http://localhost.example.org" }, "over plain http"},
		{"another machine in plain, as meant", func(c *model.Config) { c.BaseURL, c.Plain = "http://10.0.0.7:8000", true }, ""},
		{"a password", func(c *model.Config) { c.BaseURL = "https://me:" + key + "@models.example.org" }, "a user or a password"},
		{"a query", func(c *model.Config) { c.BaseURL = "https://models.example.org/?key=" + key }, "a query"},
		{"a fragment", func(c *model.Config) { c.BaseURL = "https://models.example.org/#a" }, "a fragment"},
		{"a file", func(c *model.Config) { c.BaseURL, c.Plain = "file:///etc/passwd", true }, "no absolute URL"},
		{"another protocol", func(c *model.Config) { c.BaseURL, c.Plain = "ftp://models.example.org", true }, "neither http nor https"},
		{"a path", func(c *model.Config) { c.BaseURL = "/v1" }, "no absolute URL"},
		{"a word", func(c *model.Config) { c.BaseURL = "models.example.org:443" }, "no absolute URL"},
		{"nothing", func(c *model.Config) { c.BaseURL = "" }, "no absolute URL"},
		{"no protocol", func(c *model.Config) { c.API = "" }, "openai or anthropic"},
		{"no model", func(c *model.Config) { c.Model = "" }, "the name of the model"},
		{"a model that is a sentence", func(c *model.Config) { c.Model = "be kind" }, "the name of the model"},
		{"no guard", func(c *model.Config) { c.Secrets = nil }, "for secrets"},
		{"no chance", func(c *model.Config) { c.Random = nil }, "source of markers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := ok
			c.set(&conf)
			m, err := model.New(conf)
			if m != nil {
				m.Close()
			}
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key)):
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestAKeyComesFromOnePlaceAndIsNeverShown(t *testing.T) {
	none := func(string) string { return "" }
	file := filepath.Join(t.TempDir(), "key")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if k, err := model.ReadKey(none, "", ""); err != nil || k.Set() {
		t.Errorf("no place: %v", err)
	}
	if _, err := model.ReadKey(none, "A", file); fault.KindOf(err) != fault.Invalid {
		t.Errorf("two places: %v", err)
	}
	if _, err := model.ReadKey(none, "A", ""); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an empty variable: %v", err)
	}
	if _, err := model.ReadKey(none, "", file+"x"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no file: %v", err)
	}
	for _, bad := range []string{"", "\n", key + "\nX-Header: 1", key + " ", "ключ", strings.Repeat("k", 5000)} {
		write(bad)
		if _, err := model.ReadKey(none, "", file); fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), key) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
	write(key + "\r\n")
	k, err := model.ReadKey(none, "", file)
	if err != nil || !k.Set() {
		t.Fatal(err)
	}
	conf := config(t, model.OpenAI, "http://127.0.0.1:1")
	conf.Key = k
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "key", k, "conf", conf)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "key", k, "conf", conf)
	fmt.Fprintf(&b, "%v %+v %#v %s %q %x %d %v %+v %#v", k, k, k, k, k, k, k, conf, conf, &conf)
	text, err := json.Marshal(map[string]any{"key": k})
	if err != nil {
		t.Fatal(err)
	}
	b.Write(text)
	if got := b.String(); strings.Contains(got, key) || strings.Contains(got, fmt.Sprintf("%x", key)) || !strings.Contains(got, "[key]") {
		t.Errorf("a key is shown: %s", got)
	}
}
