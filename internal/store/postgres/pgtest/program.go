package pgtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Program starts the server for a program that is no test. open makes an empty
// schema and answers its URL, as New does; stop ends the server. Missing tells
// an error that only means that PostgreSQL is not installed here.
func Program() (open func() (string, error), stop func() error, err error) {
	s, err := shared()
	if err != nil {
		return nil, nil, err
	}
	open = func() (string, error) {
		name := fmt.Sprintf("test_%d", count.Add(1))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		conn, err := pgx.Connect(ctx, s.url(""))
		if err != nil {
			return "", err
		}
		_, err = conn.Exec(ctx, "CREATE SCHEMA "+name)
		return s.url(name), errors.Join(err, conn.Close(ctx))
	}
	return open, s.stop, nil
}

// Missing says whether an error of Program means that PostgreSQL is not
// installed.
func Missing(err error) bool {
	_, ok := errors.AsType[*missingError](err)
	return ok
}
