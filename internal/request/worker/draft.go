package worker

import (
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/envelope"
)

// drafted is a draft of a type with a content.
func drafted(of envelope.ArtifactType, content canonical.Object) Draft {
	return Draft{Type: of, Content: canonical.UTF8.Append(nil, content)}
}

// put adds a member, if there is anything to say.
func put[T string | []string | []canonical.Object](o *canonical.Object, key string, value T) {
	if len(value) > 0 {
		*o = append(*o, canonical.Member{Key: key, Value: value})
	}
}

// digest is what the content of a draft will be known by.
func (d Draft) digest() string {
	v, err := contract.Parse(d.Content)
	if err != nil {
		panic("worker: our own content does not parse: " + err.Error())
	}
	return artifact.Digest(contract.CanonicalValue(v))
}

// content is the content of an artifact, for reading single members of it.
func content(a *artifact.Artifact) map[string]any {
	v, err := contract.Parse(a.Content)
	if err != nil {
		return map[string]any{}
	}
	o, _ := v.(map[string]any)
	return o
}

// title is what an artifact is called: the member its type is known by.
func title(a *artifact.Artifact) string {
	o := content(a)
	for _, key := range []string{"title", "subject", "gift", "question", "summary", "purpose", "query"} {
		if s, _ := o[key].(string); s != "" {
			return s
		}
	}
	if record, _ := o["record"].(map[string]any); record != nil {
		s, _ := record["id"].(string)
		return s
	}
	if s, _ := o["body"].(string); s != "" {
		return clip(line(s), 80)
	}
	return string(a.Type)
}

func artifactRef(id, sha256 string) canonical.Object {
	return canonical.Object{{Key: "artifact_id", Value: id}, {Key: "content_sha256", Value: sha256}}
}

func party(p artifact.Party) canonical.Object {
	return canonical.Object{{Key: "kind", Value: string(p.Kind)}, {Key: "id", Value: p.ID}}
}

func parties(list []artifact.Party) []canonical.Object {
	out := make([]canonical.Object, len(list))
	for i, p := range list {
		out[i] = party(p)
	}
	return out
}

func source(s artifact.Source) canonical.Object {
	return canonical.Object{
		{Key: "kind", Value: string(s.Kind)},
		{Key: "id", Value: s.ID},
		{Key: "sha256", Value: s.SHA256},
		{Key: "visibility_level", Value: string(s.Visibility)},
		{Key: "origin", Value: string(s.Origin)},
	}
}

// timestamp is an instant as the schema has it.
func timestamp(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

func numbersOf(list []int) []any {
	out := make([]any, len(list))
	for i, n := range list {
		out[i] = n
	}
	return out
}

// members is everybody of the circle, now.
func (t *Task) members() []string { return t.Facts.Roll.With(circle.Plain, t.Now) }

// wants says whether this turn is for artifacts of a type.
func (t *Task) wants(of envelope.ArtifactType) bool { return slices.Contains(t.Outputs, of) }

// found is the documents that could be read.
func (t *Task) found() []Document {
	list := []Document{}
	for _, d := range t.Facts.Documents {
		if d.Found {
			list = append(list, d)
		}
	}
	return list
}

// newest is the newest artifact of earlier steps of one of the types, or one that
// the request refers to; nil when there is none.
func (t *Task) newest(of ...envelope.ArtifactType) *artifact.Artifact {
	for _, list := range [][]artifact.Artifact{t.Earlier, t.Facts.Referred} {
		for i := len(list) - 1; i >= 0; i-- {
			if slices.Contains(of, list[i].Type) {
				return &list[i]
			}
		}
	}
	return nil
}

// flagOf is the flag a finding calls for; "" when it calls for none.
func (f Finding) flagOf() envelope.Flag {
	if f.Sort == "secret" {
		return envelope.Secrets
	}
	if f.Sort != "personal" {
		return ""
	}
	switch f.Kind {
	case "health":
		return envelope.Health
	case "minor":
		return envelope.Minors
	case "finance", "account":
		return envelope.Finance
	case "legal":
		return envelope.Legal
	case "place":
		return envelope.Location
	}
	return envelope.PersonalData
}

// flagsOf is the flags that findings call for, in the order of the envelope's.
func flagsOf(findings ...[]Finding) []envelope.Flag {
	list := []envelope.Flag{}
	for _, f := range envelope.Flags() {
		if slices.ContainsFunc(slices.Concat(findings...), func(x Finding) bool { return x.flagOf() == f }) {
			list = append(list, f)
		}
	}
	return list
}

// allFlags is the flags of the request and those its text calls for.
func (t *Task) allFlags() []envelope.Flag {
	list := []envelope.Flag{}
	called := flagsOf(t.Request.Findings)
	for _, f := range envelope.Flags() {
		if t.Request.Has(f) || slices.Contains(called, f) {
			list = append(list, f)
		}
	}
	return list
}

// concerned is the members whose personal data a draft made of the request's text
// holds: those it names, and those it was said to be about, where there is
// anything personal in it at all.
func (t *Task) concerned() []string {
	personal := slices.ContainsFunc(t.allFlags(), func(f envelope.Flag) bool {
		switch f {
		case envelope.PersonalData, envelope.Health, envelope.Minors, envelope.Finance, envelope.Legal, envelope.Location:
			return true
		case envelope.Secrets, envelope.CoreChange, envelope.ExternalAction, envelope.Critical:
		}
		return false
	})
	if !personal {
		return nil
	}
	members := t.members()
	list := mentions(t.Request.Text, members)
	for _, p := range t.Request.Participants {
		if slices.Contains(members, p) && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// secret says whether something was redacted in a text: places of findings are
// then no longer those of the text that is left.
func secret(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Sort == "secret" })
}

// personalAt says whether anything personal stands in this place of the request's
// text. Where something was redacted nobody can tell, and it counts as if.
func (t *Task) personalAt(p place) bool {
	return slices.ContainsFunc(t.Request.Findings, func(f Finding) bool {
		return f.Sort == "personal" && (f.Start < p.end && p.start < f.End || secret(t.Request.Findings))
	})
}

// paragraph joins what is not empty.
func paragraph(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, "\n\n")
}
