package console_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

func TestPeopleSeeHowTheServiceDoesAndAdminsTheNumbers(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Draft("Add a login page")
	lea := w.Visit("lea").Get("/health")
	for _, want := range []string{"Everything works", "SQLite", "One process works on this database", "Nobody has subscribed", "Plimsoll 1.2.3", "The numbers behind this are for admins"} {
		if !strings.Contains(lea.Body, want) {
			t.Errorf("%q is missing\n%s", want, lea.Body)
		}
	}
	if strings.Contains(lea.Body, "answers you") || strings.Contains(lea.Body, `id="checkpoint"`) {
		t.Error("somebody who is no admin sees the numbers")
	}
	root := w.Visit("root").Get("/health")
	for _, want := range []string{"answers you", "node-", "1.2.3", "plimsoll.test/log", `id="checkpoint"`} {
		if !strings.Contains(root.Body, want) {
			t.Errorf("%q is missing\n%s", want, root.Body)
		}
	}
	if a := w.Visit("").Get("/health"); a.Status != 303 {
		t.Errorf("somebody who has not signed in: %d", a.Status)
	}
	uk := w.Visit("root")
	uk.Lang = "uk"
	if a := uk.Get("/health"); !strings.Contains(a.Body, "Усе працює") || strings.Contains(a.Body, "health.") {
		t.Errorf("%s", a.Body)
	}
}

// A subscriber that is away is told with its host, and without the rest of its
// address, which is often a secret.
func TestASubscriberThatIsAwayIsNamedWithoutItsSecret(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, "webhook.allow: 127.0.0.1")
	address := "http://127.0.0.1:9/hooks/the-secret?k=v"
	made, err := w.Contracts.WebhookCreate(t.Context(), w.As("root", contract.Admin), pipeline.WebhookArgs{URL: &address, Enabled: &yes})
	hook := consoletest.Must(w, made, err)
	w.Activate(w.Draft("Add a login page"))
	root, lea := w.Visit("root"), w.Visit("lea")
	w.Until("the subscriber is not well", func() bool {
		return strings.Contains(lea.Get("/health").Body, "1 thing is not quite well: Webhooks")
	})
	holds(t, lea.Get("/health"), 200, []string{"1 of 1 subscribers did not take something", `href="#do-webhooks"`, `id="do-webhooks"`, "plimsoll webhook deliveries"}, "127.0.0.1", hook.Of.ID, "the-secret")
	holds(t, root.Get("/health"), 200, []string{"127.0.0.1", hook.Of.ID}, "the-secret", "k=v", hook.Secret)
}

var yes = true
