// Package problem is the error catalogue of the circle: every code a request, an
// artifact or a consent may be refused with, and the one shape they travel in
// (docs/spec/circle.md §4, §5, §10).
//
// The contracts have a catalogue of their own, closed by its vectors. A caller
// meets both in the same form: an RFC 9457 document with a stable code, a JSON
// pointer, and every fault at once.
package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/fault"
)

// Code is the stable name of one reason to refuse. People read the message;
// programs switch on the code.
type Code string

// The codes. Those that the contracts know under the same name mean the same.
const (
	TooLarge        Code = "request.too_large"
	NotUTF8         Code = "request.not_utf8"
	Malformed       Code = "request.malformed"
	FieldMissing    Code = "request.field_missing"
	FieldUnknown    Code = "request.field_unknown"
	FieldDuplicate  Code = "request.field_duplicate"
	FieldType       Code = "request.field_type"
	FieldInvalid    Code = "request.field_invalid"
	OutputForbidden Code = "request.output_not_allowed"
	IDConflict      Code = "request.id_conflict"
	MemberMismatch  Code = "request.member_mismatch"
	Breach          Code = "policy_breach_detected"
	SecretFound     Code = "secrets_detected"

	TransitionForbidden Code = "artifact.transition_forbidden"
	DigestMismatch      Code = "artifact.digest_mismatch"
	ContentInvalid      Code = "artifact.content_invalid"
	VisibilityTooWide   Code = "artifact.visibility_too_wide"
	ArtifactBlocked     Code = "artifact.blocked"

	ConsentDigestMismatch Code = "consent.digest_mismatch"
	ConsentDuplicate      Code = "consent.already_decided"
	ConsentExpired        Code = "consent.expired"
	ConsentNotOwed        Code = "consent.not_owed"
	ConsentStepUp         Code = "consent.step_up_required"
	ConsentNotGranted     Code = "consent.not_granted"
	ConsentMissing        Code = "consent.missing"

	HumanRequired    Code = "circle.human_required"
	MemberRequired   Code = "circle.member_required"
	RoleRequired     Code = "circle.role_required"
	MemberExists     Code = "circle.member_exists"
	LastSteward      Code = "circle.last_steward"
	QuorumInvalid    Code = "circle.quorum_invalid"
	ChannelSuspended Code = "channel.suspended"
	ChannelActive    Code = "channel.not_suspended"

	ChallengeFailed Code = "identity.challenge_failed"
	ChallengeClosed Code = "identity.challenge_closed"
)

// entry is the HTTP status of the answer and whether the same request may
// succeed later.
type entry struct {
	status    int
	retryable bool
}

var catalogue = map[Code]entry{
	TooLarge:        {413, false},
	NotUTF8:         {400, false},
	Malformed:       {400, false},
	FieldMissing:    {400, false},
	FieldUnknown:    {400, false},
	FieldDuplicate:  {400, false},
	FieldType:       {400, false},
	FieldInvalid:    {400, false},
	OutputForbidden: {422, false},
	IDConflict:      {422, false},
	MemberMismatch:  {403, false},
	Breach:          {403, false},
	SecretFound:     {422, false},

	TransitionForbidden: {409, false},
	DigestMismatch:      {409, false},
	ContentInvalid:      {422, false},
	VisibilityTooWide:   {422, false},
	ArtifactBlocked:     {409, true},

	ConsentDigestMismatch: {409, false},
	ConsentDuplicate:      {409, false},
	ConsentExpired:        {409, false},
	ConsentNotOwed:        {403, false},
	ConsentStepUp:         {403, true},
	ConsentNotGranted:     {409, false},
	ConsentMissing:        {409, true},

	HumanRequired:    {403, false},
	MemberRequired:   {403, false},
	RoleRequired:     {403, false},
	MemberExists:     {409, false},
	LastSteward:      {409, false},
	QuorumInvalid:    {422, false},
	ChannelSuspended: {403, true},
	ChannelActive:    {409, false},

	ChallengeFailed: {403, true},
	ChallengeClosed: {409, false},
}

// Valid says whether c is in the catalogue.
func (c Code) Valid() bool { _, ok := catalogue[c]; return ok }

// Status is the HTTP status c is answered with; 0 for an unknown code.
func (c Code) Status() int { return catalogue[c].status }

// Codes is the whole catalogue, sorted.
func Codes() []Code {
	list := make([]Code, 0, len(catalogue))
	for c := range catalogue {
		list = append(list, c)
	}
	slices.Sort(list)
	return list
}

// Problem is one fault that somebody can act on. It is an error; nothing has
// changed when one is returned. The message never quotes a value of the input:
// the input may be a secret.
type Problem struct {
	Code    Code
	Message string
	Path    string // JSON pointer; "" is the document as a whole
	Pointed bool   // whether Path means anything: "" is a place too
}

// New is a problem without a place.
func New(code Code, format string, args ...any) *Problem {
	return &Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}

// At is a problem that points into a document.
func At(code Code, path, format string, args ...any) *Problem {
	return &Problem{Code: code, Message: fmt.Sprintf(format, args...), Path: path, Pointed: true}
}

// MarshalJSON writes p in the shape the contracts give theirs
// (docs/spec/contracts.md §16).
func (p *Problem) MarshalJSON() ([]byte, error) {
	var path *string
	if p.Pointed {
		path = &p.Path
	}
	return json.Marshal(struct {
		Code      Code    `json:"code"`
		Message   string  `json:"message"`
		Path      *string `json:"path,omitempty"`
		Retryable bool    `json:"retryable"`
	}{p.Code, p.Message, path, p.Retryable()})
}

// Retryable says whether the same request may succeed later.
func (p *Problem) Retryable() bool { return catalogue[p.Code].retryable }

func (p *Problem) Error() string {
	if p.Pointed && p.Path != "" {
		return string(p.Code) + ": " + p.Path + ": " + p.Message
	}
	return string(p.Code) + ": " + p.Message
}

// Unwrap gives the problem its fault kind, so that fault.KindOf answers for it.
func (p *Problem) Unwrap() error {
	kind := fault.Invalid
	switch p.Code.Status() {
	case 403:
		kind = fault.Denied
	case 409:
		kind = fault.Conflict
	}
	return fault.E("", kind, string(p.Code), nil)
}

// List is every fault at once, in the order they were found. An empty List is
// not an error; use Err to get a plain nil.
type List []*Problem

// Err is l as an error, nil when it is empty.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// Has says whether a problem of this code is in l.
func (l List) Has(c Code) bool {
	return slices.ContainsFunc(l, func(p *Problem) bool { return p.Code == c })
}

func (l List) Error() string {
	lines := make([]string, len(l))
	for i, p := range l {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As reach each problem of the list.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, p := range l {
		errs[i] = p
	}
	return errs
}

// CodeOf is the code of the first problem in err, "" when there is none.
func CodeOf(err error) Code {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Code
	}
	return ""
}
