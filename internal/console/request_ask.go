package console

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// Asking from the console makes the envelope with all eight fields
// (docs/spec/circle.md §4). What the service refuses is said beside the field it
// is about, with everything that was typed still there.

// console is the channel these requests come over.
const consoleChannel = "console"

// askData is the form, as it is sent and shown again.
type askData struct {
	asking
	Text, Circle, Target, Consent, Locale string
	Participants, References              string
	Flags, Actions, Outputs               []string

	AllFlags    []envelope.Flag
	AllActions  []envelope.Action
	AllOutputs  []envelope.ArtifactType
	AllLevels   []envelope.Level
	AllConsents []envelope.ConsentStatus

	Faults map[string][]fieldFault // by the field of the form; "" is the whole
}

// fieldFault is what is wrong with a field: a key of words/, and the sentence of
// the service.
type fieldFault struct{ Code, Message string }

// defaultActions is what a request may do unless somebody says otherwise: all that
// stays within the circle and changes nothing of what holds it together.
func defaultActions() []string {
	list := []string{}
	for _, a := range envelope.Actions() {
		if a != envelope.ExportDraft && a != envelope.CoreChangeDraft {
			list = append(list, string(a))
		}
	}
	return list
}

func (c *Console) askForm(v *visit) (*askData, error) {
	a, err := c.asks(v)
	d := &askData{
		asking: a, Target: string(envelope.Circle), Consent: string(envelope.ConsentNotRequired), Actions: defaultActions(),
		AllFlags: envelope.Flags(), AllActions: envelope.Actions(), AllOutputs: envelope.ArtifactTypes(), AllLevels: envelope.Levels(),
		AllConsents: []envelope.ConsentStatus{
			envelope.ConsentNotRequired, envelope.ConsentMissing, envelope.ConsentRequested, envelope.ConsentGranted, envelope.ConsentRefused, envelope.ConsentRevoked,
		},
		Faults: map[string][]fieldFault{},
	}
	if len(a.Circles) > 0 {
		d.Circle = a.Circles[0].ID
	}
	if id := v.query("circle"); id != "" {
		d.Circle = id
	}
	return d, err
}

// Has says whether a box of the form is ticked.
func (d *askData) Has(list []string, v any) bool { return slices.Contains(list, boxValue(v)) }

// Wrong says whether something is wrong with a field.
func (d *askData) Wrong(field string) bool { return len(d.Faults[field]) > 0 }

func boxValue(v any) string {
	switch v := v.(type) {
	case envelope.Flag:
		return string(v)
	case envelope.Action:
		return string(v)
	case envelope.ArtifactType:
		return string(v)
	}
	return ""
}

func (c *Console) askPage(v *visit) (page, error) {
	d, err := c.askForm(v)
	return c.asked(v, d), err
}

func (c *Console) asked(v *visit, d *askData) page {
	return page{
		name: "ask", title: "request.ask", data: d, trail: []crumb{{"/requests", c.sheets[v.lang].words.say("request.list")}},
	}
}

func (c *Console) ask(v *visit) (page, error) {
	d, err := c.askForm(v)
	if err != nil {
		return page{}, err
	}
	if c.conf.Circle == nil {
		return page{}, errNoPage
	}
	by, err := v.writer("", "request.ask")
	if err != nil {
		return page{}, err
	}
	by.Once = pipeline.Once{} // the id of the request says that it is the same one
	d.read(v)
	p, err := c.conf.Circle.Ask(v.r.Context(), by, d.envelope(v))
	if err == nil {
		return page{}, goTo(requestPath(p.RequestID))
	}
	if !d.refused(err) {
		return page{}, err
	}
	again := c.asked(v, d)
	again.status = http.StatusUnprocessableEntity
	return again, nil
}

// read is the form as it was sent.
func (d *askData) read(v *visit) {
	f := v.r.PostForm
	d.Text = strings.ReplaceAll(f.Get("text"), "\r\n", "\n") // forms send every end of a line so
	d.Circle, d.Target, d.Consent, d.Locale = f.Get("circle"), f.Get("target"), f.Get("consent"), f.Get("locale")
	d.Participants, d.References = f.Get("participants"), f.Get("references")
	d.Flags, d.Actions, d.Outputs = f["flag"], f["action"], f["output"]
}

// envelope is what was asked. Its id follows from the form and what is in it: a
// form that is sent twice asks once, one that was changed asks anew.
func (d *askData) envelope(v *visit) []byte {
	me := string(v.me())
	context := canonical.Object{
		{Key: "circle_id", Value: d.Circle},
		{Key: "member_id", Value: me},
		{Key: "channel", Value: canonical.Object{{Key: "kind", Value: string(envelope.Internal)}, {Key: "id", Value: consoleChannel}}},
		{Key: "participants", Value: askedNames(d.Participants)},
		{Key: "references", Value: referred(d.References)},
	}
	if d.Locale != "" {
		context = append(context, canonical.Member{Key: "locale", Value: d.Locale})
	}
	outputs := d.Outputs
	if len(outputs) == 0 { // whatever the text asks for, as far as it is allowed
		outputs = []string{}
		for _, t := range envelope.ArtifactTypes() {
			if slices.Contains(d.Actions, string(t.Needs())) {
				outputs = append(outputs, string(t))
			}
		}
	}
	o := canonical.Object{
		{Key: "circle_context", Value: context},
		{Key: "visibility_level_target", Value: d.Target},
		{Key: "sensitivity_flags", Value: askedList(d.Flags)},
		{Key: "consent_status", Value: d.Consent},
		{Key: "allowed_actions", Value: askedList(d.Actions)},
		{Key: "expected_output", Value: askedList(outputs)},
		{Key: "input_text", Value: d.Text},
	}
	sum := sha256.Sum256(canonical.UTF8.Append([]byte(v.form("key")+"\x00"+me+"\x00"), o))
	return canonical.UTF8.Append(nil, append(o, canonical.Member{Key: "request_id", Value: "req-" + hex.EncodeToString(sum[:12])}))
}

func askedList(list []string) []string { return append([]string{}, list...) }

// askedNames is the names somebody typed, apart by commas, spaces or lines.
func askedNames(text string) []string {
	return append([]string{}, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", ;\n\r\t", r) })...)
}

// referred is the references somebody typed: KIND:ID, or KIND:ID@SHA256, each on a
// line of its own.
func referred(text string) []canonical.Object {
	list := []canonical.Object{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		kind, id, _ := strings.Cut(line, ":")
		sum := ""
		if i := strings.LastIndexByte(id, '@'); i >= 0 && sha256Form.MatchString(id[i+1:]) {
			id, sum = id[:i], id[i+1:]
		}
		o := canonical.Object{{Key: "kind", Value: kind}, {Key: "id", Value: id}}
		if sum != "" {
			o = append(o, canonical.Member{Key: "sha256", Value: sum})
		}
		list = append(list, o)
	}
	return list
}

var sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)

// askFields is where each part of an envelope stands in the form.
var askFields = []struct{ path, field string }{
	{"/input_text", "text"},
	{"/circle_context/circle_id", "circle"},
	{"/circle_context/participants", "participants"},
	{"/circle_context/references", "references"},
	{"/circle_context/locale", "locale"},
	{"/visibility_level_target", "target"},
	{"/sensitivity_flags", "flags"},
	{"/consent_status", "consent"},
	{"/allowed_actions", "actions"},
	{"/expected_output", "outputs"},
}

// refused puts what the service refused beside the fields, and says whether it was
// about the request at all.
func (d *askData) refused(err error) bool {
	var list problem.List
	if l, ok := errors.AsType[problem.List](err); ok {
		list = l
	} else if p, ok := errors.AsType[*problem.Problem](err); ok {
		list = problem.List{p}
	} else if r, ok := errors.AsType[*refusal.Refusal](err); ok {
		d.Faults[""] = append(d.Faults[""], fieldFault{string(r.Code), r.Message})
		return true
	}
	for _, p := range list {
		field := ""
		for _, f := range askFields {
			if strings.HasPrefix(p.Path, f.path) {
				field = f.field
				break
			}
		}
		f := fieldFault{string(p.Code), p.Message}
		if !slices.Contains(d.Faults[field], f) && len(d.Faults[field]) < 10 {
			d.Faults[field] = append(d.Faults[field], f)
		}
	}
	return len(list) > 0
}
