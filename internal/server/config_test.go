package server_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/server"
)

func lookup(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestFlagsWinOverEnvironmentOverFileOverDefault(t *testing.T) {
	src := server.Source{Name: "plimsoll.yaml"}
	load := func() server.Config {
		t.Helper()
		c, err := server.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := load(); c.Listen != "127.0.0.1:7419" || !c.DistinctActors || !c.ForbidSelfApproval || c.Solo || c.DeadlineHigh != 24*time.Hour {
		t.Errorf("the defaults are %+v", c)
	}
	src.File = []byte("listen: file:1\nfour-eyes:\n  distinct-actors: false\ndeadline: {high: 2h}\nwebhook.allow: [10.0.0.0/8, hooks.internal]\n")
	if c := load(); c.Listen != "file:1" || c.DistinctActors || c.DeadlineHigh != 2*time.Hour || len(c.Webhooks) != 2 {
		t.Errorf("the file gives %+v", c)
	}
	src.Lookup = lookup("PLIMSOLL_LISTEN", "environment:1", "PLIMSOLL_FOUR_EYES_DISTINCT_ACTORS", "true", "PLIMSOLL_WEBHOOK_ALLOW", "10.1.0.0/16, 10.2.0.0/16 10.3.0.1")
	if c := load(); c.Listen != "environment:1" || !c.DistinctActors || len(c.Webhooks) != 3 {
		t.Errorf("the environment gives %+v", c)
	}
	src.Flags = map[string][]string{"listen": {"flag:1"}}
	if c := load(); c.Listen != "flag:1" {
		t.Errorf("the flag gives %+v", c)
	}
}

func TestWhatDoesNotFitStopsTheStartAndNamesItsPlace(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an unknown key", "listen: x\nlissten: y\n", "plimsoll.yaml:2: there is no setting lissten"},
		{"an unknown key in a group", "audit:\n  origin: a/b\n  origins: c\n", "plimsoll.yaml:3: there is no setting audit.origins"},
		{"a key twice", "listen: x\naudit: {origin: a}\naudit.origin: b\n", "plimsoll.yaml:3: audit.origin is set twice"},
		{"a wrong number", "max-returns: many\n", "plimsoll.yaml:1: max-returns is"},
		{"a wrong duration", "\ndeadline.high: soon\n", "plimsoll.yaml:2: deadline.high is"},
		{"a wrong truth", "solo: maybe\n", "plimsoll.yaml:1: solo is"},
		{"a wrong choice", "log.level: loud\n", "plimsoll.yaml:1: log.level is"},
		{"a wrong range", "metrics.allow: [10.0.0.0/99]\n", "plimsoll.yaml:1: metrics.allow holds"},
		{"a wrong address", "webhook.allow: ['http://x']\n", "plimsoll.yaml:1: webhook.allow"},
		{"a list where one belongs", "listen: [a, b]\n", "plimsoll.yaml:1: listen has no value that fits"},
		{"no value", "listen:\n", "plimsoll.yaml:1: listen has no value that fits"},
		{"no settings", "- a\n", "plimsoll.yaml:1: settings are expected here"},
		{"no YAML", "a: b: c\n", "plimsoll.yaml: "},
		{"a group as a value", "audit: x\n", "settings are expected here"},
		{"solo beside four eyes", "solo: true\nfour-eyes.distinct-actors: true\n", "four-eyes.distinct-actors is on"},
		{"half of a certificate", "tls.cert: x\n", "tls.cert and tls.key go together"},
		{"another database", "db: mysql://u:secret@h/d\n", "db is"},
		{"an issuer alone", "oidc.issuer: https://id.example\n", "oidc.client"},
	} {
		_, err := server.Load(server.Source{File: []byte(c.file), Name: "plimsoll.yaml"})
		if err == nil || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s tells the password: %v", c.name, err)
		}
	}
	if _, err := server.Load(server.Source{Flags: map[string][]string{"lissten": {"x"}}}); err == nil {
		t.Error("an unknown flag is taken")
	}
	if _, err := server.Load(server.Source{Lookup: lookup("PLIMSOLL_WORKERS", "0")}); err == nil || !strings.Contains(err.Error(), "PLIMSOLL_WORKERS: workers is") {
		t.Errorf("%v", err)
	}
}

func TestSoloTurnsFourEyesOff(t *testing.T) {
	c, err := server.Load(server.Source{File: []byte("solo: true\n"), Name: "x"})
	if err != nil || c.DistinctActors || c.ForbidSelfApproval {
		t.Errorf("%+v %v", c, err)
	}
}

func TestThePrintedSettingsHoldNoSecret(t *testing.T) {
	c, err := server.Load(server.Source{Flags: map[string][]string{"db": {"postgres://plimsoll:topsecret@db/p?sslpassword=topsecret"}, "audit.key": {"/k"}}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range c.List() {
		seen[s.Key] = true
		if strings.Contains(s.Value, "topsecret") {
			t.Errorf("%s prints %s", s.Key, s.Value)
		}
		if s.About == "" || s.Variable != server.Variable(s.Key) {
			t.Errorf("%+v", s)
		}
	}
	if !seen["db"] || !seen["audit.key"] {
		t.Errorf("%v", seen)
	}
}
