package plimsoll

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll.dev/internal/demo"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/server"
)

// demoBook is the file that makes a folder a demo's. It holds the tokens of the
// people, as a demo prints them at every start.
type demoBook struct {
	Demo     string            `json:"plimsollDemo"` // the version that made it
	Tokens   map[string]string `json:"tokens"`       // none before the folder is complete
	Address  string            `json:"address"`      // where it was served last
	Finished bool              `json:"finished"`     // whether the story was played to its end
}

const demoBookName = "plimsoll-demo.json"

// demoFolder is everything a demo has on the disk.
type demoFolder struct {
	dir     string
	book    demoBook
	stays   bool // after the end
	resumed bool // it was there already
}

func (d *demoFolder) repository() string { return filepath.Join(d.dir, "shop") }
func (d *demoFolder) log() string        { return filepath.Join(d.dir, "service.log") }

// demoFolder takes the folder of a demo: a new one, an empty one, or one of an
// earlier demo that nobody serves.
func (s *session) demoFolder(ctx context.Context, f demoFlags) (*demoFolder, error) {
	if f.dir == "" {
		dir, err := os.MkdirTemp("", "plimsoll-demo-")
		if err != nil {
			return nil, fault.E("demo", fault.Unavailable, "make a temporary folder", err)
		}
		return &demoFolder{dir: dir, stays: f.keep}, nil
	}
	d := &demoFolder{dir: s.env.abs(f.dir), stays: true}
	text, err := os.ReadFile(filepath.Join(d.dir, demoBookName))
	switch {
	case err == nil:
		if json.Unmarshal(text, &d.book) != nil || d.book.Demo == "" {
			return nil, fault.E("demo", fault.Invalid, filepath.Join(d.dir, demoBookName)+" does not read", nil).WithHint("remove %s to begin anew, or name another folder", d.dir)
		}
		d.resumed = len(d.book.Tokens) > 0
		if d.resumed && d.alive(ctx) {
			return nil, fault.E("demo", fault.Conflict, d.dir+" is served already, on "+d.book.Address, nil).WithHint("look there, or name another folder with --dir")
		}
		return d, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fault.E("demo", fault.Invalid, "read "+d.dir, err)
	}
	list, err := os.ReadDir(d.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.E("demo", fault.Invalid, "read "+d.dir, err)
	}
	if len(list) > 0 {
		return nil, fault.E("demo", fault.Conflict, d.dir+" holds something that is no demo", nil).WithHint("name a new or empty folder: a demo overwrites nothing")
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, fault.E("demo", fault.Unavailable, "make "+d.dir, err)
	}
	return d, nil
}

// alive says whether a demo answers where this one was served last, to a token of
// this one.
func (d *demoFolder) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	cl, err := (&session{env: Env{Environ: []string{"PLIMSOLL_TOKEN=" + d.book.Tokens["rex"], "HOME=" + d.dir}}, server: "http://" + local(d.book.Address)}).client()
	if err != nil {
		return false
	}
	_, err = cl.once(ctx, call{method: http.MethodGet, path: "/v1/me"}, nil)
	return err == nil
}

// found makes what is missing: the sample repository, the database and the
// people. A folder in which that was cut off begins anew.
func (d *demoFolder) found(ctx context.Context, env Env, address string) error {
	d.book.Address = address
	if d.resumed {
		return d.write()
	}
	d.book.Demo = Version
	if err := d.write(); err != nil {
		return err
	}
	for _, name := range []string{"shop", "service", "people"} {
		if err := os.RemoveAll(filepath.Join(d.dir, name)); err != nil {
			return fault.E("demo", fault.Unavailable, "begin anew in "+d.dir, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(d.dir, "service"), 0o700); err != nil {
		return fault.E("demo", fault.Unavailable, "make the folder of the service", err)
	}
	if err := demo.Lay(ctx, d.repository(), env.Environ); err != nil {
		return err
	}
	conf, err := d.config(address)
	if err != nil {
		return err
	}
	people := []server.Person{}
	for _, p := range demo.People() {
		roles, err := contract.ParseRoles(p.Roles)
		if err != nil {
			return err
		}
		kind := contract.Human
		if p.Agent {
			kind = contract.Agent
		}
		people = append(people, server.Person{ID: contract.ActorID(p.ID), Type: kind, Roles: roles, Name: p.Name})
	}
	made, err := server.Setup(ctx, conf, people, 90*24*time.Hour)
	if err != nil {
		return err
	}
	d.book.Tokens = map[string]string{}
	for _, m := range made {
		d.book.Tokens[string(m.ID)] = m.Token
	}
	return d.write()
}

// config is the configuration of the service. Nothing of the environment takes
// part in it: a demo is the same everywhere.
func (d *demoFolder) config(address string) (server.Config, error) {
	at := func(name string) []string { return []string{filepath.Join(d.dir, "service", name)} }
	return server.Load(server.Source{Flags: map[string][]string{
		"listen": {address}, "db": {"sqlite:" + at("plimsoll.db")[0]}, "audit.key": at("audit.key"), "identity.key": at("identity.key"),
		"audit.origin": {"plimsoll.demo/log"}, "repository": {demo.Repository}, "rate.per-second": {"0"}, "log.level": {"warn"},
	}})
}

// write keeps the book, whole or not at all.
func (d *demoFolder) write() error {
	text, err := json.MarshalIndent(d.book, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(d.dir, demoBookName)
	if err = os.WriteFile(path+".new", append(text, '\n'), 0o600); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fault.E("demo", fault.Unavailable, "write "+path, err)
	}
	return nil
}

// leave removes the folder, unless it stays.
func (d *demoFolder) leave() error {
	if d.stays {
		return nil
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return fault.E("demo", fault.Unavailable, "remove "+d.dir, err)
	}
	return nil
}

// demoService is the service of a demo while it runs.
type demoService struct {
	address string // as browsers reach it
	ended   <-chan struct{}
	stop    func() error
}

// serve starts the service. It goes on until stop, also after ctx: what is under
// way is ended first.
func (d *demoFolder) serve(ctx context.Context, env Env, address string) (*demoService, error) {
	conf, err := d.config(address)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(d.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fault.E("demo", fault.Unavailable, "write the log of the service", err)
	}
	ready := make(chan string, 1)
	running, err := server.New(ctx, conf, server.Options{Log: log, Version: Version, Hard: env.Hard, Ready: func(address string) { ready <- address }})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		failed = errors.Join(running.Run(life), log.Close())
	}()
	stop := func() error {
		end()
		<-ended
		return failed
	}
	select {
	case at := <-ready:
		return &demoService{address: "http://" + local(at), ended: ended, stop: stop}, nil
	case <-ended:
		end()
		return nil, failed
	}
}

// demoOffice runs the commands of this program in this process, each person with
// a token and a home of their own.
type demoOffice struct {
	env    Env
	folder *demoFolder
	server string
}

func (d *demoFolder) office(env Env, address string) *demoOffice {
	return &demoOffice{env: env, folder: d, server: address}
}

// of is the environment of somebody: of whoever runs the demo there is nothing in
// it but what programs need to run.
func (o *demoOffice) of(ctx context.Context, who string) Env {
	e := Env{
		Stdin: strings.NewReader(""), Dir: o.folder.repository(), Context: ctx, Hard: o.env.Hard,
		Environ: []string{"PLIMSOLL_SERVER=" + o.server, "PLIMSOLL_TOKEN=" + o.folder.book.Tokens[who], "HOME=" + filepath.Join(o.folder.dir, "people", who)},
	}
	for _, kv := range o.env.Environ {
		name, _, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(name) {
		case "PATH", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT":
			e.Environ = append(e.Environ, kv)
		}
	}
	return e
}

// Run implements demo.Office.
func (o *demoOffice) Run(ctx context.Context, who string, line []string) error {
	var out, notes bytes.Buffer
	env := o.of(ctx, who)
	env.Stdout, env.Stderr = &out, &notes
	code := Main(line, env)
	if code == exitOK {
		return nil
	}
	kind := fault.Conflict
	if code == exitUnknown {
		kind = fault.Unavailable
	}
	said := strings.TrimPrefix(strings.TrimSpace(notes.String()), "plimsoll: ")
	if said == "" {
		said = strings.TrimSpace(out.String())
	}
	return fault.E("demo", kind, fmt.Sprintf("%s: plimsoll %s: %s", who, strings.Join(line[:min(2, len(line))], " "), oneLine(said)), nil)
}

// notMember answers for a circle that is not there as for one of others.
const notMember refusal.Code = "circle.member_required"

// Read implements demo.Office.
func (o *demoOffice) Read(ctx context.Context, who, path string, v any) error {
	cl, err := (&session{env: o.of(ctx, who)}).client()
	if err != nil {
		return err
	}
	defer cl.http.CloseIdleConnections()
	path, query, _ := strings.Cut(path, "?")
	q := call{method: http.MethodGet, path: path}
	if q.query, err = url.ParseQuery(query); err != nil {
		return err
	}
	ans, err := cl.do(ctx, q)
	if p, ok := errors.AsType[*problem](err); ok && (p.Status == http.StatusNotFound || p.Code == notMember) {
		return fault.E("demo", fault.NotFound, path, nil)
	}
	if err != nil {
		return err
	}
	return decode(ans.body, v)
}
