package contract

import (
	"encoding/json"
	"math/big"
	"strconv"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/refusal"
)

// maxVersion is the largest version this system counts to: the largest integer
// that every reader of JSON holds exactly.
const maxVersion = 1<<53 - 1

// Decode reads one contract of any kind. The error is a refusal.List with every
// fault at once: what Parse does not take, an unknown kind, or all that the
// schema of the kind refuses.
func Decode(text []byte) (Document, error) {
	v, err := Parse(text)
	if err != nil {
		return nil, Unreadable(err)
	}
	return DecodeValue(v)
}

// DecodeValue is Decode for a value Parse returned.
func DecodeValue(v any) (Document, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return nil, noObject()
	}
	kind, _ := object["kind"].(string)
	if faults := Validate(Kind(kind), v); len(faults) > 0 {
		return nil, faults
	}
	return read(object)
}

// Reread is Decode for a text that Decode took before and that nobody else
// could write since: it asks the schema nothing, which is most of what Decode
// costs. It still refuses what Parse does not take, an unknown kind, role or
// capability; what else a text says that was never judged, nobody knows.
func Reread(text []byte) (d Document, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case letThrough:
			d, err = nil, refusal.List{refusal.At(refusal.ContractSchemaInvalid, "", "%s", p.Error())}
		default:
			panic(p)
		}
	}()
	v, err := Parse(text)
	if err != nil {
		return nil, Unreadable(err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, noObject()
	}
	return read(object)
}

// letThrough is the panic of a reader that finds a word which its schema should
// have refused.
type letThrough struct{ error }

func noObject() error {
	r := refusal.At(refusal.ContractSchemaInvalid, "", "a contract is an object")
	r.Keyword = "type"
	return refusal.List{r}
}

// read makes a document of an object that its schema has accepted.
func read(object map[string]any) (Document, error) {
	m := reader(object)
	version, ok := m.integer("version")
	if !ok {
		r := refusal.At(refusal.ContractSchemaInvalid, "/version", "versions are counted up to %d", int64(maxVersion))
		r.Keyword = "maximum"
		return nil, refusal.List{r}
	}
	base := Base{
		ID:        ID(m.text("id")),
		Kind:      Kind(m.text("kind")),
		State:     State(m.text("state")),
		Version:   version,
		CreatedAt: m.time("createdAt"),
		UpdatedAt: m.time("updatedAt"),
	}
	switch base.Kind {
	case KindIntent:
		return readIntent(base, m), nil
	case KindTaskSeed:
		return readTaskSeed(base, m), nil
	case KindAcceptance:
		return readAcceptance(base, m), nil
	case KindPublishGate:
		return readPublishGate(base, m), nil
	case KindEvidence:
		return readEvidence(base, m), nil
	}
	r := refusal.At(refusal.ContractSchemaInvalid, "/kind", "%q is no kind of contract", base.Kind)
	r.Keyword = "enum"
	return nil, refusal.List{r}
}

// Encode is the canonical text of d. Decode of it gives d back; a document that
// was read and not changed is stored in the spelling it came in, not in this.
func Encode(d Document) []byte {
	b := d.Head()
	o := canonical.Object{
		{Key: "schemaVersion", Value: SchemaVersion},
		{Key: "id", Value: string(b.ID)},
		{Key: "kind", Value: string(b.Kind)},
		{Key: "state", Value: string(b.State)},
		{Key: "version", Value: b.Version},
		{Key: "createdAt", Value: b.CreatedAt.String()},
		{Key: "updatedAt", Value: b.UpdatedAt.String()},
	}
	return canonical.UTF8.Append(nil, append(o, d.members()...))
}

// ContentDigest is what a person agrees to when a contract is activated: the
// canonical hash of the document without state and updatedAt, which a
// transition changes (docs/spec/contracts.md §20.2).
func ContentDigest(d Document) string {
	v, err := Parse(Encode(d))
	if err != nil {
		panic("contract: our own text does not parse: " + err.Error())
	}
	object := v.(map[string]any)
	delete(object, "state")
	delete(object, "updatedAt")
	return Hash(CanonicalValue(object))
}

// reader takes members out of an object that its schema has accepted: what is
// asked for is there and has its type, or is optional and absent.
type reader map[string]any

func (m reader) text(name string) string {
	s, _ := m[name].(string)
	return s
}

func (m reader) optional(name string) *string {
	s, ok := m[name].(string)
	if !ok {
		return nil
	}
	return &s
}

func (m reader) time(name string) Timestamp {
	ts, _ := ParseTimestamp(m.text(name))
	return ts
}

func (m reader) flag(name string) bool {
	b, _ := m[name].(bool)
	return b
}

func (m reader) object(name string) reader {
	o, _ := m[name].(map[string]any)
	return o
}

func (m reader) texts(name string) []string {
	list, _ := m[name].([]any)
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i], _ = e.(string)
	}
	return texts
}

// integer reads 1 and 1.0 alike: both are integers of JSON Schema.
func (m reader) integer(name string) (int64, bool) {
	n, _ := m[name].(json.Number)
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil && i <= maxVersion { // as nearly all are written
		return i, true
	}
	r, ok := exact(string(n))
	if !ok || !r.IsInt() || r.Cmp(new(big.Rat).SetInt64(maxVersion)) > 0 {
		return 0, false
	}
	return r.Num().Int64(), true
}

func (m reader) approvals(name string) []Approval {
	list, _ := m[name].([]any)
	approvals := make([]Approval, len(list))
	for i, e := range list {
		o, _ := e.(map[string]any)
		m := reader(o)
		approvals[i] = Approval{
			Role:      Role(m.text("role")),
			ActorID:   ActorID(m.text("actorId")),
			Decision:  Decision(m.text("decision")),
			DecidedAt: m.time("decidedAt"),
			Reason:    m.optional("reason"),
		}
	}
	return approvals
}

func approvalObjects(list []Approval) []canonical.Object {
	objects := make([]canonical.Object, len(list))
	for i, a := range list {
		objects[i] = a.Object()
	}
	return objects
}

// Object is the entry as it stands in a document.
func (a Approval) Object() canonical.Object {
	o := canonical.Object{
		{Key: "role", Value: string(a.Role)},
		{Key: "actorId", Value: string(a.ActorID)},
		{Key: "decision", Value: string(a.Decision)},
		{Key: "decidedAt", Value: a.DecidedAt.String()},
	}
	if a.Reason != nil {
		o = append(o, canonical.Member{Key: "reason", Value: *a.Reason})
	}
	return o
}

func names[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = string(e)
	}
	return out
}
