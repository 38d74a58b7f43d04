package api

import (
	"context"

	"plimsoll.dev/internal/pipeline"
	clan "plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// Circle is a group of people who decide together. Members and quorum are shown
// where one circle is asked for.
type Circle struct {
	ID        string   `json:"circle_id"`
	Name      string   `json:"name"`
	Clan      string   `json:"clan,omitempty"`
	Quorum    *Quorum  `json:"quorum,omitempty"`
	Members   []Member `json:"members,omitempty"`
	CreatedAt string   `json:"created_at" format:"date-time"`
	UpdatedAt string   `json:"updated_at" format:"date-time"`
}

// Quorum is the part of a council that must consent to a core change.
type Quorum struct {
	Members     int `json:"members" doc:"At least so many."`
	Numerator   int `json:"numerator"`
	Denominator int `json:"denominator"`
}

// Member is somebody who is a member now.
type Member struct {
	ID    string        `json:"member_id"`
	Roles []circle.Role `json:"roles" enum:"member,council,steward"`
	Since string        `json:"since" format:"date-time"`
	By    string        `json:"by" doc:"Who admitted them, or gave them the roles."`
}

func viewMember(m circle.Member) Member {
	return Member{m.Actor, append([]circle.Role{}, m.Roles...), stamp(m.Since), m.By}
}

func viewCircle(c *circle.Circle) Circle {
	return Circle{ID: c.ID, Name: c.Name, Clan: c.Clan, CreatedAt: stamp(c.Created), UpdatedAt: stamp(c.Updated)}
}

func showCircle(c *clan.CircleShown) (Circle, string) {
	view := viewCircle(c.Circle)
	view.Quorum = &Quorum{c.Quorum.Members, c.Quorum.Numerator, c.Quorum.Denominator}
	for _, m := range c.Members {
		view.Members = append(view.Members, viewMember(m))
	}
	return view, quoted(c.Tag())
}

func (a *API) circleList() endpoint {
	return list("circle.list", func(ctx context.Context, by pipeline.Caller, _ *none, page pipeline.Page) ([]*circle.Circle, error) {
		return a.conf.Circle.CircleList(ctx, by, page)
	}, viewCircle, func(c *circle.Circle) pipeline.Mark { return pipeline.Mark{At: c.Updated, ID: c.ID} })
}

func (a *API) circleCreate() endpoint {
	type body struct {
		ID   string `json:"circle_id,omitempty" doc:"One is made when it is absent."`
		Name string `json:"name"`
		Clan string `json:"clan,omitempty" doc:"The union of circles it belongs to."`
	}
	return act("circle.create", jsonMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *body) (*clan.CircleShown, error) {
		return a.conf.Circle.CircleCreate(ctx, by, clan.CircleArgs{ID: b.ID, Name: b.Name, Clan: b.Clan})
	}, showCircle)
}

func (a *API) circleGet() endpoint {
	return act("circle.get", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (*clan.CircleShown, error) {
		return a.conf.Circle.CircleGet(ctx, by, p.ID)
	}, showCircle)
}

func (a *API) circleQuorum() endpoint {
	type fraction struct {
		Numerator   int `json:"numerator"`
		Denominator int `json:"denominator"`
	}
	type body struct {
		Fraction *fraction `json:"fraction,omitempty" doc:"More than a half, at most all; absent for the registry's."`
	}
	return act("circle.quorum", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byName, b *body) (*clan.CircleShown, error) {
		args := clan.QuorumArgs{Circle: p.ID}
		if b.Fraction != nil {
			args.Quorum = &circle.Fraction{Numerator: b.Fraction.Numerator, Denominator: b.Fraction.Denominator}
		}
		return a.conf.Circle.CircleQuorum(ctx, by, args)
	}, showCircle)
}

func (a *API) memberList() endpoint {
	return wholeOf("member.list", func(ctx context.Context, by pipeline.Caller, p *byName) ([]circle.Member, error) {
		return a.conf.Circle.MemberList(ctx, by, p.ID)
	}, viewMember)
}

func (a *API) memberSet() endpoint {
	type body struct {
		ID    string        `json:"member_id"`
		Roles []circle.Role `json:"roles,omitempty" enum:"member,council,steward" doc:"Every member is a plain one besides."`
	}
	return act("member.set", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byName, b *body) (*clan.CircleShown, error) {
		return a.conf.Circle.MemberSet(ctx, by, clan.MemberArgs{Circle: p.ID, Actor: b.ID, Roles: b.Roles})
	}, showCircle)
}

func (a *API) memberRemove() endpoint {
	type parameters struct {
		byName
		MemberID string `query:"member_id" required:"true"`
	}
	return act("member.remove", noMedia, func(ctx context.Context, by pipeline.Caller, p *parameters, _ *none) (*clan.CircleShown, error) {
		return a.conf.Circle.MemberRemove(ctx, by, p.ID, p.MemberID)
	}, showCircle)
}

// Channel is a way that requests to a circle come in over.
type Channel struct {
	ID          string          `json:"channel_id"`
	CircleID    string          `json:"circle_id"`
	Kind        envelope.Origin `json:"kind" enum:"internal,external"`
	Name        string          `json:"name" doc:"Its id in the envelope."`
	MemberID    string          `json:"member_id,omitempty" doc:"Whose way in it is; absent for an external channel."`
	AdapterID   string          `json:"adapter_id,omitempty" doc:"The actor that brings its requests."`
	SuspendedAt string          `json:"suspended_at,omitempty" format:"date-time" doc:"Absent while it is open."`
	LiftedAt    string          `json:"lifted_at,omitempty" format:"date-time"`
	LiftedBy    string          `json:"lifted_by,omitempty"`
	CreatedAt   string          `json:"created_at" format:"date-time"`
	UpdatedAt   string          `json:"updated_at" format:"date-time"`
}

func viewChannel(c *circle.Channel) Channel {
	return Channel{
		c.ID, c.Circle, c.Kind, c.Name, c.Member, c.Adapter, stamp(c.Suspended), stamp(c.Lifted), c.LiftedBy, stamp(c.Created), stamp(c.Updated),
	}
}

func (a *API) channelList() endpoint {
	type parameters struct {
		CircleID  string `query:"circle_id"`
		Suspended *bool  `query:"suspended"`
	}
	return list("channel.list", func(ctx context.Context, by pipeline.Caller, p *parameters, page pipeline.Page) ([]*circle.Channel, error) {
		return a.conf.Circle.ChannelList(ctx, by, p.CircleID, p.Suspended, page)
	}, viewChannel, func(c *circle.Channel) pipeline.Mark { return pipeline.Mark{At: c.Updated, ID: c.ID} })
}

func (a *API) channelLift() endpoint {
	return act("channel.lift", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (*circle.Channel, error) {
		return a.conf.Circle.ChannelLift(ctx, by, p.ID)
	}, func(c *circle.Channel) (Channel, string) { return viewChannel(c), "" })
}

// Worker is one of the thirteen, as the registry has it.
type Worker struct {
	ID            constitution.AgentID    `json:"worker"`
	Priority      int                     `json:"priority" doc:"1 runs first."`
	Class         constitution.Class      `json:"class" enum:"heavy,supporting"`
	Engine        constitution.Engine     `json:"engine" enum:"builtin,model"`
	Outputs       []envelope.ArtifactType `json:"outputs" doc:"What it may return, and nothing else."`
	Deadline      int64                   `json:"deadline_seconds"`
	About         map[string]string       `json:"about" doc:"Its job in a sentence, by language."`
	PromptVersion string                  `json:"SUBAGENT_PROMPT_VERSION"`
	PromptSHA256  string                  `json:"prompt_sha256"`
}

func viewWorker(w clan.WorkerShown) Worker {
	view := Worker{
		ID: w.ID, Priority: w.Priority, Class: w.Class, Engine: w.Engine, Outputs: append([]envelope.ArtifactType{}, w.Outputs...),
		Deadline: int64(w.Deadline.Seconds()), About: map[string]string{}, PromptVersion: string(w.PromptVersion), PromptSHA256: w.PromptSHA256,
	}
	for locale, text := range w.About {
		view.About[string(locale)] = text
	}
	return view
}

func (a *API) workerList() endpoint {
	return wholeOf("worker.list", func(ctx context.Context, by pipeline.Caller, _ *none) ([]clan.WorkerShown, error) {
		return a.conf.Circle.WorkerList(ctx, by)
	}, viewWorker)
}

// Clan is the configuration the circle works by.
type Clan struct {
	SHA256              string    `json:"config_sha256"`
	Registry            string    `json:"registry" doc:"Its version."`
	ConstitutionVersion string    `json:"CONSTITUTION_VERSION"`
	PromptSHA256        string    `json:"orchestrator_prompt_sha256"`
	Locked              bool      `json:"locked" doc:"Every text is the one its version was locked with."`
	Model               string    `json:"model,omitempty" doc:"Absent: the built-in engines do every job."`
	Files               []string  `json:"files"`
	Locales             []string  `json:"locales"`
	Economy             Economy   `json:"economy"`
	Limits              Limits    `json:"limits"`
	Quorum              Quorum    `json:"quorum"`
	Ceilings            []Ceiling `json:"ceilings"`
}

// Economy is how many workers of one request run at the same time at most.
type Economy struct {
	Heavy      int `json:"heavy"`
	Supporting int `json:"supporting"`
}

// Limits bounds what one request may cost, and how long things stay open.
type Limits struct {
	Regenerations int   `json:"regenerations"`
	Steps         int   `json:"steps"`
	Artifacts     int   `json:"artifacts"`
	Breaches      int   `json:"breaches" doc:"From one channel, within breach_window_seconds, that suspend it."`
	BreachWindow  int64 `json:"breach_window_seconds"`
	Consent       int64 `json:"consent_seconds"`
	StepUp        int64 `json:"step_up_seconds"`
}

// Ceiling is the widest target a flag allows.
type Ceiling struct {
	Flag        envelope.Flag  `json:"flag"`
	Without     envelope.Level `json:"without_consent" doc:"Empty: none, the request stops."`
	WithConsent envelope.Level `json:"with_consent"`
}

func showClan(c *clan.ConfigShown) (Clan, string) {
	view := Clan{
		SHA256: c.SHA256, Registry: c.Registry, ConstitutionVersion: c.ConstitutionVersion, PromptSHA256: c.PromptSHA256, Locked: c.Locked, Model: c.Model,
		Files: append([]string{}, c.Files...), Locales: []string{}, Economy: Economy{c.Economy.Heavy, c.Economy.Supporting},
		Limits: Limits{
			c.Limits.Regenerations, c.Limits.Steps, c.Limits.Artifacts, c.Limits.Breaches, int64(c.Limits.BreachWindow.Seconds()),
			int64(c.Limits.Consent.Seconds()), int64(c.Limits.StepUp.Seconds()),
		},
		Quorum: Quorum{c.Quorum.Members, c.Quorum.Numerator, c.Quorum.Denominator}, Ceilings: []Ceiling{},
	}
	for _, l := range c.Locales {
		view.Locales = append(view.Locales, string(l))
	}
	for _, one := range c.Ceilings {
		view.Ceilings = append(view.Ceilings, Ceiling{one.Flag, one.Without, one.WithConsent})
	}
	return view, quoted(c.SHA256)
}

func (a *API) clanGet() endpoint {
	return act("clan.get", noMedia, func(ctx context.Context, by pipeline.Caller, _ *none, _ *none) (*clan.ConfigShown, error) {
		return a.conf.Circle.ConfigGet(ctx, by)
	}, showClan)
}

func (a *API) clanFile() endpoint {
	type parameters struct {
		Path string `query:"path" required:"true" doc:"One of the files of the configuration."`
	}
	return actAs("clan.file", noMedia, func(ctx context.Context, by pipeline.Caller, p *parameters, _ *none) ([]byte, error) {
		return a.conf.Circle.ConfigFile(ctx, by, p.Path)
	}, func(text []byte, _ bool) answer {
		return answer{media: "text/plain; charset=utf-8", raw: text}
	}, types{media: []string{"text/plain"}})
}

func (a *API) clanReload() endpoint {
	return act("clan.reload", noMedia, func(ctx context.Context, by pipeline.Caller, _ *none, _ *none) (*clan.ConfigShown, error) {
		return a.conf.Circle.ConfigReload(ctx, by)
	}, showClan)
}
