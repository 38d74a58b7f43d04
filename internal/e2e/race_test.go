//go:build unix

package e2e_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A gate has one final decision, whoever asks for what at the same instant
// (docs/spec/contracts.md §6.4, §6.5), and everything refused is in the audit
// log as carefully as everything done.

// command is something people do to a gate.
type command struct {
	who, role, action string
	verb              string // of the path
	body              map[string]any
}

// heard is what somebody was answered.
type heard struct {
	command
	code      string // "" when it was done
	duplicate bool
}

func commands(g shown) []command {
	decide := func(who, role, decision string) command {
		body := map[string]any{"version": g.Contract.Version, "decision": decision, "digest": g.Meta.Digest}
		return command{who, role, "gate.decide", "decisions", body}
	}
	version := map[string]any{"version": g.Contract.Version}
	freeze := map[string]any{"version": g.Contract.Version, "cause": "manual_check", "reason": "let me look"}
	resume := map[string]any{"version": g.Contract.Version, "resolution": "looked"}
	return []command{
		decide("lea", "project_lead", "approved"),
		decide("sam", "security_reviewer", "approved"),
		decide("lea", "project_lead", "approved"), // once more: the same answer
		decide("sam", "security_reviewer", "rejected"),
		decide("lea", "project_lead", "rejected"),
		decide("root", "admin", "rejected"), // an emergency stop
		decide("rex", "release_manager", "approved"),
		decide("dora", "security_reviewer", "approved"),
		{"sam", "security_reviewer", "contract.transition", "freeze", freeze},
		{"lea", "project_lead", "contract.resume", "resume", resume},
		{"lea", "project_lead", "gate.hold", "hold", version},
		{"lea", "project_lead", "gate.release", "release", version},
	}
}

// lane makes gates one after the other and sets people loose on each.
type lane struct {
	*load
	name   string
	chance *rand.Rand
	keys   int

	carrier *carrier
	seen    int64 // audit records of the gate that were looked at

	orders  map[string]int
	finals  map[string]int
	crashes bool // an answer may be lost, and the refusal it held be made again
	heard   int
	no      int
}

const raceDeadline = 2 * time.Second

func TestAGateHasOneFinalDecisionWhoeverAsksForWhatAtOnce(t *testing.T) {
	s := found(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"))
	s.serve(raceSettings()...)
	s.race(*races, nil)
}

// The same with a service that is killed again and again while people decide:
// what they were not answered they ask once more under the same key.
func TestAGateHasOneFinalDecisionHoweverOftenTheServiceDies(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		s := found(t, db)
		s.serve(raceSettings()...)
		s.race(*races/4, func(chance *rand.Rand) {
			time.Sleep(200*time.Millisecond + time.Duration(chance.Int64N(int64(time.Second))))
			s.process().kill()
			s.serve(raceSettings()...)
		})
	})
}

func raceSettings() []string {
	return []string{"--deadline.high", raceDeadline.String(), "--workers", "32"}
}

// race has people decide on gates, each in a round of its own, and meanwhile
// does again and again what disturbs them.
func (s *site) race(total int, disturb func(chance *rand.Rand)) {
	s.Helper()
	l := s.load(nil)
	seed := uint64(time.Now().UnixNano())
	lanes := make([]*lane, 24)
	var wait sync.WaitGroup
	for i := range lanes {
		lanes[i] = &lane{
			load: l, name: fmt.Sprintf("lane%d", i), chance: rand.New(rand.NewPCG(seed, uint64(i))),
			orders: map[string]int{}, finals: map[string]int{}, crashes: disturb != nil,
		}
		rounds := total / len(lanes)
		wait.Go(func() {
			for n := range rounds {
				if err := lanes[i].round(n); err != nil {
					s.Errorf("%s, round %d (seed %d): %v", lanes[i].name, n, seed, err)
					return
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { wait.Wait(); close(over) }()
	times := 0
	if disturb != nil {
		for chance := rand.New(rand.NewPCG(seed, 1000)); ; times++ {
			select {
			case <-over:
			default:
				disturb(chance)
				continue
			}
			break
		}
	}
	<-over
	l.cancel()
	orders, finals, answers, refusals, rounds := map[string]int{}, map[string]int{}, 0, 0, 0
	for _, one := range lanes {
		for o, n := range one.orders {
			orders[o] += n
		}
		for f, n := range one.finals {
			finals[f] += n
			rounds += n
		}
		answers += one.heard
		refusals += one.no
	}
	s.prove()
	s.Logf("%d gates, %d commands at once, %d of them refused and audited, %d different orders, %d kills, finals %v", rounds, answers, refusals, len(orders), times, finals)
	for _, end := range []string{"approved", "rejected", "expired"} {
		if finals[end] == 0 && rounds >= 500 {
			s.Errorf("no gate of %d was %s: the race does not reach it", rounds, end)
		}
	}
	s.process().stop()
}

// round makes a gate, sets people on it, and judges what came of it.
func (n *lane) round(k int) error {
	g, err := n.gate(k)
	if err != nil {
		return fmt.Errorf("make a gate: %w", err)
	}
	list := commands(g)
	n.chance.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:5+n.chance.IntN(4)]
	until := time.Time{}
	if k%4 == 3 { // at the last moment
		until, _ = time.Parse(time.RFC3339, g.Contract.Deadline)
	}
	answers := make([]heard, len(list))
	failed := make([]error, len(list))
	var wait sync.WaitGroup
	for i, c := range list {
		delay := time.Until(until) + time.Duration(n.chance.IntN(30)-15)*time.Millisecond
		if until.IsZero() {
			delay = time.Duration(n.chance.IntN(3000)) * time.Microsecond
		}
		n.keys++
		key := fmt.Sprintf("%s-%d", n.name, n.keys)
		wait.Go(func() {
			time.Sleep(delay)
			answers[i], failed[i] = n.say(c, g.Contract.ID, key)
		})
	}
	wait.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	final, err := n.final(g)
	if err != nil {
		return err
	}
	n.heard += len(answers)
	n.finals[final.Contract.FinalDecision]++
	return errors.Join(consistent(final.Contract, answers), n.audited(g, answers), n.told(g, final))
}

// say makes one request and hears the answer.
func (n *lane) say(c command, gate, key string) (heard, error) {
	path := "/v1/gates/" + gate + "/" + c.verb
	if c.verb == "freeze" || c.verb == "resume" {
		path = "/v1/contracts/" + gate + "/" + c.verb
	}
	var result struct {
		Duplicate bool `json:"duplicate"`
	}
	h := heard{command: c}
	err := n.carrier.again(func(at func(user) user) error {
		return at(n.user(c.who).in(c.role)).post(n.ctx, path, key, c.body, &result)
	})
	if no, ok := errors.AsType[*refusal](err); ok && !no.nobody() {
		h.code = no.Code
		return h, nil
	}
	h.duplicate = result.Duplicate
	return h, err
}

// gate is a fresh gate: that of a new chain, or the next version of the last.
func (n *lane) gate(k int) (shown, error) {
	if n.carrier != nil {
		now, err := n.carrier.see("the chain", func(*chain) bool { return true })
		if err != nil {
			return shown{}, err
		}
		if old, _ := now.of("PublishGate"); old.Contract.FinalDecision != "approved" {
			return n.again(now, old)
		}
	}
	n.seen = 0
	n.carrier = &carrier{load: n.load, entry: &entry{text: fmt.Sprintf("%s %d", n.name, k), high: true, runs: map[string]string{}}, key: fmt.Sprintf("%s-%d", n.name, k)}
	return n.carrier.toGate()
}

// again lets a chain whose gate was refused go on to its next gate
// (docs/spec/contracts.md §6.7).
func (n *lane) again(now *chain, old shown) (shown, error) {
	c := n.carrier
	for _, kind := range []string{"IntentContract", "TaskSeed", "Acceptance"} {
		one, _ := now.of(kind)
		if one.Contract.State != "Frozen" {
			continue
		}
		body := map[string]any{"version": one.Contract.Version, "resolution": "we try once more"}
		if err := c.write(c.user("lea"), "/v1/contracts/"+one.Contract.ID+"/resume", body, nil); err != nil {
			return shown{}, err
		}
	}
	a, _ := now.of("Acceptance")
	if err := c.write(c.user("lea"), "/v1/acceptances/"+a.Contract.ID+"/reevaluate", map[string]any{}, nil); err != nil {
		return shown{}, err
	}
	var g shown
	_, err := c.see("the next gate", func(n *chain) bool {
		g, _ = n.of("PublishGate")
		return g.Contract.Version > old.Contract.Version
	})
	return g, err
}

// final waits for the end of a gate: at the latest its deadline is one.
func (n *lane) final(g shown) (shown, error) {
	var f shown
	_, err := n.carrier.see("the end of "+g.Contract.ID, func(now *chain) bool {
		f, _ = now.of("PublishGate")
		return f.Contract.FinalDecision != "pending"
	})
	return f, err
}

// consistent holds that what people were answered is what the gate says.
func consistent(g document, answers []heard) error {
	said := []string{}
	for _, h := range answers {
		if h.action == "gate.decide" && h.code == "" && !h.duplicate {
			said = append(said, h.role+" "+h.who+" "+h.body["decision"].(string))
		}
	}
	kept, approved, rejected := []string{}, 0, 0
	for _, a := range g.Approvals {
		kept = append(kept, a.Role+" "+a.Actor+" "+a.Decision)
		if a.Decision == "rejected" {
			rejected++
		}
	}
	for _, role := range g.Required {
		if slices.ContainsFunc(g.Approvals, func(a approval) bool { return a.Role == role && a.Decision == "approved" }) {
			approved++
		}
	}
	slices.Sort(said)
	slices.Sort(kept)
	if !slices.Equal(said, kept) {
		return fmt.Errorf("%s version %d: people were answered %v, and it holds %v", g.ID, g.Version, said, kept)
	}
	want := map[string]bool{
		"approved": rejected == 0 && approved == len(g.Required),
		"rejected": rejected == 1,
		"expired":  rejected == 0 && approved < len(g.Required),
	}
	if !want[g.FinalDecision] {
		return fmt.Errorf("%s version %d is %s with %v", g.ID, g.Version, g.FinalDecision, kept)
	}
	return nil
}

// look reads as the admin.
func (n *lane) look(path string, out any) error {
	return n.carrier.again(func(at func(user) user) error { return at(n.user("root")).get(n.ctx, path, out) })
}

// audited holds that every answer has its record, with the code it was refused
// with, and learns from the log in which order things were.
func (n *lane) audited(g shown, answers []heard) error {
	want, got, order := []string{}, []string{}, []string{}
	for _, h := range answers {
		if h.code != "" {
			n.no++
		}
		want = append(want, h.who+" "+h.action+" "+cmp.Or(h.code, "done"))
	}
	var page struct {
		Items []record `json:"items"`
	}
	query := url.Values{"contractId": {g.Contract.ID}, "after": {fmt.Sprint(n.seen)}, "limit": {"200"}}
	if err := n.look("/v1/audit?"+query.Encode(), &page); err != nil {
		return err
	}
	for _, r := range page.Items {
		n.seen = r.Position
		code := "done"
		if !r.Record.Success {
			code = r.Record.Error.Code
		}
		line := r.Record.Actor + " " + r.Record.Action + " " + code
		order = append(order, line)
		if slices.Contains([]string{"lea", "sam", "root", "rex", "dora"}, r.Record.Actor) {
			got = append(got, line)
		}
	}
	n.orders[strings.Join(order, ", ")]++
	if n.crashes {
		got = unheard(got, want)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Errorf("%s version %d: people were answered\n%s\nand the audit log has\n%s", g.Contract.ID, g.Contract.Version, strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	return nil
}

// unheard is got without the refusals that nobody was answered.
func unheard(got, want []string) []string {
	left := map[string]int{}
	for _, line := range want {
		left[line]++
	}
	return slices.DeleteFunc(slices.Clone(got), func(line string) bool {
		left[line]--
		return left[line] < 0 && !strings.HasSuffix(line, " done")
	})
}

// told waits until a final decision that nobody was answered is told: a process
// that dies between the commit and the place in the stream leaves that to others
// (docs/decisions/0040-one-store-on-two-databases.md).
func (n *lane) told(g, final shown) error {
	for end := time.Now().Add(moved); ; time.Sleep(50 * time.Millisecond) {
		if err := n.once(g, final); err == nil || !n.crashes || time.Now().After(end) {
			return err
		}
	}
}

// once holds that the final decision was told once, and nothing after it.
func (n *lane) once(g, final shown) error {
	var page struct {
		Items []event `json:"items"`
	}
	query := url.Values{"subject": {g.Contract.ID}, "type": {"publishgate.decision.recorded.v1"}, "limit": {"200"}}
	if err := n.look("/v1/events?"+query.Encode(), &page); err != nil {
		return err
	}
	told := []string{}
	for _, e := range page.Items {
		if strings.HasPrefix(e.Event.ID, fmt.Sprintf("publishgate.decision.recorded.v1/%s/%d/", g.Contract.ID, g.Contract.Version)) {
			told = append(told, e.Event.Data.FinalDecision)
		}
	}
	if len(told) == 0 || told[len(told)-1] != final.Contract.FinalDecision || slices.ContainsFunc(told[:len(told)-1], func(f string) bool { return f != "pending" }) {
		return fmt.Errorf("%s version %d is %s, and the events said %v", g.Contract.ID, g.Contract.Version, final.Contract.FinalDecision, told)
	}
	return nil
}
