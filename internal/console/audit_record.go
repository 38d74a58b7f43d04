package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// recordMember is one member of a record: its name, and what it says as it is and in
// words.
type recordMember struct {
	Name  string // dotted where it is inside another
	Text  string
	Key   string // of words/ for what it says, "" for none
	At    time.Time
	Whole string // a digest, shown short
	URL   string
}

// recordData is the page of one record.
type recordData struct {
	Position int64
	Action   string
	Success  bool
	Code     string
	Message  string // of a refusal, as it was recorded
	At       time.Time
	Members  []recordMember
	Text     string
	Link     string
	Before   string // the hash before it, "" when it is not kept
	Follows  bool   // it follows from that
	Known    bool   // whether it does can be told
	Prev     int64
	Next     int64
	URL      string
	Broken   bool // its text is no record
}

func (c *Console) auditRecord(v *visit) (page, error) {
	if err := v.audits("audit.list"); err != nil {
		return page{}, err
	}
	n, err := strconv.ParseInt(v.r.PathValue("position"), 10, 64)
	if err != nil || n < 1 {
		return page{}, errNoPage
	}
	ctx := v.r.Context()
	lines, err := c.conf.Contracts.AuditList(ctx, n-1, pipeline.AuditFilter{}, 2)
	if err != nil {
		return page{}, err
	}
	if len(lines) == 0 || lines[0].Position != n {
		return page{}, errNoPage
	}
	r := recordOf(lines[0])
	at, _ := contract.ParseTimestamp(r.Timestamp)
	d := &recordData{
		Position: n, Action: r.Action, Success: r.Success, Code: r.Error.Code, Message: r.Error.Message, At: at.Time(),
		Text: string(lines[0].Text), Link: lines[0].Link.String(), URL: r.url(),
	}
	if d.Members, err = recordMembers(lines[0].Text); err != nil {
		d.Broken = true
	}
	slices.SortStableFunc(d.Members, func(a, b recordMember) int { return memberPlace(a.Name) - memberPlace(b.Name) })
	for i, m := range d.Members {
		d.Members[i].URL = m.url(d.URL)
	}
	if len(lines) > 1 {
		d.Next = lines[1].Position
	}
	before, err := c.linkBefore(ctx, n)
	if err != nil {
		return page{}, err
	}
	if before != nil {
		d.Known, d.Before, d.Follows = true, before.Link.String(), before.Append(lines[0].Text).Link == lines[0].Link
		if before.Count > 0 {
			d.Prev = before.Count
		}
	}
	return page{
		name: "record", title: "record.title", args: []any{strconv.FormatInt(n, 10)}, data: d,
		trail: []crumb{{"/audit", c.sheets[v.lang].words.say("audit.title")}},
	}, nil
}

// memberOrder is the order in which a person reads a record; its text is in the
// order in which it was hashed.
var memberOrder = []string{
	"timestamp", "actorId", "role", "action", "success", "error.code", "error.message", "kind", "id", "version", "from", "to",
	"approvalDecision.decision", "approvalDecision.actorId", "approvalDecision.role", "approvalDecision.decidedAt", "approvalDecision.reason", "self_approved",
	"cause", "ground", "resolution", "riskLevel", "finalDecision", "correlationId", "intentId", "taskSeedId", "approvalDigest", "baseCommit", "headCommit",
	"environment.os", "environment.runtime", "environment.containerImageDigest", "idempotencyKey",
}

// memberPlace is where a member is read; one that nobody knows comes last.
func memberPlace(name string) int {
	if i := slices.Index(memberOrder, name); i >= 0 {
		return i
	}
	return len(memberOrder)
}

// recordMembers is a record in its order, what is inside a member behind a dot.
func recordMembers(text []byte) ([]recordMember, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var list []recordMember
	if err := recordObject(d, "", &list); err != nil {
		return list, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return list, errors.New("something follows the record")
	}
	return list, nil
}

var errNoObject = errors.New("it is no object")

func recordObject(d *json.Decoder, under string, list *[]recordMember) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errNoObject, err)
	}
	return insideRecord(d, under, list)
}

func insideRecord(d *json.Decoder, under string, list *[]recordMember) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		at := under + name.(string)
		value, err := d.Token()
		if err != nil {
			return err
		}
		switch x := value.(type) {
		case json.Delim:
			if x != '{' || strings.Contains(at, ".") {
				return errNoObject // no record has one
			}
			if err := insideRecord(d, at+".", list); err != nil {
				return err
			}
		case string:
			*list = append(*list, recorded(at, x))
		case json.Number:
			*list = append(*list, recordMember{Name: at, Text: x.String()})
		case bool:
			*list = append(*list, recordMember{Name: at, Text: strconv.FormatBool(x), Key: "audit.value." + strconv.FormatBool(x)})
		default:
			*list = append(*list, recordMember{Name: at, Text: "null"})
		}
	}
	_, err := d.Token()
	return err
}

// families is which words a member speaks.
var families = map[string]string{
	"role": "role.", "action": "action.", "riskLevel": "risk.", "finalDecision": "final.", "kind": "kind.",
	"approvalDecision.role": "role.", "approvalDecision.decision": "final.", "cause": "cause.",
}

func recorded(name, text string) recordMember {
	m := recordMember{Name: name, Text: text}
	if family, ok := families[name]; ok && text != "" {
		m.Key = family + text
	}
	switch name {
	case "timestamp", "approvalDecision.decidedAt":
		if at, ok := contract.ParseTimestamp(text); ok {
			m.At = at.Time()
		}
	case "from", "to":
		m.Key = "state." + text
		if _, phased := phases[text]; phased {
			m.Key = "phase." + text
		}
	case "error.code":
		m.Key = "refusal." + text
	case "approvalDigest", "environment.containerImageDigest", "baseCommit", "headCommit":
		if len(text) > 24 {
			m.Whole = text
		}
	}
	return m
}

// phases is the phases by their names; what they share with states is a phase
// where a record says phase.step, which reads the same.
var phases = map[string]bool{"Plan": true, "Build": true, "Stabilize": true, "Refactor": true, "Publish": true}

// url is where a member leads.
func (m recordMember) url(path string) string {
	switch m.Name {
	case "actorId", "approvalDecision.actorId":
		if m.Text != "" {
			return actorPath(contract.ActorID(m.Text))
		}
	case "id", "taskSeedId", "intentId":
		if contract.ID(m.Text).Valid() {
			return path
		}
	case "correlationId":
		return auditPath(map[string][]string{"correlationId": {m.Text}})
	case "approvalDigest", "headCommit":
		return auditPath(map[string][]string{"contractId": {m.Text}})
	}
	return ""
}
