package pipeline

import (
	"fmt"
	"maps"
	"slices"

	"plimsoll.dev/internal/pipeline/contract"
)

// Texts that people and executors write: intents, edits, reasons, findings of a
// review, names (docs/spec/contracts.md §20.1).

// plain refuses a text that holds a secret. What is kept here is shown to whoever
// may read the contract, goes into the audit log and into exports, and cannot be
// taken back: nothing of it is kept, and the refusal repeats nothing of it. at is
// the JSON Pointer of the text in the request.
func (x *session) plain(at, text string) error {
	if x.s.conf.SecretIn == nil {
		return nil
	}
	if kind := x.s.conf.SecretIn(text); kind != "" {
		return malformed(at, "this looks like it holds a secret (%s): leave it out, and change it if it was real", kind)
	}
	return nil
}

// plainReason is plain for a reason that need not be given.
func (x *session) plainReason(reason *string) error {
	if reason == nil {
		return nil
	}
	return x.plain("/reason", *reason)
}

// plainValue is plain for every text of a value that contract.Parse returned, and
// for the names of its members.
func (x *session) plainValue(at string, value any) error {
	switch v := value.(type) {
	case string:
		return x.plain(at, v)
	case []any:
		for i, item := range v {
			if err := x.plainValue(fmt.Sprintf("%s/%d", at, i), item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := x.plain(at, name); err != nil {
				return err
			}
			if err := x.plainValue(at+contract.Pointer(name), v[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainReport is plain for what an executor says of its run.
func (x *session) plainReport(r report) error {
	if err := x.plain("/reason", r.reason); err != nil {
		return err
	}
	for i, c := range r.checks {
		if err := x.plain(fmt.Sprintf("/checks/%d/detail", i), c.Detail); err != nil {
			return err
		}
	}
	return x.plainValue("/evidence", r.evidence)
}
