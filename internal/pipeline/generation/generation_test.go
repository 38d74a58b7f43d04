package generation_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/generation"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/testdata/contracts"
)

type call struct {
	SourceContractID contract.ID
	SourceVersion    int64
	TargetKind       contract.Kind
	Discriminator    string
}

type vector struct {
	Name, Scope            string
	Attempt                int
	Failures               *int
	FailureCode            refusal.Code
	TargetKind, SourceKind contract.Kind
	TargetState            contract.State
	ElapsedSeconds         float64
	Calls                  []call
	Expected               struct {
		OK                                       *bool
		Code                                     refusal.Code
		DelaySecondsBefore, EarliestStartSeconds float64
		Attempts                                 int
		TotalDelaySeconds                        float64
		Retry                                    bool
		Frozen                                   *struct {
			Contract string
			Kind     contract.Kind
		}
		WithinBudget     bool
		Refused          *bool
		Keys             []string
		Created, Revised int
		FinalVersion     int
		Events           map[event.Type]int
	}
}

func TestAttemptsBudgetsAndKeys(t *testing.T) {
	run := map[string]int{}
	for _, v := range contracts.Load[vector](t, "retry") {
		want := v.Expected
		switch {
		case v.Scope == "generation" && v.Attempt > 0:
			earliest := time.Duration(0)
			var delay time.Duration
			var err error
			for n := 1; n <= v.Attempt && err == nil; n++ {
				delay, err = generation.Delay(n)
				earliest += delay
			}
			if refusal.CodeOf(err) != want.Code || err == nil && (delay.Seconds() != want.DelaySecondsBefore || earliest.Seconds() != want.EarliestStartSeconds) {
				t.Errorf("%s: %v, %v, %v", v.Name, delay, earliest, err)
			}
		case v.Scope == "generation" && v.FailureCode != "":
			if got := generation.Retried(v.FailureCode); got != want.Retry {
				t.Errorf("%s: got %v", v.Name, got)
			}
		case v.Scope == "generation" && v.TargetKind != "":
			frozen, kind := "source", v.SourceKind
			if generation.FreezesTarget(v.TargetState) {
				frozen, kind = "target", v.TargetKind
			}
			_, err := generation.Delay(*v.Failures + 1)
			if frozen != want.Frozen.Contract || kind != want.Frozen.Kind || refusal.CodeOf(err) != want.Code {
				t.Errorf("%s: %s %s, %v", v.Name, frozen, kind, err)
			}
		case v.Scope == "generation":
			attempts, total := 0, time.Duration(0)
			var err error
			for failures := 0; failures <= *v.Failures; failures++ {
				var delay time.Duration
				if delay, err = generation.Delay(failures + 1); err != nil {
					break
				}
				attempts++
				total += delay
			}
			if (err == nil) != *want.OK || refusal.CodeOf(err) != want.Code || attempts != want.Attempts || total.Seconds() != want.TotalDelaySeconds {
				t.Errorf("%s: %d attempts, %v, %v", v.Name, attempts, total, err)
			}
		case v.Scope == "budget":
			elapsed := time.Duration(v.ElapsedSeconds * float64(time.Second))
			err := generation.InTime(v.TargetKind, elapsed)
			inside := elapsed <= generation.Budget(v.TargetKind)
			refused := want.Refused == nil && !want.WithinBudget
			if inside != want.WithinBudget || (err != nil) != refused || refused && refusal.CodeOf(err) != want.Code {
				t.Errorf("%s: %v, %v", v.Name, inside, err)
			}
		case v.Scope == "idempotency":
			generated(t, v)
		default: // phase and returns: package phase
			continue
		}
		run[v.Scope]++
	}
	if run["generation"] != 28 || run["budget"] != 9 || run["idempotency"] != 6 {
		t.Errorf("run: %v", run)
	}
}

// generated plays the calls against a store of keys, as the use case does: the
// plain key covers the creation of an Acceptance, the key of each judged result
// its revisions.
func generated(t *testing.T, v vector) {
	t.Helper()
	seen := map[string]bool{}
	var keys []string
	created, revised := 0, 0
	for _, c := range v.Calls {
		k := generation.Key{Source: c.SourceContractID, Version: c.SourceVersion, Target: c.TargetKind, Discriminator: c.Discriminator}
		keys = append(keys, k.String())
		if seen[k.String()] {
			continue
		}
		seen[k.String()] = true
		plain := k
		plain.Discriminator = ""
		if c.TargetKind == contract.KindAcceptance && c.Discriminator != "" && seen[plain.String()] {
			revised++
			continue
		}
		if c.TargetKind == contract.KindAcceptance {
			seen[plain.String()] = true
		}
		created++
	}
	want := v.Expected
	if !slices.Equal(keys, want.Keys) || created != want.Created || revised != want.Revised {
		t.Errorf("%s: %q, created %d, revised %d", v.Name, keys, created, revised)
	}
	for _, n := range want.Events {
		if n != created+revised {
			t.Errorf("%s: %d events for %d", v.Name, n, created+revised)
		}
	}
}

func TestADuplicateNamesTheFirstTarget(t *testing.T) {
	err := generation.Duplicate(generation.Key{Source: "IC-001", Version: 1, Target: contract.KindTaskSeed}, "TS-001")
	r, ok := errors.AsType[*refusal.Refusal](err)
	if !ok || r.Code != refusal.GenerationDuplicate || r.ID != "TS-001" || generation.Retried(r.Code) {
		t.Errorf("got %v", err)
	}
	if err := generation.Internal(errors.New("boom")); !generation.Retried(refusal.CodeOf(err)) {
		t.Errorf("got %v", err)
	}
}
