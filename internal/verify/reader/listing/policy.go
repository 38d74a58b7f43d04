package listing

import (
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// policy reads a policy rule file (§4.5). It declares controls, so a key that
// we do not know is refused like one of the manifest: a misspelt control would
// silently not exist.
func (b *block) policy(_ manifest.Artifact, name string, text []byte) *tool.SourceError {
	f, err := b.file(name, text)
	if err != nil {
		return err
	}
	if f.root.Kind != source.Map {
		return f.fail(f.root, "", "is not an object of policy rules")
	}
	for _, m := range f.root.Members {
		if err := b.rule(f, m); err != nil {
			return err
		}
	}
	return nil
}

func (b *block) rule(f *file, m source.Member) *tool.SourceError {
	p, at := &b.api.Policy, tool.Pointer(m.Key)
	var err *tool.SourceError
	switch m.Key {
	case "approval_required":
		p.Approval, err = f.names(p.Approval, m.Value, at)
	case "confirmation_required":
		p.Confirmation, err = f.names(p.Confirmation, m.Value, at)
	case "idempotency_required":
		p.Idempotency, err = f.names(p.Idempotency, m.Value, at)
	case "retry_policy", "timeouts", "tool_output_schemas":
		if !b.api.OpenAI {
			return f.fail(m.Value, at, "is read in OpenAI policy rules only")
		}
		switch {
		case m.Value.Kind != source.Map && m.Value.Kind != source.Null:
			return f.fail(m.Value, at, "is not an object")
		case m.Key == "retry_policy":
			b.api.RetryPolicy = said(b.api.RetryPolicy, f.root, m.Key)
			b.retry(m.Value)
		case m.Key == "timeouts":
			b.api.Timeouts = said(b.api.Timeouts, f.root, m.Key)
		default:
			err = b.outputs(f, m.Value, at)
		}
	default:
		return f.fail(source.Value{Pos: m.Pos}, at, "unknown key in a policy rule file")
	}
	return err
}

func (b *block) outputs(f *file, v source.Value, at string) *tool.SourceError {
	for _, m := range v.Members {
		at := at + tool.Pointer(m.Key)
		if m.Value.Kind != source.Map {
			return f.fail(m.Value, at, "is not an object")
		}
		row := tool.OutputFields{Tool: m.Key}
		var err *tool.SourceError
		for _, field := range m.Value.Members {
			at := at + tool.Pointer(field.Key)
			switch field.Key {
			case "success_fields":
				row.Success, err = f.names(nil, field.Value, at)
			case "failure_fields":
				row.Failure, err = f.names(nil, field.Value, at)
			default:
				err = f.fail(source.Value{Pos: field.Pos}, at, "unknown key in a policy rule file")
			}
			if err != nil {
				return err
			}
		}
		b.api.Policy.Outputs = append(b.api.Policy.Outputs, row)
	}
	return nil
}

// names appends the texts of a list.
func (f *file) names(to []string, v source.Value, at string) ([]string, *tool.SourceError) {
	if v.Kind == source.Null {
		return to, nil
	}
	if v.Kind != source.List {
		return nil, f.fail(v, at, "is not a list")
	}
	for _, item := range v.Items {
		if item.Kind != source.String || item.Text == "" {
			return nil, f.fail(item, at, "holds something that is not a name")
		}
		to = append(to, item.Text)
	}
	return to, nil
}
