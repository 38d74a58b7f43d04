package refusal_test

import (
	"encoding/json"
	"errors"
	"testing"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/testdata/contracts"
)

func TestTheCatalogueSaysWhatTheVectorsSay(t *testing.T) {
	type vector struct {
		Name, Mode string
		Code       refusal.Code
		Expected   struct {
			Layer     refusal.Layer
			Status    any
			Retryable bool
		}
	}
	seen := 0
	for _, v := range contracts.Load[vector](t, "surface") {
		if v.Mode != "code" {
			continue
		}
		seen++
		got := v.Code.Entry()
		status := refusal.Never
		switch s := v.Expected.Status.(type) {
		case string:
			status = refusal.Line
		case interface{ Int64() (int64, error) }:
			n, _ := s.Int64()
			status = int(n)
		}
		if !v.Code.Valid() || got.Layer != v.Expected.Layer || got.Status != status || got.Retryable != v.Expected.Retryable {
			t.Errorf("%s: got %+v, want %+v", v.Name, got, v.Expected)
		}
	}
	if seen != 135 || len(refusal.Codes()) != seen {
		t.Errorf("%d vectors for %d codes", seen, len(refusal.Codes()))
	}
}

func TestARefusalIsAFaultOfItsKind(t *testing.T) {
	for code, kind := range map[refusal.Code]fault.Kind{
		refusal.RefNotFound:           fault.NotFound,
		refusal.GateExpired:           fault.Conflict,
		refusal.ContractSchemaInvalid: fault.Invalid,
		refusal.RoleNotPermitted:      fault.Denied,
		refusal.StoreUnavailable:      fault.Unavailable,
		refusal.RequestInternal:       fault.Internal,
		refusal.LockExhausted:         fault.Conflict,
	} {
		if got := fault.KindOf(refusal.New(code, "x")); got != kind {
			t.Errorf("%s is %s, want %s", code, got, kind)
		}
	}
}

func TestAListGivesEveryFaultAndAnEmptyOneIsNone(t *testing.T) {
	var l refusal.List
	if l.Err() != nil {
		t.Error("an empty list is an error")
	}
	l = append(l, refusal.At(refusal.ContractSchemaInvalid, "/id", "no"), refusal.New(refusal.RefNotFound, "gone"))
	err := l.Err()
	if err.Error() != "contract.schema_invalid: /id: no\nref.not_found: gone" {
		t.Errorf("got %q", err)
	}
	if refusal.CodeOf(err) != refusal.ContractSchemaInvalid || refusal.CodeOf(errors.New("x")) != "" {
		t.Error("the code of a list is that of its first refusal")
	}
	if !refusal.New(refusal.StaleHard, "x").Retryable() || refusal.New(refusal.GateRejected, "x").Retryable() {
		t.Error("retryable is not what the catalogue says")
	}
}

func TestARefusalIsWrittenInTheShapeOfTheCatalogue(t *testing.T) {
	for want, r := range map[string]*refusal.Refusal{
		`{"code":"store.unavailable","message":"x","retryable":true}`:                  refusal.New(refusal.StoreUnavailable, "x"),
		`{"code":"contract.schema_invalid","message":"x","path":"","retryable":false}`: refusal.At(refusal.ContractSchemaInvalid, "", "x"),
		`{"code":"gate.expired","message":"x","kind":"PublishGate","id":"PG-001","version":2,"retryable":false}`: refusal.New(
			refusal.GateExpired, "x").About("PublishGate", "PG-001", 2),
	} {
		got, err := json.Marshal(r)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v", got, err)
		}
	}
}
