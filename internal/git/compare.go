package git

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// verdict is what the own comparison says of a tracked protected path (§2.2,
// ruling R17). Git trusts time stamps and flags; this trusts bytes.
type verdict byte

const (
	asListed  verdict = iota // absent and not flagged: Git's to say
	unchanged                // the disk holds the index entry's bytes
	modified
	deleted
)

// letter is how status would say it.
func (v verdict) letter() byte {
	switch v {
	case modified:
		return 'M'
	case deleted:
		return 'D'
	case asListed, unchanged:
	}
	return '.'
}

// compare holds one index entry against the disk. Absent says that nothing lies
// there.
func (d *disk) compare(t *tracked) (v verdict, absent bool) {
	st, err := d.look(t.path)
	switch {
	case err != nil:
		return modified, false
	case st.info == nil && t.tag == 'S':
		return unchanged, true // left out by a sparse checkout
	case st.info == nil && t.tag >= 'a' && t.tag <= 'z':
		return deleted, true
	case st.info == nil:
		return asListed, true
	case d.holds(t.path, st.info, t.entry):
		return unchanged, false
	}
	return modified, false
}

// holds says whether what lies on disk at path is the entry's object, CRLF
// counting as LF where the object has LF.
func (d *disk) holds(path string, info os.FileInfo, e entry) bool {
	switch {
	case isLink(info):
		text, err := os.Readlink(d.full(path))
		return err == nil && e.link() && objectID("blob", []byte(text), len(e.id)) == e.id
	case info.Mode().IsRegular():
		if e.link() && runtime.GOOS != "windows" || e.gitlink() {
			return false
		}
		id, crlf, err := d.hash(path, info.Size(), 0, len(e.id))
		if err != nil || id == e.id || crlf == 0 {
			return err == nil && id == e.id
		}
		id, _, err = d.hash(path, info.Size(), crlf, len(e.id))
		return err == nil && id == e.id
	}
	return false
}

// hash is the object id of the file's bytes and the number of CRLF pairs in
// it. With drop > 0 every CR before an LF is left out; drop is their number.
func (d *disk) hash(path string, size, drop int64, idLength int) (id string, crlf int64, err error) {
	f, err := openNoFollow(d.full(path))
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := newHash(idLength)
	fmt.Fprintf(h, "blob %d\x00", size-drop)
	w := &crlfCounter{next: h, drop: drop > 0}
	if d.block == nil {
		d.block = make([]byte, 64<<10)
	}
	for {
		n, err := f.Read(d.block)
		w.write(d.block[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", 0, err
		}
	}
	w.flush()
	return hex.EncodeToString(h.Sum(nil)), w.pairs, nil
}

// crlfCounter counts CRLF pairs on the way to a hash and, if told to, drops
// the CR of each.
type crlfCounter struct {
	next  hash.Hash
	drop  bool
	held  bool // a CR at the end of the last block, not yet written
	pairs int64
}

func (w *crlfCounter) write(p []byte) {
	if w.held && len(p) > 0 {
		if p[0] == '\n' {
			w.pairs++
		}
		if p[0] != '\n' || !w.drop {
			w.next.Write([]byte{'\r'})
		}
		w.held = false
	}
	for {
		i := bytes.IndexByte(p, '\r')
		if i < 0 {
			w.next.Write(p)
			return
		}
		if i+1 == len(p) {
			w.next.Write(p[:i])
			w.held = true
			return
		}
		end := i + 1
		if p[end] == '\n' {
			w.pairs++
			if w.drop {
				end = i
			}
		}
		w.next.Write(p[:end])
		p = p[i+1:]
	}
}

func (w *crlfCounter) flush() {
	if w.held {
		w.next.Write([]byte{'\r'})
		w.held = false
	}
}

// lfsHashBound is how many bytes of files kept by Git LFS one run hashes.
const lfsHashBound = 256 << 20

// lfsPointer reads a Git LFS pointer: its version line, optional ext- lines,
// an id and a size, and nothing else.
func lfsPointer(blob []byte) (sum string, size int64, ok bool) {
	lines := strings.Split(strings.TrimSuffix(string(blob), "\n"), "\n")
	if len(blob) > 1024 || len(lines) < 3 || lines[0] != "version https://git-lfs.github.com/spec/v1" {
		return "", 0, false
	}
	lines = lines[1:]
	for len(lines) > 2 {
		if !strings.HasPrefix(lines[0], "ext-") {
			return "", 0, false
		}
		lines = lines[1:]
	}
	sum, isSum := strings.CutPrefix(lines[0], "oid sha256:")
	number, isSize := strings.CutPrefix(lines[1], "size ")
	size, err := strconv.ParseInt(number, 10, 64)
	if _, hexErr := hex.DecodeString(sum); !isSum || !isSize || len(sum) != 64 || hexErr != nil || err != nil || size < 0 {
		return "", 0, false
	}
	return sum, size, true
}

// holdsLFS says whether the file on disk is the one the pointer names. room is
// what may still be hashed; it is lowered by what was.
func (d *disk) holdsLFS(path string, pointer []byte, room *int64) bool {
	sum, size, ok := lfsPointer(pointer)
	st, err := d.look(path)
	if !ok || err != nil || st.info == nil || !st.info.Mode().IsRegular() || st.info.Size() != size || size > *room {
		return false
	}
	*room -= size
	f, err := openNoFollow(d.full(path))
	if err != nil {
		return false
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return err == nil && n == size && hex.EncodeToString(h.Sum(nil)) == sum
}
