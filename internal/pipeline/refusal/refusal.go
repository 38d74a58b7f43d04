// Package refusal is the error catalogue of the contracts: every code a layer
// may answer with, and the one shape they travel in.
//
// A code belongs to exactly one layer, the one that owns its rule, and is
// raised in the code of that layer only. A layer that needs the answer of
// another calls it and passes the code on unchanged
// (docs/spec/contracts.md §0.1, §16). A test reads the sources of the pipeline
// and holds every raise against the catalogue.
package refusal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/fault"
)

// Layer is a part of the service that answers for a family of rules.
type Layer string

// The layers, in the order in which they are asked where nothing else is said.
const (
	Surface      Layer = "surface"
	Ingest       Layer = "ingest"
	Schema       Layer = "schema"
	Application  Layer = "application"
	Orchestrator Layer = "orchestrator"
	Policy       Layer = "policy"
)

// Valid says whether c is in the catalogue. Warnings are not.
func (c Code) Valid() bool { _, ok := catalogue[c]; return ok }

// Entry is what the catalogue says of c; the zero Entry for an unknown code.
func (c Code) Entry() Entry { return catalogue[c] }

// Codes is the whole catalogue, sorted.
func Codes() []Code {
	list := make([]Code, 0, len(catalogue))
	for c := range catalogue {
		list = append(list, c)
	}
	slices.Sort(list)
	return list
}

// Refusal is one fault that somebody can act on. It is an error; nothing has
// changed when one is returned, unless the function that returns it says so.
type Refusal struct {
	Code    Code
	Message string
	Path    string // JSON pointer; "" is the document as a whole
	Pointed bool   // whether Path means anything: "" is a place too
	Keyword string // of the JSON Schema, where one failed
	Kind    string
	ID      string
	Version int64
}

// MarshalJSON writes r in the shape of docs/spec/contracts.md §16.
func (r *Refusal) MarshalJSON() ([]byte, error) {
	var path *string
	if r.Pointed {
		path = &r.Path
	}
	return json.Marshal(struct {
		Code      Code    `json:"code"`
		Message   string  `json:"message"`
		Path      *string `json:"path,omitempty"`
		Keyword   string  `json:"keyword,omitempty"`
		Kind      string  `json:"kind,omitempty"`
		ID        string  `json:"id,omitempty"`
		Version   int64   `json:"version,omitempty"`
		Retryable bool    `json:"retryable"`
	}{r.Code, r.Message, path, r.Keyword, r.Kind, r.ID, r.Version, r.Retryable()})
}

// New is a refusal without a place.
func New(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// At is a refusal that points into a document.
func At(code Code, path, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...), Path: path, Pointed: true}
}

// About is a copy of r that names the contract concerned.
func (r *Refusal) About(kind, id string, version int64) *Refusal {
	c := *r
	c.Kind, c.ID, c.Version = kind, id, version
	return &c
}

// Retryable says whether the same request may succeed later.
func (r *Refusal) Retryable() bool { return r.Code.Entry().Retryable }

func (r *Refusal) Error() string {
	if r.Pointed && r.Path != "" {
		return string(r.Code) + ": " + r.Path + ": " + r.Message
	}
	return string(r.Code) + ": " + r.Message
}

// Unwrap gives the refusal its fault kind, so that fault.KindOf answers for it.
func (r *Refusal) Unwrap() error {
	return fault.E("", kindOf(r.Code.Entry()), string(r.Code), nil)
}

func kindOf(e Entry) fault.Kind {
	switch e.Status {
	case 404, 410:
		return fault.NotFound
	case 409, 412:
		return fault.Conflict
	case 401, 403:
		return fault.Denied
	case 429, 503:
		return fault.Unavailable
	case 500:
		return fault.Internal
	case Never:
		return fault.Conflict
	}
	return fault.Invalid
}

// List is every fault of one document at once, in the order they were found.
// An empty List is not an error; use Err to get a plain nil.
type List []*Refusal

// Err is l as an error, nil when it is empty.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// Codes is the codes of l in order.
func (l List) Codes() []Code {
	codes := make([]Code, len(l))
	for i, r := range l {
		codes[i] = r.Code
	}
	return codes
}

func (l List) Error() string {
	lines := make([]string, len(l))
	for i, r := range l {
		lines[i] = r.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As reach each refusal of the list.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, r := range l {
		errs[i] = r
	}
	return errs
}

// CodeOf is the code of the first refusal in err, "" when there is none.
func CodeOf(err error) Code {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Code
	}
	return ""
}
