package stale_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/stale"
	"plimsoll.dev/testdata/contracts"
)

type dependency struct {
	ID      contract.ID
	Version int64
	State   contract.State
}

func TestClassificationsAndRefetches(t *testing.T) {
	type vector struct {
		Name                             string
		FetchedAt                        *string
		Now                              string
		DependencyChanged, CommitChanged bool
		DigestChanged                    *bool
		Dependency                       *struct{ Fetched, Current dependency }
		Classification                   contract.Classification
		Refetch                          string
		ContractState                    contract.State
		Expected                         struct {
			Classification, ClassificationAfter contract.Classification
			Proceed, Refetch                    bool
			State                               contract.State
			Cause                               contract.Cause
			Code                                refusal.Code
		}
	}
	for _, v := range contracts.Load[vector](t, "stale") {
		want := v.Expected
		if v.Refetch != "" {
			after, freeze, err := stale.After(v.Classification, v.Refetch == "success", v.ContractState)
			state := v.ContractState
			if freeze != "" {
				state = contract.Frozen
			}
			if after != want.ClassificationAfter || (err == nil) != want.Proceed || refusal.CodeOf(err) != want.Code || freeze != want.Cause || state != want.State {
				t.Errorf("%s: %s, %q, %v", v.Name, after, freeze, err)
			}
			continue
		}
		now, _ := contract.ParseTimestamp(v.Now)
		c := stale.Copies{DependencyChanged: v.DependencyChanged, CommitChanged: v.CommitChanged, DigestChanged: v.DigestChanged}
		if v.FetchedAt != nil {
			at, _ := contract.ParseTimestamp(*v.FetchedAt)
			c.Fetched = at.Time()
		}
		if d := v.Dependency; d != nil {
			if got := stale.Changed([]stale.Dependency{stale.Dependency(d.Fetched)}, []stale.Dependency{stale.Dependency(d.Current)}); got != v.DependencyChanged {
				t.Errorf("%s: changed %v", v.Name, got)
			}
		}
		got := stale.Classify(c, now.Time())
		proceed, refetch := stale.Proceeds(got)
		if got != want.Classification || proceed != want.Proceed || refetch != want.Refetch {
			t.Errorf("%s: %s, %v, %v", v.Name, got, proceed, refetch)
		}
	}
}

func TestADependencyThatIsGoneHasChanged(t *testing.T) {
	d := stale.Dependency{ID: "IC-001", Version: 1, State: contract.Active}
	if !stale.Changed([]stale.Dependency{d}, nil) || stale.Changed([]stale.Dependency{d}, []stale.Dependency{{ID: "IC-002"}, d}) {
		t.Error("a dependency is compared by its id")
	}
}

// Waiting never makes copies fresher.
func TestCopiesOnlyAge(t *testing.T) {
	rank := map[contract.Classification]int{contract.Fresh: 0, contract.SoftStale: 1, contract.HardStaleCopies: 2}
	start := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		c := stale.Copies{Fetched: start, DependencyChanged: rapid.Bool().Draw(t, "dependency"), CommitChanged: rapid.Bool().Draw(t, "commit")}
		earlier := start.Add(time.Duration(rapid.IntRange(-100, 5000).Draw(t, "age")) * time.Second)
		later := earlier.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "wait")) * time.Second)
		if rank[stale.Classify(c, later)] < rank[stale.Classify(c, earlier)] {
			t.Fatal("copies became fresher")
		}
	})
}
