package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"time"

	"plimsoll.dev/internal/fault"
)

// Database is an open database: what the packages sqlite and postgres hand out
// and New takes. The pools may be the same.
type Database struct {
	Write *sql.DB
	Read  *sql.DB
	// Upkeep gives places and renews leases. It must not queue behind the
	// writers: they wait for the one, and without the other the node is dead.
	Upkeep  *sql.DB
	Dialect Dialect
	Close   func() error
}

// Dialect is everything the two databases do differently. The rest of this
// package is one text for both: it numbers its parameters ($1, $2, ...), which
// SQLite reads as well.
type Dialect struct {
	Name string

	// ForUpdate follows a SELECT whose rows are to be locked. SQLite needs
	// none: there is only one writer.
	ForUpdate string

	// TryKey takes the text $1 for the rest of the transaction and answers
	// whether it got it; empty where writers are one after the other anyway.
	TryKey string

	// Clock reads the clock of the database in microseconds; empty when the
	// process's own clock is the one of the service.
	Clock string

	// Number counts up the kind $1 of contract and answers the number, and
	// whether a contract has it already behind the prefix $2.
	Number string

	// Size reads how many bytes the database takes.
	Size string

	// Holds says that the bytes of $column have $bytes in them.
	Holds string

	// Together sends writes without waiting for each; nil where a statement is
	// a call and no message.
	Together Together

	// FullText is how words are found.
	FullText FullText

	// Bytes is the type of columns that hold bytes.
	Bytes string

	// Write and Read are how the transactions begin.
	Write, Read sql.TxOptions

	// Grouped says that commits are dear and writers one after the other
	// anyway, so that several updates share one.
	Grouped bool

	// Again says whether err asks for the transaction to be run once more.
	Again func(error) bool
	// Taken says whether err is a broken unique constraint.
	Taken func(error) bool
	// Missing says whether err is a reference to a row that is not there.
	Missing func(error) bool
	// Away says whether err means that the database does not answer.
	Away func(error) bool

	// Exclusive runs fn while no other process migrates this database.
	Exclusive func(ctx context.Context, db *sql.DB, fn func(*sql.Conn) error) error
	// Migrations is the files NNNN_name.sql.
	Migrations fs.FS
}

// micros is an instant as it is stored; an absent one is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// instant reads what micros wrote.
type instant struct{ to *time.Time }

// Scan implements sql.Scanner.
func (i instant) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*i.to = time.Time{}
	case int64:
		*i.to = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("an instant is stored as %T", v)
	}
	return nil
}

// fail gives a fault its kind. An error that already has one keeps it.
func (d *Dialect) fail(op, what string, err error) error {
	switch {
	case d.Again(err):
		return &againError{fault.E(op, fault.Unavailable, what, err)}
	case d.Taken(err):
		return fault.E(op, fault.Conflict, what, err)
	case d.Missing(err):
		return fault.E(op, fault.NotFound, what, err)
	case d.Away(err):
		return fault.E(op, fault.Unavailable, what, err)
	}
	return fault.E(op, fault.Internal, what, err)
}

// againError asks Update to run its function once more.
type againError struct{ err *fault.Error }

func (a *againError) Error() string { return a.err.Error() }
func (a *againError) Unwrap() error { return a.err }
