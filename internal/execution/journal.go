package execution

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// stage is how far a run has come; the package comment draws it.
type stage string

const (
	claiming   stage = "claiming"   // the claim may or may not have arrived
	working    stage = "working"    // the run is ours; there is no account yet
	delivering stage = "delivering" // the account is written and has to be delivered
	kept       stage = "kept"       // over; the worktree waits for a person
	refused    stage = "refused"    // over; the service takes no account of it
)

// journal is everything about a run that must outlive the runner. It is
// replaced as a whole, so a reader finds one state or the next.
type journal struct {
	Schema  string      `json:"schema"`
	Stage   stage       `json:"stage"`
	Run     string      `json:"run"`
	Task    contract.ID `json:"task"`
	Phase   phase.Phase `json:"phase"`
	Asked   string      `json:"asked,omitempty"` // the base the claim named
	Command []string    `json:"command"`
	Repo    string      `json:"repo"`
	Since   time.Time   `json:"since"`

	Ticket      Ticket    `json:"ticket"`
	TaskVersion int64     `json:"taskVersion,omitempty"`
	Plan        []string  `json:"plan,omitempty"`
	Base        string    `json:"base,omitempty"`
	From        string    `json:"from,omitempty"` // the commit the worktree was made at
	Tree        *tree     `json:"tree,omitempty"`
	Started     time.Time `json:"started,omitzero"`
	InputHash   string    `json:"inputHash,omitempty"`
	Setting     setting   `json:"setting"`

	End       *End          `json:"end,omitempty"`
	Artifacts []phase.Proof `json:"artifacts,omitempty"` // in the spool, in the order of delivery
	DiffHash  string        `json:"diffHash,omitempty"`
	ExitCode  int           `json:"exitCode,omitempty"`
	Control   string        `json:"control,omitempty"`
	Route     string        `json:"route,omitempty"`
	Verified  string        `json:"verified,omitempty"` // the decision of the verify artifact in the spool
	Left      bool          `json:"left,omitempty"`     // something is only in the worktree
	Gone      bool          `json:"gone,omitempty"`     // the service had given the run up

	Status   Status      `json:"status,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Evidence contract.ID `json:"evidence,omitempty"`
}

// setting is the runner a run began under: what its Evidence says of the model
// and the machine, whoever writes it.
type setting struct {
	OS         string `json:"os"`
	Runtime    string `json:"runtime"`
	Container  string `json:"container"`
	Model      string `json:"model"`
	Version    string `json:"version"`
	Parameters string `json:"parameters"` // hash
}

const journalSchema = "plimsoll.run/v1"

// folder is one run on disk, held by this process.
type folder struct {
	dir     string
	release func()
	journal
}

func (f *folder) path(name ...string) string {
	return filepath.Join(append([]string{f.dir}, name...)...)
}

// The places of a run.
const (
	journalFile = "journal.json"
	lockFile    = "lock"
	treeDir     = "work"
	outDir      = "out"   // PLIMSOLL_OUT
	logFile     = "log"   // output of the command, redacted
	spoolDir    = "spool" // artifacts, by kind
)

// create makes the folder of a new run and holds it.
func create(state string, j journal) (*folder, error) {
	f := &folder{dir: filepath.Join(state, j.Run), journal: j}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{outDir, spoolDir} {
		if err := os.Mkdir(f.path(name), 0o700); err != nil {
			return nil, err
		}
	}
	release, ok, err := hold(f.path(lockFile))
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("hold the run %s", j.Run), err)
	}
	f.release = sync.OnceFunc(release)
	return f, f.save()
}

// errHeld says that another runner has the folder.
var errHeld = errors.New("another runner has this run")

// take holds an existing folder and reads its journal.
func take(state, run string) (*folder, error) {
	f := &folder{dir: filepath.Join(state, run)}
	if _, err := os.Stat(f.path(journalFile)); err != nil {
		return nil, err // one that is being made has no journal yet
	}
	release, ok, err := hold(f.path(lockFile))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errHeld
	}
	f.release = sync.OnceFunc(release)
	if f.journal, err = readJournal(f.path(journalFile)); err != nil {
		release()
		return nil, err
	}
	return f, nil
}

func readJournal(name string) (journal, error) {
	var j journal
	text, err := os.ReadFile(name)
	if err != nil {
		return j, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return j, fmt.Errorf("read %s: %w", filepath.Base(name), err)
	}
	if j.Schema != journalSchema {
		return j, fmt.Errorf("%s is of the form %q, which this version does not read", filepath.Base(name), j.Schema)
	}
	return j, nil
}

// save writes the journal so that a crash leaves the old one or the new one.
func (f *folder) save() error {
	f.Schema = journalSchema
	text, err := json.MarshalIndent(f.journal, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(f.path(journalFile), text)
}

func replaceFile(name string, b []byte) error {
	temp := name + ".new"
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// spool stores an artifact for delivery.
func (f *folder) spool(kind phase.Proof, b []byte) error {
	if err := replaceFile(f.path(spoolDir, string(kind)), b); err != nil {
		return err
	}
	if !slices.Contains(f.Artifacts, kind) {
		f.Artifacts = append(f.Artifacts, kind)
	}
	return nil
}

// forget removes the folder; nothing of the run is left.
func (f *folder) forget() error {
	// Without a journal it is no run, whoever gets the lock next.
	err := os.Remove(f.path(journalFile))
	f.release()
	return errors.Join(err, removeAll(f.dir))
}

// runs is the names of all folders that have a journal, ascending.
func runs(state string) ([]string, error) {
	entries, err := os.ReadDir(state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(state, e.Name(), journalFile)); err == nil {
			names = append(names, e.Name())
		}
	}
	return names, err
}
