//go:build unix

package e2e_test

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of dump
	"github.com/pquerna/otp/totp"

	plimsoll "plimsoll.dev"
	"plimsoll.dev/internal/request/artifact"
)

// object is a JSON object as a test writes it.
type object = map[string]any

// pack is a package as the service answers it, with what these tests speak of.
type pack struct {
	RequestID string   `json:"request_id"`
	State     string   `json:"state"`
	Status    string   `json:"status"`
	Intent    string   `json:"intent"`
	Origin    string   `json:"origin"`
	Flags     []string `json:"sensitivity_flags"`
	Question  string   `json:"question"`
	Stop      *stop    `json:"stop"`
	Stops     []stop   `json:"stops"`
	Plan      []struct {
		Worker  string `json:"worker"`
		Skipped string `json:"skipped"`
	} `json:"plan"`
	Runs      []turn            `json:"runs"`
	Artifacts []json.RawMessage `json:"artifacts"`
	Owed      []owed            `json:"owed"`
}

// turn is the runtime record of one worker's turn.
type turn struct {
	Step                  int64     `json:"step"`
	Attempt               int64     `json:"attempt"`
	Worker                string    `json:"worker"`
	Engine                string    `json:"engine"`
	ConstitutionVersion   string    `json:"CONSTITUTION_VERSION"`
	SubagentPromptVersion string    `json:"SUBAGENT_PROMPT_VERSION"`
	PromptSHA256          string    `json:"prompt_sha256"`
	Provenance            string    `json:"provenance"`
	Fault                 string    `json:"fault"`
	StartedAt             time.Time `json:"started_at"`
	EndedAt               time.Time `json:"ended_at"`
}

// beside says whether two turns were under way at one instant.
func (r turn) beside(o turn) bool {
	return r.StartedAt.Before(o.EndedAt) && o.StartedAt.Before(r.EndedAt)
}

type stop struct {
	Condition string   `json:"condition"`
	Effect    string   `json:"effect"`
	HandedTo  []string `json:"handed_to"`
	Recommend string   `json:"recommend"`
}

type owed struct {
	Kind       string `json:"kind"`
	ArtifactID string `json:"artifact_id"`
	SHA256     string `json:"content_sha256"`
	Member     string `json:"member_id"`
	Answer     string `json:"answer"`
	StepUp     bool   `json:"step_up"`
}

// piece is an artifact's document.
type piece struct {
	ID         string          `json:"artifact_id"`
	Type       string          `json:"type"`
	Status     string          `json:"status"`
	SHA256     string          `json:"content_sha256"`
	Level      string          `json:"visibility_level"`
	Content    json.RawMessage `json:"content"`
	Blocked    []string        `json:"blocked_by"`
	ContractID string          `json:"contract_id"`
	Provenance struct {
		Origin string `json:"origin"`
		Worker string `json:"worker"`
	} `json:"provenance"`
}

// outcome is an artifact with what it waits for.
type outcome struct {
	Artifact piece  `json:"artifact"`
	Owed     []owed `json:"owed"`
}

var schema = sync.OnceValues(func() (*artifact.Schema, error) {
	text, err := plimsoll.ArtifactSchema()
	if err != nil {
		return nil, err
	}
	return artifact.NewSchema(text)
})

// garden is a site with a circle: ada, who founded it, lea of the council, sam,
// and door, an agent that brings what people write elsewhere.
type garden struct {
	*site
	factors map[string]*phone
	asked   atomic.Int64
}

// phone is an authenticator: each code counts once, so it goes on by a step.
type phone struct {
	secret string
	step   time.Duration // from now, of the code that comes next
}

func (p *phone) code(t testing.TB) string {
	t.Helper()
	code, err := totp.GenerateCode(p.secret, time.Now().Add(p.step))
	if err != nil {
		t.Fatal(err)
	}
	p.step += 30 * time.Second
	return code
}

// grow founds the circle on a new site that is served.
func grow(t testing.TB, db string, settings ...string) *garden {
	t.Helper()
	g := &garden{site: found(t, db), factors: map[string]*phone{}}
	g.serve(append([]string{"--identity.key", filepath.Join(g.dir, "identity.key")}, settings...)...)
	g.must(g.command("ada", "circle", "create", "The garden", "--id", "garden"))
	g.must(g.command("ada", "circle", "member", "set", "garden", "lea", "--role", "council"))
	g.must(g.command("ada", "circle", "member", "set", "garden", "sam"))
	g.must(g.command("root", "actor", "create", "door", "--type", "agent", "--role", "channel_adapter"))
	g.tokens["door"] = strings.TrimSpace(g.must(g.command("root", "token", "create", "--actor", "door", "--scope", "read", "--scope", "write")))
	return g
}

// enrols gives somebody an authenticator, through the commands.
func (g *garden) enrols(who string) {
	g.Helper()
	out := g.must(g.command(who, "identity", "enroll", "--name", "phone", "--json"))
	var e struct {
		Secret    string
		Challenge struct {
			ID string `json:"challenge_id"`
		}
	}
	g.read(out, &e)
	p := &phone{secret: e.Secret, step: -30 * time.Second} // the step before is still taken
	g.must(g.command(who, "identity", "answer", e.Challenge.ID, "--code", p.code(g)))
	g.factors[who] = p
}

func (g *garden) read(text string, v any) {
	g.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		g.Fatalf("%v in %s", err, text)
	}
}

// request is an envelope that can be changed before it is sent.
func (g *garden) request(text, expect string, actions ...string) object {
	return object{
		"request_id": fmt.Sprintf("r-%03d", g.asked.Add(1)),
		"circle_context": object{
			"circle_id": "garden", "member_id": "ada", "channel": object{"kind": "internal", "id": "cli"}, "participants": []any{}, "references": []any{},
		},
		"visibility_level_target": "circle", "sensitivity_flags": []any{}, "consent_status": "not_required",
		"allowed_actions": append([]string{"read", "draft"}, actions...), "expected_output": []string{expect}, "input_text": text,
	}
}

func contextOf(e object) object { return e["circle_context"].(object) }

func (g *garden) decision(text string) object {
	return g.request(text, "decision_draft", "propose_decision", "request_consent")
}

func (g *garden) letter(text string) object {
	e := g.request(text, "bridge_draft", "export_draft", "request_consent", "step_up")
	e["visibility_level_target"] = "public"
	return e
}

func (g *garden) note(text string) object { return g.request(text, "memory_note", "remember") }

// sends is the answer to an envelope, which may be a refusal.
func (g *garden) sends(who string, e any) (*pack, error) {
	g.Helper()
	text, raw := e.([]byte)
	if !raw {
		var err error
		if text, err = json.Marshal(e); err != nil {
			g.Fatal(err)
		}
	}
	var p pack
	u := g.user(who)
	key := fmt.Sprintf("ask-%d", g.asked.Add(1))
	if err := u.send(g.Context(), http.MethodPost, "/v1/requests", key, "application/json", text, &p); err != nil {
		return nil, err
	}
	return g.ended(u, p.RequestID), nil
}

// ended is the package of a request once it has its answer.
func (g *garden) ended(u user, id string) *pack {
	g.Helper()
	var p pack
	until(g, id+" has its answer", func() bool {
		p = pack{}
		err := u.get(g.Context(), "/v1/requests/"+id, &p)
		return err == nil && p.State == "ended"
	})
	g.sound(&p)
	return &p
}

// answer is the package of an envelope that is taken.
func (g *garden) answer(who string, e object) *pack {
	g.Helper()
	p, err := g.sends(who, e)
	if err != nil {
		g.Fatalf("%v for %v", err, e)
	}
	return p
}

// sound holds a package against what is true of every one (docs/spec/circle.md
// §11.3, 4, 5, 8).
func (g *garden) sound(p *pack) {
	g.Helper()
	if !slices.Contains([]string{"draft", "needs_confirmation", "waiting_for_consent"}, p.Status) {
		g.Errorf("%s has the status %q", p.RequestID, p.Status)
	}
	version := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for i, r := range p.Runs {
		if !version.MatchString(r.ConstitutionVersion) || !version.MatchString(r.SubagentPromptVersion) || len(r.PromptSHA256) != 64 {
			g.Errorf("%s: a run without its versions: %+v", p.RequestID, r)
		}
		if r.Provenance != p.Origin {
			g.Errorf("%s: a run of a request from %s has %s", p.RequestID, p.Origin, r.Provenance)
		}
		for _, o := range p.Runs[:i] {
			if r.beside(o) && heavy[r.Worker] == heavy[o.Worker] {
				g.Errorf("%s: %s and %s ran at the same time", p.RequestID, r.Worker, o.Worker)
			}
		}
	}
	s, err := schema()
	if err != nil {
		g.Fatal(err)
	}
	for _, text := range p.Artifacts {
		if faults := s.CheckDocument(text); len(faults) > 0 {
			g.Errorf("%s: an artifact breaks its schema: %v\n%s", p.RequestID, faults, text)
		}
		var a piece
		g.read(string(text), &a)
		if a.Status == "confirmed" {
			g.Errorf("%s: the orchestrator returned a confirmed artifact: %s", p.RequestID, text)
		}
		if p.Origin == "external" && a.Provenance.Origin != "external" {
			g.Errorf("%s: the mark was washed off: %s", p.RequestID, text)
		}
	}
}

// heavy is the class of each worker as the registry of the specification has it.
var heavy = map[string]bool{
	"Gate-Policy": true, "Process": true, "Core-Guardian": true, "Identity": true, "Bridge": true, "Gifts": true, "Sync": true,
}

// of is the artifact of a type in a package.
func (g *garden) of(p *pack, kind string) piece {
	g.Helper()
	for _, text := range p.Artifacts {
		var a piece
		g.read(string(text), &a)
		if a.Type == kind {
			return a
		}
	}
	g.Fatalf("%s has no %s: %s", p.RequestID, kind, p.Artifacts)
	return piece{}
}

func (p *pack) workers() []string {
	list := []string{}
	for _, r := range p.Runs {
		list = append(list, r.Worker)
	}
	return list
}

func (p *pack) conditions() []string {
	list := []string{}
	for _, s := range p.Stops {
		list = append(list, s.Condition)
	}
	return list
}

// show is an artifact as somebody sees it now, through the commands.
func (g *garden) show(who, id string) outcome {
	g.Helper()
	var o outcome
	g.read(g.must(g.command(who, "artifact", "show", id, "--json")), &o)
	return o
}

// settle has people consent to and confirm everything a package left owed, through
// the commands, and answers the types that are confirmed then.
func (g *garden) settle(p *pack) []string {
	g.Helper()
	confirmed := []string{}
	waits := []piece{}
	for _, text := range p.Artifacts {
		var a piece
		g.read(string(text), &a)
		if a.Status != "draft" {
			waits = append(waits, a)
		}
	}
	for _, a := range waits {
		given := map[string]bool{} // who is asked for two reasons answers once
		for _, o := range g.show("ada", a.ID).Owed {
			if o.Kind != "consent" || o.Answer == "granted" || given[o.Member] {
				continue
			}
			given[o.Member] = true
			args := []string{"consent", "grant", a.ID, "--sha256", a.SHA256}
			if o.StepUp {
				if g.factors[o.Member] == nil {
					g.enrols(o.Member)
				}
				g.refused(g.command(o.Member, args...), "consent.step_up_required")
				args = append(args, "--code", g.factors[o.Member].code(g))
			}
			g.must(g.command(o.Member, args...))
		}
	}
	for _, a := range waits {
		now := g.show("ada", a.ID)
		if now.Artifact.Status != "needs_confirmation" {
			g.Errorf("%s: the %s is %s after everybody consented", p.RequestID, a.Type, now.Artifact.Status)
			continue
		}
		g.refused(g.command("ada", "artifact", "confirm", a.ID, "--sha256", strings.Repeat("0", 64)), "artifact.digest_mismatch")
		if out := g.must(g.command("ada", "artifact", "confirm", a.ID, "--sha256", a.SHA256)); !strings.Contains(out, "is confirmed") {
			g.Errorf("%s: confirmed with %q", p.RequestID, out)
		}
		confirmed = append(confirmed, a.Type)
	}
	return confirmed
}

// no holds that an answer is a refusal with a code.
func (g *garden) no(err error, status int, code string) {
	g.Helper()
	r, ok := errors.AsType[*refusal](err)
	if !ok || r.Status != status || r.Code != code {
		g.Errorf("%v, want %d %s", err, status, code)
	}
}

// holds looks for a text in everything the service has written: its database,
// what stands beside it, and its log.
func (g *garden) holds(text string, also ...[]byte) bool {
	g.Helper()
	if path, ok := strings.CutPrefix(g.db, "sqlite:"); ok {
		for _, name := range []string{path, path + "-wal"} {
			b, err := os.ReadFile(name)
			if err != nil && !os.IsNotExist(err) {
				g.Fatal(err)
			}
			also = append(also, b)
		}
	} else {
		also = append(also, []byte(dump(g)))
	}
	also = append(also, []byte(g.process().log.String()))
	coded := hex.EncodeToString([]byte(text)) // bytes are dumped so
	return slices.ContainsFunc(also, func(b []byte) bool { return strings.Contains(string(b), text) || strings.Contains(string(b), coded) })
}

// dump is every row of a PostgreSQL database as text.
func dump(g *garden) string {
	g.Helper()
	db, err := sql.Open("pgx", g.db)
	if err != nil {
		g.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	column := func(query string) []string {
		rows, err := db.QueryContext(g.Context(), query)
		if err != nil {
			g.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		list := []string{}
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				g.Fatal(err)
			}
			list = append(list, text)
		}
		if err := rows.Err(); err != nil {
			g.Fatal(err)
		}
		return list
	}
	all := []string{}
	for _, table := range column("select quote_ident(schemaname) || '.' || quote_ident(tablename) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')") {
		all = append(all, column("select t::text from "+table+" t")...)
	}
	return strings.Join(all, "\n")
}
