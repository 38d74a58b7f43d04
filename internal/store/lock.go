package store

import (
	"database/sql"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

const lockColumns = `key, token, holder, actor, acquired_at, heartbeat_at`

func scanLock(rows *sql.Rows) (pipeline.Lock, error) {
	var l pipeline.Lock
	err := rows.Scan(&l.Key, &l.Token, &l.Holder, &l.Actor, instant{&l.AcquiredAt}, instant{&l.HeartbeatAt})
	return l, err
}

// Locks implements pipeline.Reader.
func (r *reader) Locks(keys ...string) ([]pipeline.Lock, error) {
	const op = "store.Locks"
	what := "read the locks " + strings.Join(keys, ", ")
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	if len(keys) == 0 {
		return []pipeline.Lock{}, nil
	}
	if !r.writing {
		return r.locksOf(op, what, keys, "")
	}
	list := make([]pipeline.Lock, 0, len(keys))
	for _, key := range keys {
		if l, ok := r.locks[key]; ok {
			list = append(list, l)
		}
	}
	if len(list) == len(keys) {
		return list, nil
	}
	// A row that is not there cannot be locked, so it is made first, in the same
	// ascending order. A single one is there more often than not.
	made := len(keys) > 1
	for {
		if made {
			for _, key := range keys {
				_, err := r.exec(op, what, `INSERT INTO locks (key, token, holder, actor) VALUES ($1, 0, '', '') ON CONFLICT DO NOTHING`, key)
				if err != nil {
					return nil, err
				}
			}
		}
		w := &where{}
		in(w, "key", keys)
		list, err := rows(r, op, what, scanLock, `SELECT `+lockColumns+` FROM locks`+w.String()+` ORDER BY key`+r.d.ForUpdate, w.args...)
		if err != nil {
			return nil, err
		}
		if made = len(list) < len(keys); made {
			continue
		}
		for _, l := range list {
			r.locks[l.Key] = l
		}
		return list, nil
	}
}

// locksOf is the rows of keys, whether they are there or not.
func (r *reader) locksOf(op, what string, keys []string, suffix string) ([]pipeline.Lock, error) {
	w := &where{}
	in(w, "key", keys)
	found, err := rows(r, op, what, scanLock, `SELECT `+lockColumns+` FROM locks`+w.String()+` ORDER BY key`+suffix, w.args...)
	if err != nil {
		return nil, err
	}
	list := make([]pipeline.Lock, len(keys))
	for i, key := range keys {
		list[i].Key = key
		if len(found) > 0 && found[0].Key == key {
			list[i], found = found[0], found[1:]
		}
	}
	return list, nil
}

// Holding implements pipeline.Reader.
func (r *reader) Holding(holder string) ([]pipeline.Hold, error) {
	return rows(r, "store.Holding", "read what "+holder+" holds", func(rows *sql.Rows) (pipeline.Hold, error) {
		var h pipeline.Hold
		err := rows.Scan(&h.Key, &h.Token, &h.Actor, instant{&h.At})
		return h, err
	}, `SELECT key, token, actor, at FROM lock_holds WHERE holder = $1 ORDER BY key`, holder)
}

// LockList implements pipeline.Reader.
func (r *reader) LockList(f pipeline.LockFilter, p pipeline.Page) ([]pipeline.Lock, error) {
	w := &where{}
	w.add("holder <> ''")
	in(w, "key", f.Keys)
	in(w, "holder", f.Holders)
	w.within("heartbeat_at", f.Since, time.Time{})
	begins := make([]string, len(f.Prefixes))
	for i, prefix := range f.Prefixes {
		begins[i] = "substr(key, 1, length(" + w.arg(prefix) + ")) = " + w.arg(prefix)
	}
	if len(begins) > 0 {
		w.add("(" + strings.Join(begins, " OR ") + ")")
	}
	if p.Behind.ID != "" {
		w.add("key > " + w.arg(p.Behind.ID))
	}
	return rows(r, "store.LockList", "list locks", scanLock, `SELECT `+lockColumns+` FROM locks`+w.String()+` ORDER BY key`+w.limit(p.Limit), w.args...)
}

// PutLock implements pipeline.Tx.
func (t *tx) PutLock(l pipeline.Lock) error {
	const op = "store.PutLock"
	what := "write the lock " + l.Key
	err := t.later(op, what, gone, `UPDATE locks SET token = $2, holder = $3, actor = $4, acquired_at = $5, heartbeat_at = $6 WHERE key = $1 AND token <= $2`,
		l.Key, l.Token, l.Holder, string(l.Actor), micros(l.AcquiredAt), micros(l.HeartbeatAt))
	if err != nil {
		return err
	}
	t.locks[l.Key] = l
	if l.Holder == "" {
		return nil
	}
	return t.later(op, what, nil, `INSERT INTO lock_holds (holder, key, token, actor, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (holder, key) DO UPDATE SET token = excluded.token, actor = excluded.actor, at = excluded.at WHERE lock_holds.token <> excluded.token`,
		l.Holder, l.Key, l.Token, string(l.Actor), l.AcquiredAt.UnixMicro())
}

// Fence implements pipeline.Tx.
func (t *tx) Fence(key string, token int64) error {
	const op = "store.Fence"
	locks, err := t.Locks(key)
	if err != nil {
		return err
	}
	if l := locks[0]; l.Token != token || l.Holder == "" {
		return fault.E(op, fault.Conflict, "the token of "+key+" is not the live one", nil)
	}
	return nil
}
