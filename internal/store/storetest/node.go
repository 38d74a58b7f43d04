package storetest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
)

func nodes(t *testing.T, open Open) {
	t.Helper()
	t.Run("a silent node is buried once, and cannot come back", func(t *testing.T) {
		b := newBench(t, open)
		for _, node := range []string{"a", "b"} {
			if err := b.store.Beat(t.Context(), node, true); err != nil {
				t.Fatal(err)
			}
		}
		b.at(10 * time.Second)
		if err := b.store.Beat(t.Context(), "b", false); err != nil {
			t.Fatal(err)
		}
		bury := func(want string) {
			t.Helper()
			var told []string
			dead, err := b.store.Bury(t.Context(), 10*time.Second, func(_ context.Context, _ *sql.Tx, node string) error {
				told = append(told, node)
				return nil
			})
			if got := strings.Join(dead, " "); err != nil || got != want || strings.Join(told, " ") != want {
				t.Errorf("buried %q and told %q, want %q (%v)", got, told, want, err)
			}
		}
		bury("")
		b.at(11 * time.Second)
		bury("a")
		bury("")
		if err := b.store.Beat(t.Context(), "a", false); !errors.Is(err, pipeline.ErrLeaseLost) {
			t.Errorf("the dead node beat: %v", err)
		}
		if err := b.store.Leave(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		b.at(time.Hour)
		bury("")
	})

	t.Run("a node stays when what follows from its death cannot be done", func(t *testing.T) {
		b := newBench(t, open)
		if err := b.store.Beat(t.Context(), "a", true); err != nil {
			t.Fatal(err)
		}
		b.at(time.Minute)
		if _, err := b.store.Bury(t.Context(), time.Second, func(context.Context, *sql.Tx, string) error { return errUndo }); err == nil {
			t.Error("the error was swallowed")
		}
		if err := b.store.Beat(t.Context(), "a", false); err != nil {
			t.Error(err)
		}
	})
}
