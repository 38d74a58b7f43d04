package console

// route is one page, or one thing a form does.
type route struct {
	method string
	path   string
	do     func(*visit) (page, error)
	open   bool // nobody is asked who they are
}

// rooms is the first parts of the paths of the console. A test holds it against
// the routes.
var rooms = map[string]bool{
	"inbox": true, "chains": true, "decisions": true, "requests": true, "audit": true, "rules": true,
	"actors": true, "health": true, "signin": true, "signout": true, "settings": true,
}

// navigation is the one line at the top, in its order. The letter opens it after
// g on the keyboard.
var navigation = []struct{ Path, Word, Key string }{
	{"/inbox", "nav.inbox", "i"},
	{"/chains", "nav.chains", "c"},
	{"/requests", "nav.requests", "r"},
	{"/audit", "nav.audit", "a"},
	{"/rules", "nav.rules", "u"},
	{"/actors", "nav.actors", "p"},
	{"/health", "nav.health", "h"},
}

// routes is the whole table.
func (c *Console) routes() []route {
	return []route{
		{"GET", "/{$}", c.home, false},
		{"GET", "/signin", c.signInPage, true},
		{"POST", "/signin", c.signIn, true},
		{"POST", "/signout", c.signOut, true},
		{"POST", "/settings/language", c.setLanguage, true},
		{"GET", "/health", c.health, false},
		{"GET", "/actors", c.actors, false},
		{"GET", "/actors/me", c.ownActor, false},
		{"GET", "/actors/{id}", c.actor, false},
		{"POST", "/actors/create", c.createActor, false},
		{"POST", "/actors/edit", c.editActor, false},
		{"POST", "/actors/tokens/create", c.createToken, false},
		{"POST", "/actors/tokens/revoke", c.revokeToken, false},
		{"POST", "/actors/me/factors", c.addFactor, false},
		{"POST", "/actors/me/factors/answer", c.answerFactor, false},
		{"GET", "/inbox", c.inboxPage, false},
		{"GET", "/decisions/gates/{id}", c.gatePage, false},
		{"POST", "/decisions/gates/{id}", c.gateDecide, false},
		{"GET", "/decisions/activations/{id}", c.activationPage, false},
		{"POST", "/decisions/activations/{id}", c.activationDecide, false},
		{"GET", "/decisions/consents/{id}", c.consentPage, false},
		{"POST", "/decisions/consents/{id}", c.consentDecide, false},
		{"GET", "/decisions/chains/{id}", c.chainDecisions, false},
		{"POST", "/decisions/chains/{id}/{do}", c.chainDecide, false},
		{"GET", "/chains", c.chains, false},
		{"GET", "/chains/{id}", c.chain, false},
		{"GET", "/chains/{id}/diff", c.diff, false},
		{"GET", "/chains/{id}/contracts/{contract}", c.contract, false},
		{"GET", "/chains/{id}/evidence/{evidence}", c.evidence, false},
		{"GET", "/requests", c.requests, false},
		{"GET", "/requests/new", c.askPage, false},
		{"POST", "/requests/new", c.ask, false},
		{"GET", "/requests/{id}", c.request, false},
		{"GET", "/requests/circles", c.circles, false},
		{"GET", "/requests/circles/{id}", c.circle, false},
		{"POST", "/requests/circles/{id}", c.circleChange, false},
		{"POST", "/requests/consents/{id}/revoke", c.consentTakeBack, false},
		{"GET", "/audit", c.audit, false},
		{"GET", "/audit/verify", c.verifyPage, false},
		{"POST", "/audit/verify", c.verifyAudit, false},
		{"GET", "/audit/{position}", c.auditRecord, false},
		{"GET", "/rules", c.rules, false},
		{"GET", "/rules/{id}", c.rule, false},
	}
}

// home is the inbox: the first thing a person wants to see.
func (c *Console) home(*visit) (page, error) { return page{}, goTo("/inbox") }
