package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/fault"
)

// Decode reads a result that a gate wrote in the format of SchemaVersion. It
// believes no boolean and no copy: a control that contradicts its state, or a
// result that Check would refuse to emit, is an Invalid fault, and a caller
// treats it as a stop.
func Decode(data []byte) (*Result, error) {
	const op = "gate.Decode"
	var r Result
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&r); err != nil {
		return nil, fault.E(op, fault.Invalid, "read boundary result", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.E(op, fault.Invalid, "read boundary result: more than one document", nil)
	}
	if r.SchemaVersion != SchemaVersion {
		return nil, fault.E(op, fault.Invalid, fmt.Sprintf("read boundary result: schema %q is not %s", r.SchemaVersion, SchemaVersion), nil)
	}
	if err := r.contradiction(); err != nil {
		return nil, fault.E(op, fault.Invalid, "read boundary result", err)
	}
	return &r, nil
}

// UnmarshalJSON reads a row and keeps the order of its evidence.
func (v *Violation) UnmarshalJSON(data []byte) error {
	type fields Violation
	var raw struct {
		fields
		Evidence json.RawMessage `json:"evidence"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*v = Violation(raw.fields)
	if len(raw.Evidence) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw.Evidence))
	d.UseNumber()
	value, err := readValue(d)
	if err != nil {
		return fmt.Errorf("read evidence: %w", err)
	}
	evidence, ok := value.(canonical.Object)
	if !ok {
		return errors.New("read evidence: no object")
	}
	v.Evidence = evidence
	return nil
}

// readValue reads one JSON value into the types that package canonical writes.
func readValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := canonical.Object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := readValue(d)
			if err != nil {
				return nil, err
			}
			o = append(o, canonical.Member{Key: key.(string), Value: value})
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := readValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = d.Token()
		return list, err
	}
	return t, nil
}
