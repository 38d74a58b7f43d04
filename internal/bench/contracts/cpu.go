package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc.
const tick = 10 * time.Millisecond

// clock reads processor time where the system tells it (Linux): of this process,
// and of the database server when it is another. On a machine that others use
// as well it says more than a watch.
type clock struct{ server string } // the server's process id

func clockOf(ctx context.Context, db *sql.DB, postgres bool) clock {
	var pid string
	if postgres && db.QueryRowContext(ctx, `SELECT pg_backend_pid()::text`).Scan(&pid) == nil {
		if f := stat(pid); f != nil {
			return clock{server: f[1]}
		}
	}
	return clock{}
}

// used is the time used so far by this process and by the server's processes.
func (c clock) used() (here, there time.Duration) {
	here = spent(stat("self"))
	if c.server == "" {
		return here, 0
	}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		if f := stat(filepath.Base(p)); f != nil && f[1] == c.server {
			there += spent(f)
		}
	}
	return here, there
}

// stat is the fields of /proc/PID/stat behind the name, which may hold spaces:
// state, parent, and so on.
func stat(pid string) []string {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	if f := strings.Fields(rest); len(f) > 12 {
		return f
	}
	return nil
}

func spent(f []string) time.Duration {
	if f == nil {
		return 0
	}
	var user, system int64
	if _, err := fmt.Sscan(f[11], &user); err != nil {
		return 0
	}
	if _, err := fmt.Sscan(f[12], &system); err != nil {
		return 0
	}
	return time.Duration(user+system) * tick
}

// cost is the processor time of something, for each of n.
type cost struct{ here, there time.Duration }

func (c clock) of(n int, fn func() error) (cost, error) {
	here, there := c.used()
	err := fn()
	h, t := c.used()
	return cost{(h - here) / time.Duration(n), (t - there) / time.Duration(n)}, err
}

func (c cost) sum() time.Duration { return c.here + c.there }
