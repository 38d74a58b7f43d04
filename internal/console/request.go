package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// What was asked of the circle and what became of it. A request is shown to who
// may see it, its text to fewer: package request says to whom.

const requestRows = 50

// asking is what the pages of the circle share: whether there is one for the
// reader, and what they may do.
type asking struct {
	None    bool // there is no circle, or none that the reader is in
	Circles []*circle.Circle
	MayAsk  bool
	WhyNot  string // a key of words/: why the reader may not ask
}

// asks finds out what the reader may do in the circle.
func (c *Console) asks(v *visit) (asking, error) {
	a := asking{Circles: []*circle.Circle{}}
	if c.conf.Circle == nil {
		a.None = true
		return a, nil
	}
	var err error
	if a.Circles, err = c.conf.Circle.CircleList(v.r.Context(), v.caller(""), pipeline.Page{Limit: 100}); err != nil {
		return a, err
	}
	switch a.None = len(a.Circles) == 0; {
	case v.who.Actor.Type != contract.Human:
		a.WhyNot = "request.not_human"
	case !v.may(operation.Write):
		a.WhyNot = "request.no_write"
	default:
		a.MayAsk = !a.None
	}
	return a, nil
}

// requestsData is the list.
type requestsData struct {
	asking
	Rows                []requestRow
	Circle, State, Made string
	States              []request.RequestState
	Statuses            []artifact.Status
	Filtered            bool
	Older               string // the path of what is older, "" at the end
}

// requestRow is a request in the list.
type requestRow struct {
	*request.Opened
	Stands requestState
	First  []saidPart
	Owed   []owedLine
}

// Path is where a request is shown.
func (r requestRow) Path() string { return requestPath(r.RequestID) }

func requestPath(id string) string { return "/requests/" + url.PathEscape(id) }

// requestState is how a request stands now, in a word and a shape.
type requestState struct{ Kind, Word string }

// standsNow is how a request stands: what keeps it first, then what it waits for,
// then what it came to.
func standsNow(o *request.Opened) requestState {
	made := func(s artifact.Status) bool {
		return slices.ContainsFunc(o.Artifacts, func(a *request.ArtifactShown) bool { return a.Status == s })
	}
	became := func(s contract.State) bool {
		return slices.ContainsFunc(o.Contracts, func(c request.ContractShown) bool { return c.State == s })
	}
	switch {
	case o.Stop != nil && o.Stop.Effect == request.Halt:
		return requestState{"stop", "stopped"}
	case o.State == request.Running:
		return requestState{"wait", "running"}
	case made(artifact.WaitingForConsent):
		return requestState{"wait", "consent"}
	case made(artifact.NeedsConfirmation):
		return requestState{"wait", "confirmation"}
	case became(contract.Frozen):
		return requestState{"stop", "frozen"}
	case became(contract.Draft):
		return requestState{"wait", "activation"}
	case became(contract.Active):
		return requestState{"wait", "working"}
	case became(contract.Published):
		return requestState{"pass", "published"}
	case made(artifact.Confirmed):
		return requestState{"pass", "confirmed"}
	case requestRow{Opened: o}.Acts() != nil:
		return requestState{"stop", "blocked"}
	case o.Question != "":
		return requestState{"wait", "question"}
	}
	return requestState{"quiet", "answered"}
}

// owedLine is what is owed, and how often.
type owedLine struct {
	request.Owed
	Of   envelope.ArtifactType
	N    int
	Path string // where to see to it
}

// owedNow is what is owed now, the same of several artifacts of one type once.
func owedNow(o *request.Opened) []owedLine {
	list := []owedLine{}
	for _, a := range o.Artifacts {
		for _, w := range a.Owed {
			if w.Kind == request.OwedConsent && w.Answer != "" && w.Answer != artifact.Pending {
				continue
			}
			i := slices.IndexFunc(list, func(l owedLine) bool {
				return l.Kind == w.Kind && l.Of == a.Type && l.Member == w.Member && l.Needed == w.Needed && l.Why == w.Why
			})
			if i < 0 {
				list = append(list, owedLine{w, a.Type, 1, consentsPath + url.PathEscape(w.ArtifactID)})
				continue
			}
			list[i].N++
			list[i].Path = requestPath(o.RequestID)
		}
	}
	return list
}

const consentsPath = "/decisions/consents/"

// Acting is the conditions that stop or block the request still. That a consent is
// missing is so until it is there, whatever the answer said.
func (r requestRow) Acting() []request.Stop {
	list := []request.Stop{}
	for _, s := range r.Stops {
		if s.Condition != envelope.ConsentOwed || slices.ContainsFunc(r.Artifacts, func(a *request.ArtifactShown) bool {
			return a.Status == artifact.WaitingForConsent || slices.Contains(a.Blocks, envelope.ConsentOwed)
		}) {
			list = append(list, s)
		}
	}
	return list
}

// Acts is the first of them, nil for none.
func (r requestRow) Acts() *request.Stop {
	if list := r.Acting(); len(list) > 0 {
		return &list[0]
	}
	return nil
}

func (c *Console) requests(v *visit) (page, error) {
	p := page{name: "requests", title: "request.list", announce: true}
	a, err := c.asks(v)
	d := requestsData{
		asking: a, Circle: v.query("circle"), State: v.query("state"), Made: v.query("made"),
		States: []request.RequestState{request.Running, request.Ended}, Statuses: artifact.Statuses(), Rows: []requestRow{},
	}
	p.data = &d
	if err != nil || a.None {
		return p, err
	}
	p.topics = []string{topicAll}
	f := request.Filter{}
	if d.Circle != "" {
		f.Circles = []string{d.Circle}
	}
	if s := request.RequestState(d.State); slices.Contains(d.States, s) {
		f.States = []request.RequestState{s}
	}
	if s := artifact.Status(d.Made); s.Valid() {
		f.Made = []artifact.Status{s}
	}
	d.Filtered = d.Circle != "" || len(f.States) > 0 || len(f.Made) > 0
	list, behind, err := c.conf.Circle.RequestPage(v.r.Context(), v.caller(""), f, pipeline.Page{Behind: readBehind(v.query("behind")), Limit: requestRows})
	if err != nil {
		return page{}, err
	}
	for _, o := range list {
		d.Rows = append(d.Rows, requestRow{o, standsNow(o), firstWords(&o.Written, 90), owedNow(o)})
	}
	if !behind.At.IsZero() {
		q := url.Values{"behind": {behindText(behind)}}
		for name, value := range map[string]string{"circle": d.Circle, "state": d.State, "made": d.Made} {
			if value != "" {
				q.Set(name, value)
			}
		}
		d.Older = "/requests?" + q.Encode()
	}
	return p, nil
}

// behindText is the place of an item in a list, for a link; readBehind reads it
// back. What does not read is the beginning.
func behindText(m pipeline.Mark) string { return strconv.FormatInt(m.At.UnixMicro(), 10) + "~" + m.ID }

func readBehind(text string) pipeline.Mark {
	at, id, ok := strings.Cut(text, "~")
	micros, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil || micros <= 0 {
		return pipeline.Mark{}
	}
	return pipeline.Mark{At: time.UnixMicro(micros).UTC(), ID: id}
}

// requestData is one request.
type requestData struct {
	requestRow
	Said    said
	Whole   bool // all of the text is shown
	Circle  string
	Steps   []requestStep
	Papers  []paper
	Ledger  []*artifact.Consent
	Earlier bool // there are consents that are left out
	Waits   []owing
}

// requestStep is a step of the plan with its turns.
type requestStep struct {
	request.PlanShown
	Kind, Word string // how it stands; a key of words/
	Turns      []request.RunShown
}

// Took is how long a run has taken, whole milliseconds.
func (requestStep) Took(r request.RunShown) time.Duration {
	if r.EndedAt == nil {
		return 0
	}
	return r.EndedAt.Sub(r.StartedAt)
}

// paper is an artifact with its content.
type paper struct {
	*request.ArtifactShown
	Facts []fact
	Rest  bool   // the content is longer than what is shown
	Ask   string // what can be done about it; a key of words/, "" for nothing
}

// owing is what is owed for one artifact.
type owing struct {
	Artifact *request.ArtifactShown
	List     []request.Owed
	Mine     bool
}

func (c *Console) request(v *visit) (page, error) {
	if c.conf.Circle == nil {
		return page{}, errNoPage
	}
	ctx := v.r.Context()
	o, err := c.conf.Circle.RequestOpen(ctx, v.caller(""), v.r.PathValue("id"))
	if err != nil {
		return page{}, unfound(err)
	}
	d := requestData{requestRow: requestRow{o, standsNow(o), firstWords(&o.Written, 100), owedNow(o)}, Circle: o.CircleID, Whole: v.query("text") == "all"}
	most := saidMost
	if d.Whole {
		most = 0
	}
	d.Said = readSaid(&o.Written, most)
	member := false
	if shown, err := c.conf.Circle.CircleGet(ctx, v.caller(""), o.CircleID); err == nil {
		d.Circle, member = shown.Name, true
	}
	d.Steps = requestSteps(o)
	ids := []string{}
	for _, a := range o.Artifacts {
		one := paper{ArtifactShown: a}
		if one.Facts, one.Rest = factsOf(a.Content, factTextMost); member {
			one.Ask = asksFor(a)
		}
		d.Papers = append(d.Papers, one)
		ids = append(ids, a.ID)
		if w := waitsFor(a, string(v.me())); w != nil {
			d.Waits = append(d.Waits, *w)
		}
	}
	if member && len(ids) > 0 {
		list, behind, err := c.conf.Circle.ConsentList(ctx, v.caller(""), request.ConsentFilter{Artifacts: ids}, pipeline.Page{Limit: requestRows})
		if err != nil {
			return page{}, err
		}
		d.Ledger, d.Earlier = list, !behind.At.IsZero()
	}
	words := c.sheets[v.lang].words
	return page{
		name: "request", title: "request.title", args: []any{o.RequestID}, data: &d,
		trail: []crumb{{"/requests", words.say("request.list")}}, topics: []string{topicOf(o.RequestID)},
	}, nil
}

// asksFor is what somebody of the circle can do about an artifact.
func asksFor(a *request.ArtifactShown) string {
	switch {
	case a.Status == artifact.WaitingForConsent:
		return "request.open.consent"
	case a.Status == artifact.NeedsConfirmation:
		return "request.open.confirm"
	case a.Status == artifact.Draft && len(a.Blocks) == 0:
		return "request.open.adopt"
	}
	return ""
}

func waitsFor(a *request.ArtifactShown, me string) *owing {
	w := owing{Artifact: a}
	for _, o := range a.Owed {
		if o.Answer != "" && o.Answer != artifact.Pending {
			continue
		}
		w.List = append(w.List, o)
		w.Mine = w.Mine || o.Member == me
	}
	if len(w.List) == 0 {
		return nil
	}
	return &w
}

// requestSteps is the plan, each step with the runs it had.
func requestSteps(o *request.Opened) []requestStep {
	list := []requestStep{}
	for _, p := range o.Plan {
		s := requestStep{PlanShown: p, Kind: "quiet", Word: "request.step.waits"}
		for _, r := range o.Runs {
			if r.Step == int64(p.Step) {
				s.Turns = append(s.Turns, r)
			}
		}
		switch {
		case p.Skipped != "":
			s.Word = "request.step." + string(p.Skipped)
		case len(s.Turns) == 0 && o.State == request.Ended:
			s.Word = "request.step." + string(request.SkipStopped)
		case len(s.Turns) > 0:
			switch last := s.Turns[len(s.Turns)-1]; last.State {
			case request.RunDone:
				s.Kind, s.Word = "pass", "request.step.done"
			case request.RunFailed:
				s.Kind, s.Word = "stop", "request.step.failed"
			case request.RunAlive:
				s.Kind, s.Word = "wait", "request.step.running"
			}
		}
		list = append(list, s)
	}
	return list
}

// Heavy says whether a step is one that does the main work.
func (s requestStep) Heavy() bool { return s.Class == constitution.Heavy }

// External says whether something came from outside.
func (r requestRow) External() bool { return r.Origin == envelope.External }

// unfound is the page that there is no such thing, for what somebody may not see
// as well.
func unfound(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return &notice{status: http.StatusNotFound, title: "request.no_such", words: "request.no_such_how"}
	}
	return err
}
