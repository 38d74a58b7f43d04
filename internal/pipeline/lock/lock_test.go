package lock_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/testdata/contracts"
)

var start = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

type outcome struct {
	OK                  bool
	Code                refusal.Code
	Key                 string
	MissedHeartbeats    int
	Breakable, Expired  bool
	Token               int64
	Broken              bool
	AttemptTimesSeconds []float64
	State               contract.State
	Cause               contract.Cause
}

type vector struct {
	Name, Mode, Key, Path     string
	SecondsSinceLastHeartbeat float64
	Steps                     []struct {
		T        float64
		Op       string
		Holder   lock.Holder
		Token    int64
		Expected outcome
	}
	Keys          []string
	Failures      int
	ContractState contract.State
	Expected      outcome
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func TestLocks(t *testing.T) {
	for _, v := range contracts.Load[vector](t, "locks") {
		want := v.Expected
		switch v.Mode {
		case "key":
			if _, err := lock.ParseKey(v.Key); refusal.CodeOf(err) != want.Code {
				t.Errorf("%s: got %v", v.Name, err)
			}
		case "normalize":
			k, err := lock.Path(v.Path)
			if refusal.CodeOf(err) != want.Code || string(k) != want.Key {
				t.Errorf("%s: got %q, %v", v.Name, k, err)
			}
		case "age":
			d := seconds(v.SecondsSinceLastHeartbeat)
			if lock.Missed(d) != want.MissedHeartbeats || lock.Breakable(d) != want.Breakable || lock.Expired(d) != want.Expired {
				t.Errorf("%s: %d, %v, %v", v.Name, lock.Missed(d), lock.Breakable(d), lock.Expired(d))
			}
		case "timeline":
			timeline(t, v)
		case "independent":
			for _, key := range v.Keys {
				if _, err := lock.ParseKey(key); err != nil {
					t.Errorf("%s: %v", v.Name, err)
				}
				if _, _, err := (lock.Lock{}).Acquire("a", start); err != nil {
					t.Errorf("%s: %v", v.Name, err)
				}
			}
		case "retry":
			retry(t, v)
		default:
			t.Errorf("%s: mode %q", v.Name, v.Mode)
		}
	}
}

func timeline(t *testing.T, v vector) {
	t.Helper()
	var l lock.Lock
	had := map[lock.Holder]bool{}
	for _, s := range v.Steps {
		now := start.Add(seconds(s.T))
		var (
			broken bool
			err    error
		)
		switch s.Op {
		case "acquire":
			l, broken, err = l.Acquire(s.Holder, now)
			had[s.Holder] = had[s.Holder] || err == nil
		case "heartbeat":
			l, err = l.Renew(s.Holder, had[s.Holder], now)
		case "release":
			l, err = l.Release(s.Holder, had[s.Holder], now)
		case "write":
			err = l.Fence(s.Token, now)
		case "preempt":
			l = l.Preempt(now)
		default:
			t.Fatalf("op %q", s.Op)
		}
		if (err == nil) != s.Expected.OK || refusal.CodeOf(err) != s.Expected.Code || broken != s.Expected.Broken || s.Expected.Token > 0 && l.Token != s.Expected.Token {
			t.Errorf("%s, %s at %v: token %d, broken %v, %v", v.Name, s.Op, s.T, l.Token, broken, err)
		}
	}
}

func retry(t *testing.T, v vector) {
	t.Helper()
	var times []float64
	at, failed := time.Duration(0), 0
	var err error
	for {
		var d time.Duration
		if d, err = lock.Delay(failed + 1); err != nil {
			break
		}
		at += d
		times = append(times, at.Seconds())
		if failed == v.Failures {
			break
		}
		failed++
	}
	want := v.Expected
	state, cause := v.ContractState, contract.Cause("")
	if err != nil {
		if cause = lock.Exhausted(v.ContractState); cause != "" {
			state = contract.Frozen
		}
	}
	if (err == nil) != want.OK || refusal.CodeOf(err) != want.Code || !slices.Equal(times, want.AttemptTimesSeconds) || cause != want.Cause || want.State != "" && state != want.State {
		t.Errorf("%s: %v, %s, %q, %v", v.Name, times, state, cause, err)
	}
}

// Whatever contenders do, at most one of them can write, the token never
// shrinks, and only the newest token writes.
func TestOnlyOneHolderWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l lock.Lock
		now := start
		tokens := map[lock.Holder]int64{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "seconds")) * time.Second)
			h := rapid.SampledFrom([]lock.Holder{"a", "b", "c"}).Draw(t, "holder")
			before := l
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0:
				next, _, err := l.Acquire(h, now)
				if err == nil {
					tokens[h] = next.Token
				}
				l = next
			case 1:
				l, _ = l.Renew(h, tokens[h] > 0, now)
			case 2:
				l, _ = l.Release(h, tokens[h] > 0, now)
			case 3:
				l = l.Preempt(now)
			}
			if l.Token < before.Token {
				t.Fatal("the token shrank")
			}
			writers := 0
			for _, token := range tokens {
				if l.Fence(token, now) == nil {
					writers++
				}
			}
			if writers > 1 || writers == 1 && !l.Held(now) {
				t.Fatalf("%d may write", writers)
			}
		}
	})
}

func TestAServiceWriteGivesWayToALiveHolder(t *testing.T) {
	l, _, _ := lock.Lock{}.Acquire("exec-0001", start)
	if err := l.Free("service", start.Add(time.Second)); refusal.CodeOf(err) != refusal.LockHeld {
		t.Errorf("got %v", err)
	}
	if err := l.Free("exec-0001", start.Add(time.Second)); err != nil {
		t.Error(err)
	}
	if err := l.Free("service", l.Until()); err != nil {
		t.Error(err)
	}
}

func TestPathsOfOneFileAreOneKey(t *testing.T) {
	a, err1 := lock.ParseKey("repo-path:caf\u00e9/./x")
	b, err2 := lock.ParseKey(`repo-path:cafe` + "\u0301" + `\x`)
	if err1 != nil || err2 != nil || a != b {
		t.Errorf("%q and %q", a, b)
	}
	if _, err := lock.ParseKey("repo-path:/etc"); refusal.CodeOf(err) != refusal.LockPathInvalid {
		t.Errorf("got %v", err)
	}
	keys := lock.Sorted([]lock.Key{"repo-path:b", lock.Contract("TS-001"), "repo-path:b"})
	if !slices.Equal(keys, []lock.Key{"contract:TS-001", "repo-path:b"}) {
		t.Errorf("got %v", keys)
	}
}

// A normalised path is relative, has no empty or dotted segment, and is its own
// normal form.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"docs/spec.md", `a\..\b`, "./a//b/", "..", "C:/x", "a/..", "\x00", "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		k, err := lock.Path(path)
		if err != nil {
			if refusal.CodeOf(err) != refusal.LockPathInvalid {
				t.Fatal(err)
			}
			return
		}
		normal := strings.TrimPrefix(string(k), "repo-path:")
		again, err := lock.Path(normal)
		if err != nil || again != k {
			t.Fatalf("%q, then %q, %v", k, again, err)
		}
		if normal == "." {
			return
		}
		for _, segment := range strings.Split(normal, "/") {
			if segment == "" || segment == "." || segment == ".." {
				t.Fatalf("%q", normal)
			}
		}
	})
}
