package console

import (
	"strings"
	"testing"
	"time"
)

// What is not well is told as such, in words with what to do about it, and what
// is nearly as bad is not.
func TestWhatIsNotWellIsToldWithWhatToDo(t *testing.T) {
	t.Parallel()
	all, err := readWords()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	before := func(d time.Duration) time.Time { return at.Add(-d) }
	well := func() *Condition {
		return &Condition{
			At: at, Nodes: []NodeSeen{{ID: "a", Version: "1", Seen: at}, {ID: "b", Version: "1", Seen: at}}, Clustered: true, Webhooks: 3,
			Database: DatabaseSize{Kind: "postgres", Size: 1 << 30, Disk: -1}, Log: LogHead{Count: 7, Last: at}, Events: EventRange{1, 9},
		}
	}
	for _, test := range []struct {
		name, part, state, words string
		change                   func(c *Condition)
	}{
		{"nothing", "queue", "pass", "No job waits", func(*Condition) {}},
		{"some wait a little", "queue", "pass", "2 jobs wait", func(c *Condition) { c.Jobs = []JobLoad{{Waiting: 2, Oldest: before(29 * time.Second)}} }},
		{"some wait", "queue", "wait", "waited for 30 s", func(c *Condition) { c.Jobs = []JobLoad{{Waiting: 2, Oldest: before(30 * time.Second)}} }},
		{"the oldest of all kinds counts", "queue", "stop", "12 jobs could run and nobody has taken the first for 5 min", func(c *Condition) {
			c.Jobs = []JobLoad{{Waiting: 2, Oldest: before(time.Second)}, {Waiting: 10, Oldest: before(5 * time.Minute)}}
		}},
		{"one failed", "queue", "wait", "1 job failed and is tried again", func(c *Condition) { c.Jobs = []JobLoad{{Again: 1}} }},
		{"one was given up", "queue", "stop", "1 job was given up in thirty days, 3 h ago", func(c *Condition) {
			c.Jobs = []JobLoad{{GivenUp: 1, LastGone: before(3 * time.Hour)}}
		}},
		{"one was given up long ago", "queue", "pass", "No job waits", func(c *Condition) { c.Jobs = []JobLoad{{GivenUp: 1, LastGone: before(25 * time.Hour)}} }},
		{"two nodes", "nodes", "pass", "2 nodes share", func(*Condition) {}},
		{"a node is silent", "nodes", "stop", "b has not been seen for 10 s", func(c *Condition) { c.Nodes[1].Seen = before(10 * time.Second) }},
		{"no node", "nodes", "stop", "nobody works the queue", func(c *Condition) { c.Nodes = nil }},
		{"two programs", "nodes", "wait", "different programs: 1, 2", func(c *Condition) { c.Nodes[1].Version = "2" }},
		{"room", "database", "pass", "79% full", func(c *Condition) { c.Database.Disk = 79 }},
		{"little room", "database", "wait", "80% full and fills up", func(c *Condition) { c.Database.Disk = 80 }},
		{"no room", "database", "stop", "90% full. When it is full, nothing can be decided", func(c *Condition) { c.Database.Disk = 90 }},
		{"subscribers", "webhooks", "pass", "3 subscribers take", func(*Condition) {}},
		{"a subscriber is late", "webhooks", "wait", "1 of 3", func(c *Condition) { c.Failing = []Subscriber{{Attempts: 4}} }},
		{"a subscriber is gone", "webhooks", "stop", "2 of 3", func(c *Condition) { c.Failing = []Subscriber{{Attempts: 1}, {Attempts: 5}} }},
		{"no key", "audit", "stop", "No key signs", func(*Condition) {}},
		{"events", "events", "pass", "Events 1 to 9", func(*Condition) {}},
		{"no events", "events", "quiet", "Nothing has happened", func(c *Condition) { c.Events = EventRange{1, 0} }},
		{"no model", "model", "quiet", "No model is configured", func(*Condition) {}},
		{"a model that answers", "model", "pass", "small answered 1 min ago", func(c *Condition) {
			c.Model = ModelSeen{API: "openai", Name: "small", Asked: before(time.Minute), Answered: true}
		}},
		{"a model that does not", "model", "stop", "did not answer", func(c *Condition) {
			c.Model = ModelSeen{API: "openai", Name: "small", Asked: before(time.Minute)}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			now := well()
			test.change(now)
			for lang, w := range all {
				c := &Console{}
				for _, v := range c.vitals(w, now, at) {
					if !w.has("health.part."+v.Part) || !w.has("health.state."+v.State) {
						t.Errorf("%s: %+v has no name", lang, v)
					}
					if v.Trouble() && !w.has("health.do."+v.Part) {
						t.Errorf("%s: nothing says what to do about %s", lang, v.Part)
					}
					if strings.Contains(v.Words, "health.") || strings.Contains(v.Words, "{") {
						t.Errorf("%s: %+v", lang, v)
					}
					if v.Part == test.part && (v.State != test.state || lang == "en" && !strings.Contains(v.Words, test.words)) {
						t.Errorf("%s: %+v, want %s %q", lang, v, test.state, test.words)
					}
				}
			}
		})
	}
}
