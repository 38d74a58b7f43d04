package git

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // Git's own object ids; not a security property of ours.
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// objects is an open cat-file process. Every object it delivers is hashed and
// must equal its id, since git does not check a loose object on reading (§2.1).
type objects struct {
	cmd    *exec.Cmd
	ctx    context.Context //nolint:containedctx // it ends with the process
	cancel context.CancelFunc
	in     io.WriteCloser
	out    *bufio.Reader
	stderr limitedBuffer
	r      *runner
	mu     sync.Mutex         // one question at a time
	known  map[string]*object // by name and by id; nil for what is missing
	lost   error              // answers were left unread
}

// object is one answer. Data is nil when the object is over the asked bound.
type object struct {
	id, kind string
	size     int64
	data     []byte
}

var (
	errObjectMissing = errors.New("an object is missing")
	errObjectDamaged = errors.New("an object does not match its id")
)

func (r *runner) objects(ctx context.Context) (*objects, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	o := &objects{cmd: r.command(ctx, []string{"cat-file", "--batch"}), ctx: ctx, cancel: cancel, r: r}
	o.cmd.Stderr = &o.stderr
	in, err := o.cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, &failure{verb: "cat-file", err: err}
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, &failure{verb: "cat-file", err: err}
	}
	o.in, o.out = in, bufio.NewReaderSize(out, 64<<10)
	if err := o.cmd.Start(); err != nil {
		cancel()
		return nil, &failure{verb: "cat-file", err: err}
	}
	return o, nil
}

// close ends the process and waits for it.
func (o *objects) close() {
	o.in.Close()
	o.cancel()
	o.cmd.Wait() //nolint:errcheck // it was told to end; its status says nothing more
}

// get asks for one object. name is an id or a revision expression.
func (o *objects) get(name string, bound int64) (*object, error) {
	if strings.ContainsAny(name, "\x00\r\n") {
		return nil, errObjectMissing // it would be read as two requests
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch obj, known := o.known[name]; {
	case o.lost != nil:
		return nil, o.lost
	case known && obj == nil:
		return nil, errObjectMissing
	case known && obj.size <= bound && obj.data != nil:
		return obj, nil
	}
	if _, err := io.WriteString(o.in, name+"\n"); err != nil {
		return nil, o.failed(err)
	}
	return o.next(bound)
}

// mostExpected is how many bytes of names are written before an answer is read: any
// pipe has room for them, so that nobody waits for the other.
const mostExpected = 4 << 10

// expect asks for objects that will soon be asked for one by one: one way to git and
// back instead of many. They are remembered until forget.
func (o *objects) expect(names []string) {
	var text strings.Builder
	for _, name := range names {
		if !strings.ContainsAny(name, "\x00\r\n") {
			text.WriteString(name + "\n")
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if text.Len() > mostExpected {
		return
	}
	if _, err := io.WriteString(o.in, text.String()); err != nil {
		return // whoever asks will meet it again
	}
	o.known = map[string]*object{}
	for name := range strings.Lines(text.String()) {
		obj, err := o.next(commitBound)
		switch {
		case errors.Is(err, errObjectDamaged):
			continue // it will be asked for again, if anybody wants it
		case err != nil && !errors.Is(err, errObjectMissing):
			o.lost = err
			return
		}
		o.known[strings.TrimSuffix(name, "\n")] = obj
		if obj != nil {
			o.known[obj.id] = obj
		}
	}
}

// several asks for objects together, as expect does, and gives those of the size
// that is asked for, by id. Whoever wants one of the others asks for it alone.
func (o *objects) several(ids []string, bound int64) map[string]*object {
	ids = ids[:min(len(ids), mostExpected/(sha256.Size*2+1))]
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost != nil {
		return nil
	}
	if _, err := io.WriteString(o.in, strings.Join(append(ids[:len(ids):len(ids)], ""), "\n")); err != nil {
		return nil // whoever asks will meet it again
	}
	found := make(map[string]*object, len(ids))
	for range ids {
		obj, err := o.next(bound)
		switch {
		case errors.Is(err, errObjectDamaged) || errors.Is(err, errObjectMissing):
		case err != nil:
			o.lost = err
			return found
		case obj.data != nil:
			found[obj.id] = obj
		}
	}
	return found
}

func (o *objects) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known = nil
}

// next reads one answer.
func (o *objects) next(bound int64) (*object, error) {
	line, err := o.out.ReadString('\n')
	if err != nil {
		return nil, o.failed(err)
	}
	line = strings.TrimSuffix(line, "\n")
	f := strings.Split(line, " ")
	if n := len(f); n >= 2 && (f[n-1] == "missing" || f[n-1] == "ambiguous" || f[n-1] == "submodule") {
		return nil, errObjectMissing
	}
	if len(f) != 3 {
		return nil, &failure{verb: "cat-file", err: errMalformed}
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return nil, &failure{verb: "cat-file", err: errMalformed}
	}
	obj := &object{id: f[0], kind: f[1], size: size}
	if size > bound {
		if _, err := io.CopyN(io.Discard, o.out, size+1); err != nil {
			return nil, o.failed(err)
		}
		return obj, nil
	}
	obj.data = make([]byte, size+1)
	if _, err := io.ReadFull(o.out, obj.data); err != nil {
		return nil, o.failed(err)
	}
	obj.data = obj.data[:size]
	if objectID(obj.kind, obj.data, len(obj.id)) != obj.id {
		return nil, errObjectDamaged
	}
	return obj, nil
}

// failed is the error of a process that no longer answers, with its reason.
func (o *objects) failed(err error) error {
	o.in.Close()
	exit := o.cmd.Wait()
	switch {
	case errors.Is(o.ctx.Err(), context.DeadlineExceeded):
		err = o.ctx.Err()
	case exit != nil:
		err = exit
	}
	return &failure{verb: "cat-file", stderr: shown(o.r.root, o.stderr.kept.String()), err: err}
}

// objectID is the id of an object with this content, in the hash that ids of
// this length use.
func objectID(kind string, data []byte, idLength int) string {
	h := newHash(idLength)
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func newHash(idLength int) hash.Hash {
	if idLength == 64 {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // see above
}

const (
	commitBound = 1 << 20
	treeBound   = 64 << 20
)

// tree is a commit's tree, read folder by folder as it is asked for.
type tree struct {
	objects *objects
	id      string
	mu      sync.Mutex
	folders map[string]map[string]entry // by folder path, "" for the root
	asked   map[string]int              // by folder path: how many of its folders were asked for alone
}

// treeOf is the tree of a commit. Every link of the chain is hashed: git would
// follow a forged commit or tree without a word.
func (o *objects) treeOf(commit string) (*tree, error) {
	obj, err := o.get(commit, commitBound)
	if err != nil {
		return nil, err
	}
	id, ok := bytes.CutPrefix(obj.data, []byte("tree "))
	id, _, more := bytes.Cut(id, []byte{'\n'})
	if obj.kind != "commit" || !ok || !more || len(id) != len(obj.id) {
		return nil, &failure{verb: "cat-file", err: errMalformed}
	}
	if obj, err = o.get(string(id), treeBound); err != nil {
		return nil, err
	}
	t := &tree{objects: o, id: obj.id, folders: map[string]map[string]entry{}, asked: map[string]int{}}
	t.folders[""], err = parseTree(obj)
	return t, err
}

func parseTree(obj *object) (map[string]entry, error) {
	if obj.kind != "tree" || obj.data == nil {
		return nil, &failure{verb: "cat-file", err: errMalformed}
	}
	raw := len(obj.id) / 2
	out := map[string]entry{}
	for data := obj.data; len(data) > 0; {
		space := bytes.IndexByte(data, ' ')
		end := bytes.IndexByte(data, 0)
		if space < 0 || end < space || len(data) < end+1+raw {
			return nil, &failure{verb: "cat-file", err: errMalformed}
		}
		mode := string(data[:space])
		if len(mode) == 5 {
			mode = "0" + mode
		}
		out[string(data[space+1:end])] = entry{mode, hex.EncodeToString(data[end+1 : end+1+raw])}
		data = data[end+1+raw:]
	}
	return out, nil
}

// entry is the entry at path, the zero entry when there is none. A path below
// something that is no folder has none.
func (t *tree) entry(path string) (entry, error) {
	dir, name := "", path
	for {
		folder, err := t.folder(dir)
		if err != nil || folder == nil {
			return entry{}, err
		}
		head, rest, more := strings.Cut(name, "/")
		if !more {
			return folder[name], nil
		}
		if folder[head].mode != modeFolder {
			return entry{}, nil
		}
		dir = join(dir, head)
		name = rest
	}
}

func (t *tree) folder(dir string) (map[string]entry, error) {
	t.mu.Lock()
	f, ok := t.folders[dir]
	t.mu.Unlock()
	if ok {
		return f, nil
	}
	e, err := t.entry(dir)
	if err != nil || e.mode != modeFolder {
		return nil, err
	}
	if f = t.together(dir); f != nil {
		return f, nil
	}
	obj, err := t.objects.get(e.id, treeBound)
	if err != nil {
		return nil, err
	}
	if f, err = parseTree(obj); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.folders[dir] = f
	return f, nil
}

const (
	fewFolders  = 4        // so many of one parent are asked for alone, and the others beside the next
	smallFolder = 64 << 10 // no larger one is read before it is asked for
)

// together reads a folder with others of its parent, where several of them were
// asked for already: sources lie side by side. It is nil when it did not.
func (t *tree) together(dir string) map[string]entry {
	parent := path.Dir(dir)
	if parent == "." {
		parent = ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked[parent]++; t.asked[parent]%fewFolders != 0 {
		return nil
	}
	within := t.folders[parent]
	paths := map[string]string{} // by id; two may be alike
	ids := []string{within[path.Base(dir)].id}
	for _, name := range slices.Sorted(maps.Keys(within)) {
		at, e := join(parent, name), within[name]
		if _, known := t.folders[at]; e.mode != modeFolder || e.id == "" || known {
			continue
		}
		if paths[e.id] == "" && at != dir {
			ids = append(ids, e.id)
		}
		paths[e.id] = at
	}
	paths[ids[0]] = dir
	for id, obj := range t.objects.several(ids, smallFolder) {
		if f, err := parseTree(obj); err == nil && paths[id] != "" {
			t.folders[paths[id]] = f
		}
	}
	return t.folders[dir]
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
