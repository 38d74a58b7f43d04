package queue_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/queue"
	"plimsoll.dev/internal/store/postgres/pgtest"
)

// children is what this test binary does when it is started as a process that
// is going to be killed. Each says on its standard output how far it has come.
var children = map[string]func(){
	"write": func() {
		n := child(queue.Config{})
		from, err := strconv.ParseInt(os.Getenv("PLIMSOLL_TEST_FROM"), 10, 64)
		exitOn(err)
		for i := from; ; i++ {
			exitOn(makeChain(context.Background(), n.store, i))
			fmt.Println(contract.NewID(contract.KindIntent, i))
		}
	},
	"work": func() {
		n := child(queue.Config{
			Node: "killed", Beat: beat, Silence: silence,
			Kinds: []queue.Kind{{Name: "judge", Retry: generation, Work: func(_ context.Context, a pipeline.Attempt) error {
				fmt.Printf("%s#%d\n", a.Key, a.Number)
				select {} // until it is killed
			}}},
		})
		exitOn(n.Run(context.Background()))
	},
}

const (
	beat    = 200 * time.Millisecond
	silence = 1500 * time.Millisecond
)

func child(conf queue.Config) *node {
	n, err := open(context.Background(), address(os.Getenv("PLIMSOLL_TEST_DATABASE")), conf)
	exitOn(err)
	return n
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// victim is a process of this test binary.
type victim struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	errs  *strings.Builder
}

func spawn(t *testing.T, what string, at address, env ...string) *victim {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), "PLIMSOLL_TEST_CHILD="+what, "PLIMSOLL_TEST_DATABASE="+string(at)), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs := &strings.Builder{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v := &victim{t: t, cmd: cmd, lines: bufio.NewScanner(out), errs: errs}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return v
}

// line is the next thing the process says.
func (v *victim) line() string {
	v.t.Helper()
	if !v.lines.Scan() {
		_ = v.cmd.Wait()
		v.t.Fatalf("the process ended by itself: %s", v.errs)
	}
	return v.lines.Text()
}

// kill ends the process as a power cut would, and answers what it still said.
func (v *victim) kill() []string {
	v.t.Helper()
	if err := v.cmd.Process.Kill(); err != nil {
		v.t.Fatal(err)
	}
	said := []string{}
	for v.lines.Scan() {
		said = append(said, v.lines.Text())
	}
	_ = v.cmd.Wait()
	return said
}

// A change, its event, its record and the job it asks for are kept together or
// not at all, and what was reported as kept is there, wherever the process is
// killed.
func TestAKilledProcessLeavesNothingHalfDone(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			reported := []string{}
			for round := range 4 {
				v := spawn(t, "write", at, "PLIMSOLL_TEST_FROM="+strconv.Itoa(1000*(round+1)))
				for range 2 + round {
					reported = append(reported, v.line())
				}
				time.Sleep(time.Duration(round) * 3 * time.Millisecond) // somewhere in a transaction
				reported = append(reported, v.kill()...)
			}
			d := &diary{now: time.Now().Add(time.Minute)}
			worked := []string{}
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: func(_ context.Context, a pipeline.Attempt) error {
				worked = append(worked, a.Key)
				return nil
			}}}})
			drain(t, n)
			slices.Sort(worked)
			there := made(t, n)
			if !slices.Equal(there, worked) {
				t.Errorf("chains %v\n  jobs %v", there, worked)
			}
			events, records := logged(t, n)
			if !slices.Equal(there, events) || !slices.Equal(there, records) {
				t.Errorf(" chains %v\n events %v\nrecords %v", there, events, records)
			}
			for _, id := range reported {
				if !slices.Contains(there, id) {
					t.Errorf("%s was reported and is not there", id)
				}
			}
		})
	}
}

// A job of a killed process runs again, and the attempt it was in does not
// count: at once where one process works alone, after its lease elsewhere.
func TestAKilledProcessGivesItsJobsBackUncounted(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			first := start(t, at, queue.Config{Kinds: []queue.Kind{{Name: "judge", Work: (&diary{}).work, Retry: generation}}})
			first.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"})
			if err := first.close(); err != nil {
				t.Fatal(err)
			}
			first.close = func() error { return nil }

			v := spawn(t, "work", at)
			if got := v.line(); got != "a#1" {
				t.Fatalf("the process works %s", got)
			}
			v.kill()

			done := make(chan string, 10)
			n := start(t, at, queue.Config{Node: "other", Beat: beat, Silence: silence, Kinds: []queue.Kind{{
				Name: "judge", Retry: generation,
				Work: func(_ context.Context, a pipeline.Attempt) error {
					done <- fmt.Sprintf("%s#%d", a.Key, a.Number)
					return nil
				},
			}}})
			began := time.Now()
			stop := running(t, n)
			if got := soon(t, done, "the job of the killed process"); got != "a#1" {
				t.Errorf("it runs again as %s, want its first attempt", got)
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			if len(done) > 0 {
				t.Errorf("it ran once more: %s", <-done)
			}
		})
	}
}

// A living node keeps its jobs, however long they take.
func TestALivingNodeKeepsItsJobs(t *testing.T) {
	at := address(pgtest.New(t))
	release, calls := make(chan struct{}), make(chan string, 10)
	kinds := []queue.Kind{{Name: "judge", Work: func(_ context.Context, a pipeline.Attempt) error {
		calls <- a.Key
		<-release
		return nil
	}}}
	busy := start(t, at, queue.Config{Node: "busy", Beat: beat, Silence: silence, Kinds: kinds})
	other := start(t, at, queue.Config{Node: "other", Beat: beat, Silence: silence, Kinds: kinds})
	busy.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"})
	stopBusy := running(t, busy)
	soon(t, calls, "the job")
	stopOther := running(t, other)
	select {
	case <-calls:
		t.Error("the job was taken from a node that lives")
	case <-time.After(2 * silence):
	}
	close(release)
	for _, stop := range []func() error{stopBusy, stopOther} {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
