package console

import (
	"context"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
)

// The audit log: everything that anybody did, or was refused, the newest first.

// Of a search that no index knows, a page looks through this many records at
// most, this many at a time: it then says how far it came.
const (
	auditWindow  = 5_000
	auditWindows = 3
)

// auditRows is how many records a page shows.
const auditRows = 50

// auditRow is one record in the list.
type auditRow struct {
	Position int64
	At       time.Time
	Action   string
	ID       string // what it is about
	IDURL    string // of its chain or request, "" where it has no page
	By       string
	Role     string
	Success  bool
	Code     string // of the refusal
	From, To string
}

// auditData is the page.
type auditData struct {
	Find          string // a contract, a path, a digest: what the first field takes
	Correlation   string
	TaskSeed      string
	Actor         string
	Role          string
	Action        string
	Level         string
	Decision      string
	Date          string
	Actions       []string
	Roles         []contract.Role
	Levels        []contract.Level
	Decisions     []contract.FinalDecision
	Filtered      bool
	NoDay         bool // the date is none
	Rows          []auditRow
	Path          string // of all records of the path the found ones are of, "" where they are shown
	Older, Newest string
	Looked        int64 // the search came back to this record, 0 when it is through
	Count         int64
}

// audits demands what the API demands of whoever reads the log.
func (v *visit) audits(op string) error {
	o, ok := operation.Find(op)
	if !ok {
		panic("console: there is no operation " + op)
	}
	if !v.may(o.Scope) {
		return refusal.New(refusal.AuthScopeMissing, "the token does not allow %q", o.Scope)
	}
	return nil
}

func (c *Console) audit(v *visit) (page, error) {
	if err := v.audits("audit.list"); err != nil {
		return page{}, err
	}
	q := v.r.URL.Query()
	one := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	d := &auditData{
		Find: one("contractId"), Correlation: one("correlationId"), TaskSeed: strings.ToUpper(one("taskSeedId")), Actor: one("actorId"),
		Role: one("role"), Action: one("action"), Level: one("riskLevel"), Decision: one("finalDecision"), Date: one("date"),
		Actions: c.actions(v.lang), Roles: append(contract.Roles(), contract.ChannelAdapter), Levels: contract.Levels(),
		Decisions: []contract.FinalDecision{contract.DecisionPending, contract.DecisionApproved, contract.DecisionRejected, contract.DecisionExpired},
	}
	if d.Action != "" && !slices.Contains(d.Actions, d.Action) {
		d.Actions = append(d.Actions, d.Action)
	}
	f := pipeline.AuditFilter{
		Correlations: some(d.Correlation), TaskSeeds: some(contract.ID(d.TaskSeed)), Actors: some(contract.ActorID(d.Actor)), Roles: some(contract.Role(d.Role)),
		Actions: some(d.Action), Levels: some(contract.Level(d.Level)), FinalDecisions: some(contract.FinalDecision(d.Decision)),
	}
	for name, values := range q {
		d.Filtered = d.Filtered || name != "before" && strings.TrimSpace(strings.Join(values, "")) != ""
	}
	ctx := v.r.Context()
	head, err := c.conf.Contracts.AuditHead(ctx)
	if err != nil {
		return page{}, err
	}
	d.Count = head.Count
	span := reach{before: head.Count + 1}
	if n, err := strconv.ParseInt(q.Get("before"), 10, 64); err == nil && n > 0 {
		span.before = min(n, span.before)
		newest := url.Values{}
		for name, values := range q {
			if name != "before" {
				newest[name] = values
			}
		}
		d.Newest = auditPath(newest)
	}
	if d.Date != "" {
		day, err := time.Parse(time.DateOnly, d.Date)
		if d.NoDay = err != nil; !d.NoDay {
			f.Since, f.Before = day, day.AddDate(0, 0, 1)
			if span, err = c.spanOf(ctx, f, span); err != nil {
				return page{}, err
			}
		}
	}
	if !d.NoDay {
		lines, looked, err := c.findRecords(ctx, d.Find, f, span)
		if err != nil {
			return page{}, err
		}
		d.show(lines, looked, q)
	}
	return page{name: "audit", title: "audit.title", data: d, topics: []string{topicAll}, announce: true}, nil
}

// show takes what was found into the page.
func (d *auditData) show(lines []pipeline.AuditLine, looked int64, q url.Values) {
	older := url.Values{}
	for name, values := range q {
		older[name] = values
	}
	if len(lines) > auditRows {
		lines = lines[:auditRows]
		older.Set("before", strconv.FormatInt(lines[auditRows-1].Position, 10))
		d.Older = auditPath(older)
	} else if looked > 0 {
		older.Set("before", strconv.FormatInt(looked, 10))
		d.Looked, d.Older = looked, auditPath(older)
	}
	path := ""
	for _, l := range lines {
		r := recordOf(l)
		at, _ := contract.ParseTimestamp(r.Timestamp)
		d.Rows = append(d.Rows, auditRow{
			Position: l.Position, At: at.Time(), Action: r.Action, ID: r.ID, IDURL: r.url(), By: r.ActorID, Role: r.Role,
			Success: r.Success, Code: r.Error.Code, From: r.From, To: r.To,
		})
		if path == "" {
			path = r.CorrelationID
		}
	}
	if d.Find != "" && path != "" && path != d.Correlation && contract.ID(strings.ToUpper(d.Find)).Valid() {
		d.Path = auditPath(url.Values{"correlationId": {path}})
	}
}

// auditPath is the page with a query.
func auditPath(q url.Values) string {
	if len(q) == 0 {
		return "/audit"
	}
	return "/audit?" + q.Encode()
}

// some is a list of a value, none of an empty one.
func some[T ~string](value T) []T {
	if value == "" {
		return nil
	}
	return []T{value}
}

// actions is the actions that have words in a language, by their words.
func (c *Console) actions(lang string) []string {
	w := c.sheets[lang].words
	list := []string{}
	for key := range w.list {
		if action, ok := strings.CutPrefix(key, "action."); ok {
			list = append(list, action)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(w.say("action."+a), w.say("action."+b)) })
	return list
}

// record is what the pages read of a record; what is missing is empty.
type record struct {
	Timestamp, Kind, ID, ActorID, Role, Action string
	Version                                    int64
	From, To, Cause, Ground, Resolution        string
	CorrelationID, IntentID                    string
	Success                                    bool
	Error                                      struct{ Code, Message string }
}

func recordOf(l pipeline.AuditLine) (r record) {
	_ = json.Unmarshal(l.Text, &r) // of a record that was damaged the page says so
	return r
}

// url is the page of the chain or the request the record is of, "" where there is
// none.
func (r *record) url() string {
	switch {
	case contract.ID(r.IntentID).Valid():
		return "/chains/" + r.IntentID
	case contract.ID(r.ID).Kind() == contract.KindIntent:
		return "/chains/" + r.ID
	case contract.ID(r.CorrelationID).Valid():
		return "/chains/" + r.CorrelationID
	case r.CorrelationID != "":
		return "/requests/" + url.PathEscape(r.CorrelationID)
	case r.Kind == "" && (strings.HasPrefix(r.Action, "actor.") || r.Action == "token.create") && r.ID != "":
		return actorPath(contract.ActorID(r.ID))
	}
	return ""
}

// reach is where a search looks: before a position and behind another.
type reach struct{ before, floor int64 }

// findRecords is the records of a filter, one more than a page shows, the newest
// first. find is what the first field says: a contract, what a record is about
// otherwise, a path, or a digest that records mention, whichever finds something.
// looked is where the search stopped without having seen everything, 0 when it
// has.
func (c *Console) findRecords(ctx context.Context, find string, f pipeline.AuditFilter, at reach) (lines []pipeline.AuditLine, looked int64, err error) {
	if find == "" {
		return c.lookBack(ctx, f, at)
	}
	about := contract.ID(find)
	if upper := contract.ID(strings.ToUpper(find)); upper.Valid() {
		about = upper
	}
	as := f
	as.Contracts = []contract.ID{about}
	if lines, looked, err = c.lookBack(ctx, as, at); err != nil || len(lines) > 0 || about.Valid() {
		return lines, looked, err
	}
	if len(f.Correlations) == 0 {
		as = f
		as.Correlations = []string{find}
		if lines, looked, err = c.lookBack(ctx, as, at); err != nil || len(lines) > 0 {
			return lines, looked, err
		}
	}
	text, ok := mentioned(find)
	if !ok {
		return nil, 0, nil
	}
	as = f
	as.Mentions = text
	return c.lookBack(ctx, as, at)
}

// leastMentioned is the least of a digest that is looked for: what git calls a
// commit by.
const leastMentioned = 7

// mentioned is a text as records have it: of a digest, or the beginning of one,
// as a page groups it, the digits alone.
func mentioned(find string) (string, bool) {
	text := strings.ToLower(strings.ReplaceAll(find, " ", ""))
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		text = text[i+1:]
	}
	if len(text) >= leastMentioned && !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }) {
		return text, true
	}
	return find, len(find) >= leastMentioned && !strings.ContainsAny(find, `"\`)
}

// lookBack goes backwards through the log. What an index knows is found at once;
// for everything else it goes window by window, and no farther than a page may
// take.
func (c *Console) lookBack(ctx context.Context, f pipeline.AuditFilter, at reach) (list []pipeline.AuditLine, looked int64, err error) {
	window, windows := int64(auditWindow), auditWindows
	bare := len(f.TaskSeeds)+len(f.Roles)+len(f.Actions)+len(f.Levels)+len(f.FinalDecisions) == 0 && f.Mentions == "" && f.Since.IsZero()
	if bare || len(f.Contracts)+len(f.Correlations) > 0 {
		window, windows = math.MaxInt64, 1
	}
	for ; windows > 0 && at.before > at.floor+1; windows-- {
		floor := at.floor
		if at.before-at.floor > window {
			floor = at.before - 1 - window
		}
		lines, err := c.conf.Contracts.AuditBack(ctx, at.before, floor, f, auditRows+1-len(list))
		if err != nil {
			return nil, 0, err
		}
		if list = append(list, lines...); len(list) > auditRows {
			return list, 0, nil
		}
		at.before = floor + 1
	}
	if at.before > at.floor+1 {
		looked = at.before
	}
	return list, looked, nil
}

// skew is by how much the clocks of records that follow each other may disagree.
const skew = time.Hour

// spanOf narrows a search to where the records of a time can be. Records follow
// each other in time, but for what clocks do.
func (c *Console) spanOf(ctx context.Context, f pipeline.AuditFilter, at reach) (reach, error) {
	seal, _, err := c.conf.Contracts.AuditSeal(ctx)
	if err != nil {
		return at, err
	}
	first := func(since time.Time) (int64, error) { // the first record not before since
		low, high := seal.Count+1, at.before
		for low < high {
			middle := low + (high-low)/2
			lines, err := c.conf.Contracts.AuditList(ctx, middle-1, pipeline.AuditFilter{}, 1)
			if err != nil {
				return 0, err
			}
			if len(lines) == 0 {
				high = middle
				continue
			}
			if t, ok := contract.ParseTimestamp(recordOf(lines[0]).Timestamp); ok && t.Time().Before(since) {
				low = middle + 1
			} else {
				high = middle
			}
		}
		return low, nil
	}
	from, err := first(f.Since.Add(-skew))
	if err != nil {
		return at, err
	}
	to, err := first(f.Before.Add(skew))
	return reach{before: to, floor: max(at.floor, from-1)}, err
}
