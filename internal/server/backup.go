package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/event"
)

// Backup writes a consistent copy of an SQLite database, also while it is
// served: a reader sees one state, and never makes the writer wait.
func Backup(ctx context.Context, conf Config, to string) (err error) {
	const op = "server.Backup"
	path, ok := conf.file()
	if !ok {
		return fault.E(op, fault.Invalid, "a PostgreSQL database is copied by its own tools", nil).WithHint("pg_dump")
	}
	for _, f := range []struct {
		path  string
		there bool
	}{{path, true}, {to, false}} {
		switch _, err := os.Stat(f.path); {
		case err == nil && !f.there:
			return fault.E(op, fault.Conflict, f.path+" is there already", nil)
		case errors.Is(err, fs.ErrNotExist) && f.there:
			return fault.E(op, fault.NotFound, "there is no database at "+f.path, nil)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fault.E(op, fault.Unavailable, "look at "+f.path, err)
		}
	}
	db, err := readOnly(path)
	if err != nil {
		return fault.E(op, fault.Unavailable, "open "+path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// The copy is written under another name, so that a half of one is never taken
	// for a copy, and is nobody else's to read.
	half := to + ".part"
	file, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fault.E(op, fault.Unavailable, "write "+to, err)
	}
	if err := file.Close(); err != nil {
		return fault.E(op, fault.Unavailable, "write "+to, err)
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, half); err != nil {
		return errors.Join(fault.E(op, fault.Unavailable, "copy "+path, err), os.Remove(half))
	}
	if err := os.Rename(half, to); err != nil {
		return fault.E(op, fault.Unavailable, "write "+to, err)
	}
	return nil
}

func readOnly(path string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: path}
	return sql.Open("sqlite", u.String()+"?_busy_timeout=5000")
}

// Restore checks a copy and puts it where the service looks for its database. It
// answers how far the audit log of the copy has come.
func Restore(ctx context.Context, conf Config, from string) (head event.Head, err error) {
	const op = "server.Restore"
	path, ok := conf.file()
	if !ok {
		return head, fault.E(op, fault.Invalid, "a PostgreSQL database is restored by its own tools", nil).WithHint("pg_restore")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return head, fault.E(op, fault.Conflict, path+" is there already", err).WithHint("move it away first; restore overwrites nothing")
	}
	half := path + ".part"
	if err := copyFile(from, half); err != nil {
		return head, fault.E(op, fault.Unavailable, "copy "+from, err)
	}
	defer func() {
		for _, left := range []string{half, half + "-wal", half + "-shm", half + "-owner", half + "-owner-journal"} {
			if removed := os.Remove(left); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
				err = errors.Join(err, removed)
			}
		}
	}()
	if head, err = checkCopy(ctx, conf, half); err != nil {
		return head, err
	}
	if err := os.Rename(half, path); err != nil {
		return head, fault.E(op, fault.Unavailable, "put the copy in its place", err)
	}
	return head, nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// checkCopy opens a copy as the service would and follows its audit log.
func checkCopy(ctx context.Context, conf Config, path string) (head event.Head, err error) {
	const op = "server.Restore"
	db, err := readOnly(path)
	if err != nil {
		return head, fault.E(op, fault.Unavailable, "open the copy", err)
	}
	var verdict string
	err = db.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&verdict)
	if err = errors.Join(err, db.Close()); err != nil || verdict != "ok" {
		return head, fault.E(op, fault.Invalid, "the copy is no sound database: "+verdict, err)
	}
	conf.AuditKey, err = conf.keyFile()
	if err != nil {
		return head, err
	}
	conf.DB = "sqlite:" + path
	s, err := New(ctx, conf, Options{})
	if err != nil {
		return head, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	signer, err := readSigner(&conf)
	if err != nil {
		return head, err
	}
	// The writer of copies follows the chain and refuses one that does not hold.
	from, seal, err := s.service.AuditSeal(ctx)
	if err != nil {
		return head, err
	}
	log, err := auditlog.NewWriter(io.Discard, signer, auditlog.Options{From: from, Seal: seal})
	if err != nil {
		return head, err
	}
	for {
		lines, err := s.service.AuditList(ctx, log.Head().Count, pipeline.AuditFilter{}, 1000)
		if err != nil {
			return head, err
		}
		for _, l := range lines {
			if err := log.Add(l.Chained); err != nil {
				return head, fault.E(op, fault.Invalid, "the audit log of the copy does not hold", err)
			}
		}
		if len(lines) < 1000 {
			break
		}
	}
	want, err := s.service.AuditHead(ctx)
	if err == nil && want != log.Head() {
		err = fault.E(op, fault.Invalid, fmt.Sprintf("the audit log of the copy ends after %d records, and says %d", log.Head().Count, want.Count), nil)
	}
	return log.Head(), err
}
