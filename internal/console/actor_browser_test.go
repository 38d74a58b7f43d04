package console_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline/contract"
)

func TestTheRegistryInABrowser(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Gate("Add a payment page")
	tab := w.Chromium().Tab("root")
	tab.Wide()
	tab.Open("/actors")
	tab.Click("#new > summary")
	tab.Accessible()
	tab.Shot(shots(t), "actors-light")
	tab.Open("/actors/sam")
	tab.Accessible()
	tab.Shot(shots(t), "actor-light")
	tab.Dark()
	tab.Accessible()
	tab.Shot(shots(t), "actor-dark")
	tab.Narrow()
	tab.Fits()
	tab.Shot(shots(t), "actor-narrow")
	tab.Open("/actors")
	tab.Fits()
	tab.Light()

	// An actor who is changed while the page is open is shown as they are.
	tab.Wide()
	tab.Open("/actors/lea")
	w.Until("the page listens", func() bool {
		return consoletest.Eval[bool](tab, `!!document.body['htmx-internal-data']?.sseEventSource`)
	})
	other := w.Visit("root")
	asked := other.Submit("/actors/lea", "/actors/edit", map[string][]string{"name": {"Lea L."}, "role": {"project_lead", "qa"}, "active": {"yes"}})
	confirms(t, other, asked)
	tab.Shows("Lea L.")

	// A token from the form to the page that shows it.
	tab.Open("/actors/me")
	tab.Click("#new-token > summary")
	tab.Type("#token-name", "laptop")
	tab.Click("#scope-read")
	tab.Click(`form[action="/actors/tokens/create"] button`)
	tab.Shows("Make a token for root?")
	tab.Accessible()
	tab.Shot(shots(t), "confirm-light")
	tab.Click("main button.yes")
	tab.Shows("Copy it now")
	tab.Accessible()
	tab.Shot(shots(t), "token-light")
	if secret := tab.Text("#secret"); !strings.HasPrefix(secret, "plm_") {
		t.Errorf("%q", secret)
	}
	tab.Narrow()
	tab.Fits()
	tab.Open("/actors/me")
	tab.Shows("laptop")
	tab.Fits()
	tab.Click(`button[name="language"][value="uk"]`)
	tab.Shows("Другі фактори")
	tab.Accessible()
	tab.Fits()
	tab.Shot(shots(t), "me-uk-narrow")
}

func TestAPageThatIsOpenSaysThatItsSessionIsOver(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	tab := w.Chromium().Tab("lea")
	tab.Open("/health")
	tab.Accessible()
	tab.Shot(shots(t), "health-light")
	tab.Narrow()
	tab.Fits()
	tab.Wide()
	w.Until("the page listens", func() bool {
		return consoletest.Eval[bool](tab, `!!document.body['htmx-internal-data']?.sseEventSource`)
	})
	who, err := w.Contracts.Authenticate(t.Context(), w.Tokens["lea"])
	consoletest.Must(w, who, err)
	// A list that only announces stays as it is, and says so; a page that follows
	// moves to where one signs in.
	if err := w.Contracts.TokenRevoke(t.Context(), w.As("root", contract.Admin), who.Token.ID); err != nil {
		t.Fatal(err)
	}
	w.Until("the page knows", func() bool {
		return strings.Contains(tab.Source(), "You are signed out") || consoletest.Eval[string](tab, `location.pathname`) == "/signin"
	})
	if tab.Has("#connection a") {
		tab.Accessible()
		tab.Click("#connection a")
	}
	tab.Shows("Sign in to see what waits for you")
	if next := consoletest.Eval[string](tab, `location.search`); next != "?next=%2Fhealth" {
		t.Errorf("the way back is %s", next)
	}
}
