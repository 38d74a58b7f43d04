package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/problem"
)

// Circles: who decides together, over which channels people ask, and what the
// reader has consented to.

func circlePath(id string) string { return "/requests/circles/" + url.PathEscape(id) }

// circlesData is the circles of the reader.
type circlesData struct {
	asking
	Mine      []*artifact.Consent
	MayRevoke bool
	Older     string
}

// Path is where a circle is shown.
func (circlesData) Path(id string) string { return circlePath(id) }

func (c *Console) circles(v *visit) (page, error) {
	a, err := c.asks(v)
	d := &circlesData{asking: a, MayRevoke: v.may(operation.Decide)}
	p := page{name: "circles", title: "circle.list", data: d, trail: []crumb{{"/requests", c.sheets[v.lang].words.say("request.list")}}, topics: []string{topicAll}}
	if err != nil || c.conf.Circle == nil {
		p.topics = nil
		return p, err
	}
	// One's own are shown wherever one was a member.
	list, behind, err := c.conf.Circle.ConsentList(v.r.Context(), v.caller(""), request.ConsentFilter{Members: []string{string(v.me())}},
		pipeline.Page{Behind: readBehind(v.query("behind")), Limit: requestRows})
	if d.Mine = list; !behind.At.IsZero() {
		d.Older = "/requests/circles?" + url.Values{"behind": {behindText(behind)}}.Encode()
	}
	return p, err
}

// circleData is one circle.
type circleData struct {
	*request.CircleShown
	Me        string
	Steward   bool // the reader is one, and may act
	Decides   bool // the reader's token lets them change things
	Council   int
	Needed    int
	Roles     []circle.Role
	Channels  []*circle.Channel
	Suspended int
	More      bool // there are channels that are left out
}

// Path is where the circle is shown.
func (d *circleData) Path() string { return circlePath(d.ID) }

// Only says whether a member is the last steward, who has to stay.
func (d *circleData) Only(m circle.Member) bool {
	n := 0
	for _, o := range d.Members {
		if o.Has(circle.Steward) {
			n++
		}
	}
	return n == 1 && m.Has(circle.Steward)
}

func (c *Console) circle(v *visit) (page, error) {
	if c.conf.Circle == nil {
		return page{}, errNoPage
	}
	ctx, id := v.r.Context(), v.r.PathValue("id")
	shown, err := c.conf.Circle.CircleGet(ctx, v.caller(""), id)
	if err != nil {
		return page{}, strange(err)
	}
	d := &circleData{CircleShown: shown, Me: string(v.me()), Roles: circle.Roles(), Decides: v.may(operation.Decide) && v.who.Actor.Type == contract.Human}
	for _, m := range shown.Members {
		if m.Has(circle.Council) {
			d.Council++
		}
		d.Steward = d.Steward || m.Actor == d.Me && m.Has(circle.Steward) && d.Decides
	}
	d.Needed = max(1, shown.Quorum.Needed(d.Council))
	channels, err := c.conf.Circle.ChannelList(ctx, v.caller(""), id, nil, pipeline.Page{Limit: requestRows + 1})
	if err != nil {
		return page{}, err
	}
	if d.More = len(channels) > requestRows; d.More {
		channels = channels[:requestRows]
	}
	// What is shut comes first: somebody may be waiting behind it.
	slices.SortStableFunc(channels, func(a, b *circle.Channel) int { return channelOpen(a) - channelOpen(b) })
	for _, ch := range channels {
		d.Suspended += 1 - channelOpen(ch)
	}
	d.Channels = channels
	words := c.sheets[v.lang].words
	return page{
		name: "circle", title: "circle.title", args: []any{shown.Name}, data: d, topics: []string{topicOf(id)},
		trail: []crumb{{"/requests", words.say("request.list")}, {"/requests/circles", words.say("circle.list")}},
	}, nil
}

func channelOpen(c *circle.Channel) int {
	if c.Suspended.IsZero() {
		return 1
	}
	return 0
}

// strange is the page that there is no such circle: whoever is no member does not
// learn whether there is.
func strange(err error) error {
	if problem.CodeOf(err) == problem.MemberRequired || fault.KindOf(err) == fault.NotFound && problem.CodeOf(err) == "" {
		return &notice{status: http.StatusNotFound, title: "circle.no_such", words: "circle.no_such_how"}
	}
	return err
}

// circleChange is what the forms of a circle do. Who may is the use case's
// business.
func (c *Console) circleChange(v *visit) (page, error) {
	if c.conf.Circle == nil {
		return page{}, errNoPage
	}
	id, do := v.r.PathValue("id"), v.form("do")
	op, ok := map[string]string{"set": "member.set", "remove": "member.remove", "quorum": "circle.quorum", "lift": "channel.lift"}[do]
	if !ok {
		return page{}, &notice{status: http.StatusBadRequest, title: "problem.form", words: "problem.form_how"}
	}
	by, err := v.writer("", op)
	if err != nil {
		return page{}, err
	}
	ctx, s := v.r.Context(), c.conf.Circle
	to := circlePath(id)
	switch do {
	case "set":
		roles := []circle.Role{}
		for _, r := range v.r.PostForm["role"] {
			roles = append(roles, circle.Role(r))
		}
		_, err = s.MemberSet(ctx, by, request.MemberArgs{Circle: id, Actor: v.form("actor"), Roles: roles})
	case "remove":
		if _, err = s.MemberRemove(ctx, by, id, v.form("actor")); v.form("actor") == string(v.me()) {
			to = "/requests/circles"
		}
	case "quorum":
		of, e1 := strconv.Atoi(v.form("of"))
		part, e2 := strconv.Atoi(v.form("part"))
		if e1 != nil || e2 != nil {
			return page{}, problem.New(problem.QuorumInvalid, "two whole numbers are expected")
		}
		_, err = s.CircleQuorum(ctx, by, request.QuorumArgs{Circle: id, Quorum: &circle.Fraction{Numerator: part, Denominator: of}})
	case "lift":
		_, err = s.ChannelLift(ctx, by, v.form("channel"))
	}
	if err != nil {
		return page{}, err
	}
	return page{}, goTo(to)
}

// consentTakeBack revokes a consent of the reader's.
func (c *Console) consentTakeBack(v *visit) (page, error) {
	if c.conf.Circle == nil {
		return page{}, errNoPage
	}
	by, err := v.writer("", "consent.revoke")
	if err != nil {
		return page{}, err
	}
	if _, err := c.conf.Circle.ConsentRevoke(v.r.Context(), by, v.r.PathValue("id")); err != nil {
		return page{}, unfound(err)
	}
	return page{}, goTo("/requests/circles")
}
