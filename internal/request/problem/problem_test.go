package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/problem"
)

func TestEveryCodeHasAnAnswerOfItsKind(t *testing.T) {
	kinds := map[int]fault.Kind{400: fault.Invalid, 413: fault.Invalid, 422: fault.Invalid, 403: fault.Denied, 409: fault.Conflict}
	for _, c := range problem.Codes() {
		kind, known := kinds[c.Status()]
		if !c.Valid() || !known || fault.KindOf(problem.New(c, "x")) != kind {
			t.Errorf("%s is answered with %d, %v", c, c.Status(), fault.KindOf(problem.New(c, "x")))
		}
	}
	if problem.Code("request.unheard_of").Valid() || len(problem.Codes()) < 30 {
		t.Error("the catalogue is not what it was")
	}
}

func TestAProblemIsWrittenInTheShapeOfTheCatalogue(t *testing.T) {
	for want, p := range map[string]*problem.Problem{
		`{"code":"consent.missing","message":"x 1","retryable":true}`:                       problem.New(problem.ConsentMissing, "x %d", 1),
		`{"code":"request.field_missing","message":"x","path":"","retryable":false}`:        problem.At(problem.FieldMissing, "", "x"),
		`{"code":"request.too_large","message":"x","path":"/input_text","retryable":false}`: problem.At(problem.TooLarge, "/input_text", "x"),
		`{"code":"artifact.digest_mismatch","message":"x","retryable":false}`:               problem.New(problem.DigestMismatch, "x"),
	} {
		if got, err := json.Marshal(p); err != nil || string(got) != want {
			t.Errorf("got %s, %v", got, err)
		}
	}
}

func TestAListGivesEveryProblemAndAnEmptyOneIsNone(t *testing.T) {
	var l problem.List
	if l.Err() != nil || l.Has(problem.Breach) {
		t.Error("an empty list is an error")
	}
	l = append(l, problem.At(problem.FieldType, "/a", "no"), problem.New(problem.Breach, "never"))
	err := fmt.Errorf("read: %w", l.Err())
	if l.Error() != "request.field_type: /a: no\npolicy_breach_detected: never" || !l.Has(problem.Breach) {
		t.Errorf("got %q", l.Error())
	}
	if problem.CodeOf(err) != problem.FieldType || problem.CodeOf(errors.New("x")) != "" || fault.KindOf(l[1]) != fault.Denied {
		t.Error("the code of a list is that of its first problem")
	}
}
