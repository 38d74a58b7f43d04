package postgres_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/postgres"
	"plimsoll.dev/internal/store/postgres/pgtest"
	"plimsoll.dev/internal/store/storetest"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, conf store.Config) *store.Store {
		t.Helper()
		db, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.New(t)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.New(t.Context(), db, conf)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}
