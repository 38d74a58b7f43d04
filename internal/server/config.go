package server

import (
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/state"
	"plimsoll.dev/internal/webhook"
)

// Config is everything that can be set. The zero value of a member that nobody
// sets is its default; Load fills it in.
type Config struct {
	Listen     string
	DB         string // "sqlite:FILE" or a URL of PostgreSQL
	Repository string // what the chains work on, as pipelines name it
	TLSCert    string
	TLSKey     string

	Profile            state.Profile
	Solo               bool
	DistinctActors     bool
	ForbidSelfApproval bool
	DeadlineHigh       time.Duration
	DeadlineCritical   time.Duration
	MaxReturns         int
	AutomaticTests     bool

	Policy          Policy
	Planner         string // a program; "" is the intent's own text
	ReferenceDir    string // a repository on this machine; "" is what executors report
	ReferenceBranch string

	AuditOrigin    string
	AuditKey       string // file with the seed that signs checkpoints
	AuditRetention time.Duration
	EventRetention time.Duration // 0 is for ever

	Webhooks []string // who may be called beyond the open net

	RatePerSecond int
	RateBurst     int

	MetricsFrom []netip.Prefix // who may read /metrics without a token
	ProxiesFrom []netip.Prefix // whose X-Forwarded-For is believed
	TraceURL    string         // of an OTLP collector; "" is none
	LogLevel    string
	LogFormat   string
	Workers     int
	Grace       time.Duration // for what is under way when the service stops

	OIDCIssuer   string
	OIDCClient   string
	OIDCSecret   string // file with the client's secret
	OIDCRedirect string
	OIDCClaim    string // the claim that names the actor

	ClanConfig  string   // folder with the circle's configuration; "" is the one that is built in
	Documents   string   // folder of documents that requests may refer to; "" is none
	IdentityKey string   // file with the key that seals second factors
	Origins     []string // under which browsers reach the service; none, no WebAuthn

	ModelAPI         string // "" has the built-in engines do every job
	ModelURL         string
	ModelName        string
	ModelKeyFile     string
	ModelKeyVariable string
	ModelPlain       bool // plain HTTP to another machine is meant
}

// setting is one row of the table of settings: flags, environment, file, the
// printed configuration and the documentation all read it.
type setting struct {
	key   string // in the file; PLIMSOLL_ and upper case in the environment
	usual []string
	list  bool
	about string
	set   func(*Config, []string) error
	get   func(*Config) []string
}

// Variable is the environment variable of a key.
func Variable(key string) string {
	return "PLIMSOLL_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

func text(key, usual, about string, at func(*Config) *string, valid ...string) setting {
	return setting{key: key, usual: []string{usual}, about: about, set: func(c *Config, v []string) error {
		if len(valid) > 0 && !slices.Contains(valid, v[0]) {
			return fmt.Errorf("is %q; it must be one of %s", v[0], strings.Join(valid, ", "))
		}
		*at(c) = v[0]
		return nil
	}, get: func(c *Config) []string { return []string{*at(c)} }}
}

func boolean(key string, usual bool, about string, at func(*Config) *bool) setting {
	return setting{key: key, usual: []string{strconv.FormatBool(usual)}, about: about, set: func(c *Config, v []string) error {
		if v[0] != "true" && v[0] != "false" {
			return fmt.Errorf("is %q; it must be true or false", v[0])
		}
		*at(c) = v[0] == "true"
		return nil
	}, get: func(c *Config) []string { return []string{strconv.FormatBool(*at(c))} }}
}

func number(key string, usual, least, most int, about string, at func(*Config) *int) setting {
	return setting{key: key, usual: []string{strconv.Itoa(usual)}, about: about, set: func(c *Config, v []string) error {
		n, err := strconv.Atoi(v[0])
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %q; it must be a number from %d to %d", v[0], least, most)
		}
		*at(c) = n
		return nil
	}, get: func(c *Config) []string { return []string{strconv.Itoa(*at(c))} }}
}

func duration(key string, usual, least time.Duration, about string, at func(*Config) *time.Duration) setting {
	return setting{key: key, usual: []string{usual.String()}, about: about, set: func(c *Config, v []string) error {
		d, err := time.ParseDuration(v[0])
		if err != nil || d < least {
			return fmt.Errorf("is %q; it must be a duration like 24h, at least %s", v[0], least)
		}
		*at(c) = d
		return nil
	}, get: func(c *Config) []string { return []string{at(c).String()} }}
}

func ranges(key, about string, at func(*Config) *[]netip.Prefix) setting {
	return setting{key: key, list: true, about: about, set: func(c *Config, v []string) error {
		list := []netip.Prefix{}
		for _, text := range v {
			p, err := netip.ParsePrefix(text)
			if ip, plain := netip.ParseAddr(text); err != nil && plain == nil {
				p, err = netip.PrefixFrom(ip, ip.BitLen()), nil
			}
			if err != nil {
				return fmt.Errorf("holds %q, which is no address or range like 10.0.0.0/8", text)
			}
			list = append(list, p.Masked())
		}
		*at(c) = list
		return nil
	}, get: func(c *Config) []string {
		list := []string{}
		for _, p := range *at(c) {
			list = append(list, p.String())
		}
		return list
	}}
}

// leastEvents is how long a subscriber may take to come back, and how long it
// remembers what it has had (docs/spec/contracts.md §3.3).
const leastEvents = 7 * 24 * time.Hour

// settings is the table.
func settings() []setting {
	eyes, deadlines := approval.FourEyes(), approval.DefaultDeadlines()
	return []setting{
		text("listen", "127.0.0.1:7419", "address to serve on", func(c *Config) *string { return &c.Listen }),
		text("db", "sqlite:plimsoll.db", "sqlite:FILE, or a postgres:// URL", func(c *Config) *string { return &c.DB }),
		text("repository", "", "the repository the chains work on, as pipelines name it", func(c *Config) *string { return &c.Repository }),
		text("tls.cert", "", "certificate file; without one the service speaks plain HTTP", func(c *Config) *string { return &c.TLSCert }),
		text("tls.key", "", "key file of the certificate", func(c *Config) *string { return &c.TLSKey }),

		{
			key: "profile", usual: []string{string(state.Default)}, about: "default, or strict: a Frozen contract can only be revoked",
			set: func(c *Config, v []string) error {
				if c.Profile = state.Profile(v[0]); c.Profile != state.Default && c.Profile != state.Strict {
					return fmt.Errorf("is %q; it must be %s or %s", v[0], state.Default, state.Strict)
				}
				return nil
			}, get: func(c *Config) []string { return []string{string(c.Profile)} },
		},
		boolean("solo", false, "one person works alone: four eyes are off, and every decision made so says it", func(c *Config) *bool { return &c.Solo }),
		boolean("four-eyes.distinct-actors", eyes.DistinctActors, "one person approves under one role only", func(c *Config) *bool { return &c.DistinctActors }),
		boolean("four-eyes.forbid-self-approval", eyes.ForbidSelfApproval, "who asked does not approve", func(c *Config) *bool { return &c.ForbidSelfApproval }),
		duration("deadline.high", deadlines.High, time.Second, "time to decide on high risk", func(c *Config) *time.Duration { return &c.DeadlineHigh }),
		duration("deadline.critical", deadlines.Critical, time.Second, "time to decide on critical risk", func(c *Config) *time.Duration { return &c.DeadlineCritical }),
		number("max-returns", phase.DefaultMaxReturns, 0, 1000, "returns to Build before a person must look", func(c *Config) *int { return &c.MaxReturns }),
		boolean("automatic-tests", true, "no manual check is part of Stabilize", func(c *Config) *bool { return &c.AutomaticTests }),

		rules()[0], rules()[1],
		text("planner", "", "program that reads an intent and prints the plan of its task; the plan is the intent's text without one", func(c *Config) *string { return &c.Planner }),
		text("reference.dir", "", "repository on this machine whose branch the chains begin at; without one the executor says where", func(c *Config) *string { return &c.ReferenceDir }),
		text("reference.branch", "main", "the branch of reference.dir", func(c *Config) *string { return &c.ReferenceBranch }),

		text("audit.origin", "plimsoll.local/log", "name of the audit log that plimsoll init makes; later its key says it", func(c *Config) *string { return &c.AuditOrigin }),
		text("audit.key", "", "file with the key that signs checkpoints; beside the database when not set", func(c *Config) *string { return &c.AuditKey }),
		duration("audit.retention", 0, 0, "how long records are kept beyond the calendar year that is the least", func(c *Config) *time.Duration { return &c.AuditRetention }),

		{
			key: "event.retention", usual: []string{"8784h"}, about: "how far the event stream goes back, at least 168h; 0 is for ever",
			set: func(c *Config, v []string) error {
				d, err := time.ParseDuration(v[0])
				if err != nil || d < 0 || d > 0 && d < leastEvents {
					return fmt.Errorf("is %q; it must be 0 or a duration of at least %s", v[0], leastEvents)
				}
				c.EventRetention = d
				return nil
			}, get: func(c *Config) []string { return []string{c.EventRetention.String()} },
		},
		{
			key: "webhook.allow", list: true, about: "addresses, ranges or host names that webhooks may call beyond the open net",
			set: func(c *Config, v []string) error {
				c.Webhooks = v
				_, err := webhook.ParseAddresses(v)
				return err
			}, get: func(c *Config) []string { return c.Webhooks },
		},
		number("rate.per-second", 50, 0, 1_000_000, "requests a second of one token, in the long run; 0 is no bound", func(c *Config) *int { return &c.RatePerSecond }),
		number("rate.burst", 200, 1, 1_000_000, "requests of one token at once", func(c *Config) *int { return &c.RateBurst }),
		ranges("metrics.allow", "addresses that read /metrics without a token", func(c *Config) *[]netip.Prefix { return &c.MetricsFrom }),
		ranges("proxy.trust", "proxies whose X-Forwarded-For names the caller", func(c *Config) *[]netip.Prefix { return &c.ProxiesFrom }),
		text("trace.url", "", "OTLP collector that gets the traces, like http://localhost:4318", func(c *Config) *string { return &c.TraceURL }),
		text("log.level", "info", "debug, info, warn or error", func(c *Config) *string { return &c.LogLevel }, "debug", "info", "warn", "error"),
		text("log.format", "text", "text or json", func(c *Config) *string { return &c.LogFormat }, "text", "json"),
		number("workers", 16, 1, 1000, "jobs that run at the same time", func(c *Config) *int { return &c.Workers }),
		duration("grace", 20*time.Second, 0, "for what is under way when the service stops", func(c *Config) *time.Duration { return &c.Grace }),

		text("oidc.issuer", "", "who signs people in; without one there is no sign-in but tokens", func(c *Config) *string { return &c.OIDCIssuer }),
		text("oidc.client", "", "client id at the issuer", func(c *Config) *string { return &c.OIDCClient }),
		text("oidc.secret", "", "file with the client secret", func(c *Config) *string { return &c.OIDCSecret }),
		text("oidc.redirect", "", "this service's /login/callback as people reach it", func(c *Config) *string { return &c.OIDCRedirect }),
		text("oidc.claim", "email", "the claim that is the actor's id", func(c *Config) *string { return &c.OIDCClaim }),

		text("clan-config", "", "folder with the circle's configuration; the one that is built in when not set", func(c *Config) *string { return &c.ClanConfig }),
		text("documents.dir", "", "folder of documents that requests to the circle may refer to; every member of a circle may read them", func(c *Config) *string { return &c.Documents }),
		text("identity.key", "", "file with the key that seals second factors; beside the database when not set", func(c *Config) *string { return &c.IdentityKey }),
		{
			key: "identity.origins", list: true, about: "addresses under which browsers reach the service, for security keys; without one there are codes only",
			set: func(c *Config, v []string) error { c.Origins = v; return nil }, get: func(c *Config) []string { return c.Origins },
		},
		text("model.api", "", "what the model endpoint speaks: openai or anthropic; without one the built-in engines do every job", func(c *Config) *string { return &c.ModelAPI }, "", "openai", "anthropic"),
		text("model.url", "", "address of the model endpoint", func(c *Config) *string { return &c.ModelURL }),
		text("model.name", "", "the model, as its endpoint calls it", func(c *Config) *string { return &c.ModelName }),
		text("model.key-file", "", "file with the key of the endpoint", func(c *Config) *string { return &c.ModelKeyFile }),
		text("model.key-variable", "", "name of the environment variable with the key of the endpoint", func(c *Config) *string { return &c.ModelKeyVariable }),
		boolean("model.plain-http", false, "plain HTTP to an endpoint on another machine is meant", func(c *Config) *bool { return &c.ModelPlain }),
	}
}

// Source is where the values of settings come from. The first that has one wins,
// in the order of the members.
type Source struct {
	Flags  map[string][]string // by key
	Lookup func(variable string) (string, bool)
	File   []byte
	Name   string // of the file, for messages
}

// Load decides every setting: flags over environment over file over default. A
// key that is not known stops it, and so does a value that does not fit.
func Load(src Source) (Config, error) {
	var c Config
	table := settings()
	file, err := readFile(src, table)
	if err != nil {
		return c, err
	}
	for key := range src.Flags {
		if !slices.ContainsFunc(table, func(s setting) bool { return s.key == key }) {
			return c, wrong("there is no setting %s", key)
		}
	}
	for _, s := range table {
		value, from := s.usual, "the default"
		if v, ok := file[s.key]; ok {
			value, from = v.values, fmt.Sprintf("%s:%d", src.Name, v.line)
		}
		if src.Lookup != nil {
			if v, ok := src.Lookup(Variable(s.key)); ok {
				value, from = []string{v}, Variable(s.key)
				if s.list {
					value = fields(v)
				}
			}
		}
		if v, ok := src.Flags[s.key]; ok {
			value, from = v, "--"+s.key
		}
		if !s.list && len(value) != 1 {
			return c, wrong("%s: %s takes one value", from, s.key)
		}
		if err := s.set(&c, value); err != nil {
			return c, wrong("%s: %s %v", from, s.key, err)
		}
	}
	return c, c.consistent(src, file)
}

// consistent is what no setting can say alone.
func (c *Config) consistent(src Source, file map[string]entry) error {
	if c.Solo {
		for key, on := range map[string]bool{"four-eyes.distinct-actors": c.DistinctActors, "four-eyes.forbid-self-approval": c.ForbidSelfApproval} {
			_, inFile := file[key]
			_, inFlags := src.Flags[key]
			inEnvironment := false
			if src.Lookup != nil {
				_, inEnvironment = src.Lookup(Variable(key))
			}
			if on && (inFile || inFlags || inEnvironment) {
				return wrong("solo turns four eyes off, and %s is on", key)
			}
		}
		c.DistinctActors, c.ForbidSelfApproval = false, false
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return wrong("tls.cert and tls.key go together")
	}
	if c.OIDCIssuer != "" && (c.OIDCClient == "" || c.OIDCRedirect == "") {
		return wrong("oidc.issuer needs oidc.client and oidc.redirect beside it")
	}
	if _, ok := c.file(); !ok && !strings.HasPrefix(c.DB, "postgres://") && !strings.HasPrefix(c.DB, "postgresql://") {
		return wrong("db is %q; it must be sqlite:FILE or a postgres:// URL", redactURL(c.DB))
	}
	return nil
}

// file is the file of an SQLite database.
func (c *Config) file() (string, bool) {
	path, ok := strings.CutPrefix(c.DB, "sqlite:")
	return path, ok && path != ""
}

// keyFile is where the key that signs checkpoints is.
func (c *Config) keyFile() (string, error) {
	if c.AuditKey != "" {
		return c.AuditKey, nil
	}
	if path, ok := c.file(); ok {
		return strings.TrimSuffix(path, filepath.Ext(path)) + ".key", nil
	}
	return "", wrong("audit.key must name a file: the nodes of a PostgreSQL service share one key")
}

func wrong(format string, args ...any) error {
	return fault.E("server.Load", fault.Invalid, fmt.Sprintf(format, args...), nil)
}

func fields(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
}

// entry is a value of the file with its line.
type entry struct {
	values []string
	line   int
}

// readFile flattens the file: "audit: {origin: x}" and "audit.origin: x" are the
// same setting.
func readFile(src Source, table []setting) (map[string]entry, error) {
	found := map[string]entry{}
	if len(src.File) == 0 {
		return found, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(src.File, &document); err != nil {
		return nil, wrong("%s: %s", src.Name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return found, nil
	}
	known := map[string]setting{}
	groups := map[string]bool{}
	for _, s := range table {
		known[s.key] = s
		for i, c := range s.key {
			if c == '.' {
				groups[s.key[:i]] = true
			}
		}
	}
	var walk func(n *yaml.Node, prefix string) error
	walk = func(n *yaml.Node, prefix string) error {
		if n.Kind != yaml.MappingNode {
			return wrong("%s:%d: settings are expected here", src.Name, n.Line)
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i], n.Content[i+1]
			key := prefix + name.Value
			at := fmt.Sprintf("%s:%d", src.Name, name.Line)
			s, ok := known[key]
			switch {
			case !ok && groups[key]:
				if err := walk(value, key+"."); err != nil {
					return err
				}
				continue
			case !ok:
				return wrong("%s: there is no setting %s", at, key)
			}
			if _, twice := found[key]; twice {
				return wrong("%s: %s is set twice", at, key)
			}
			e := entry{line: name.Line}
			switch {
			case value.Kind == yaml.ScalarNode && value.Tag != "!!null":
				e.values = []string{value.Value}
				if s.list {
					e.values = fields(value.Value)
				}
			case value.Kind == yaml.SequenceNode && s.list:
				for _, item := range value.Content {
					if item.Kind != yaml.ScalarNode {
						return wrong("%s:%d: %s holds something that is no value", src.Name, item.Line, key)
					}
					e.values = append(e.values, item.Value)
				}
			default:
				return wrong("%s: %s has no value that fits", at, key)
			}
			found[key] = e
		}
		return nil
	}
	return found, walk(document.Content[0], "")
}

// Setting is a setting with its effective value, for printing.
type Setting struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Default  string `json:"default"`
	Variable string `json:"variable"`
	About    string `json:"about"`
}

// List is the effective configuration without secrets, in the order of the table.
func (c *Config) List() []Setting {
	list := []Setting{}
	for _, s := range settings() {
		value := strings.Join(s.get(c), ",")
		if s.key == "db" {
			value = redactURL(value)
		}
		list = append(list, Setting{s.key, value, strings.Join(s.usual, ","), Variable(s.key), s.about})
	}
	return list
}

// Defaults is every setting with its default.
func Defaults() []Setting {
	list := []Setting{}
	for _, s := range settings() {
		usual := strings.Join(s.usual, ",")
		list = append(list, Setting{s.key, usual, usual, Variable(s.key), s.about})
	}
	return list
}

// In is c with the files it names made absolute, from a folder.
func (c Config) In(dir string) Config {
	abs := func(path *string) {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	if path, ok := c.file(); ok {
		abs(&path)
		c.DB = "sqlite:" + path
	}
	for _, path := range []*string{&c.TLSCert, &c.TLSKey, &c.AuditKey, &c.OIDCSecret, &c.Planner, &c.ReferenceDir, &c.ClanConfig, &c.Documents, &c.IdentityKey, &c.ModelKeyFile} {
		abs(path)
	}
	return c
}

// redactURL takes the password out of a URL.
func redactURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(not a URL)"
	}
	for key := range u.Query() {
		if strings.Contains(strings.ToLower(key), "password") {
			q := u.Query()
			q.Set(key, "***")
			u.RawQuery = q.Encode()
		}
	}
	return u.Redacted()
}
