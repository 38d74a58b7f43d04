package action

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/report"
)

// maxArtifact bounds one artifact, and maxArtifacts how many there may be: more
// than any run writes.
const (
	maxArtifact  = 256 << 20
	maxArtifacts = 64
)

// Exit codes of the gate (§1.1).
const (
	exitOK   = 0
	exitGate = 20
)

// evidence is what the artifacts say.
type evidence struct {
	verifier *report.Verifier
	report   reportFacts
	receipt  report.Receipt
	files    map[string][]byte // the artifacts by file name
}

// reportFacts is what the Action reads of report.json (§10.1).
type reportFacts struct {
	RunID   string `json:"run_id"`
	Summary struct {
		Critical int `json:"critical_count"`
		High     int `json:"high_count"`
		Medium   int `json:"medium_count"`
	} `json:"summary"`
	Decision *struct {
		Decision    string            `json:"decision"`
		Reason      string            `json:"reason"`
		Blockers    []json.RawMessage `json:"blockers"`
		ReviewItems []json.RawMessage `json:"review_items"`
		Fail        *struct {
			WouldFail bool `json:"would_fail_ci"`
			ExitCode  int  `json:"exit_code"`
		} `json:"fail_policy"`
	} `json:"release_decision"`
	Baseline struct {
		New      int `json:"new_count"`
		Matched  int `json:"matched_count"`
		Resolved int `json:"resolved_count"`
	} `json:"baseline"`
	Actions struct {
		Enabled bool `json:"enabled"`
		Rows    []struct {
			Type     string `json:"type"`
			ActionID string `json:"action_id"`
		} `json:"rows"`
	} `json:"action_surface_diff"`
	Findings []finding `json:"findings"`
}

func (e *evidence) decision() string {
	if e.report.Decision == nil {
		return ""
	}
	return e.report.Decision.Decision
}

func (e *evidence) verdict() string {
	if e.verifier == nil {
		return ""
	}
	return e.verifier.MergeVerdict
}

// read believes the artifacts or says why not. evidence is nil for DidNotRun.
func read(in *Input) (*evidence, Status, string) {
	none := func(format string, args ...any) (*evidence, Status, string) {
		why := fmt.Sprintf(format, args...)
		if first, _, _ := bytes.Cut(in.Said, []byte("\n")); len(first) > 0 {
			why += "; it said: " + string(first)
		}
		return nil, DidNotRun, sentence(why + ".")
	}
	switch {
	case in.Stopped != "":
		return nil, DidNotRun, sentence(in.Stopped)
	case in.Scan && (in.Policy == RequireMergeable || len(in.FailOn) > 0):
		return none("a scan has no verdict about a merge; verify_mode verify has one")
	case in.ExitCode > 128:
		return none("the gate was ended by signal %d", in.ExitCode-128)
	case in.Reports == nil:
		return none("the gate left no artifacts; its exit code was %d", in.ExitCode)
	}
	e := &evidence{files: map[string][]byte{}}
	main := "verifier.json"
	if in.Scan {
		main = "report.json"
	}
	// What stdout and the folder both hold is of this run, and not of an earlier
	// one or of the change itself.
	text, err := e.file(in, main)
	switch {
	case err != nil:
		return none("the gate ended with exit code %d, and %v", in.ExitCode, err)
	case !bytes.Equal(text, in.Result):
		return none("%s is not what the gate printed", main)
	}
	if !in.Scan {
		if e.verifier, err = report.ReadVerifier(text); err != nil {
			return none("verifier.json is not whole: %v", err)
		}
	}
	if in.ExitCode != exitOK && in.ExitCode != exitGate {
		if in.Scan || e.verifier.Execution != "failed" {
			return none("the gate ended with exit code %d", in.ExitCode)
		}
		return e, Failed, sentence(string(e.verifier.Headline))
	}
	if !in.Scan && e.verifier.Execution != "succeeded" {
		return none("the gate ended with exit code %d, and its execution is %s", in.ExitCode, e.verifier.Execution)
	}
	if err := e.load(in); err != nil {
		return none("%v", err)
	}
	return e, Evaluated, ""
}

// load reads the other artifacts of a run that decided, and refuses them when
// one is missing, is not the one that was sealed, or says something else.
func (e *evidence) load(in *Input) error {
	text, err := e.file(in, "report.json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &e.report); err != nil {
		return errors.New("report.json is not whole")
	}
	d := e.report.Decision
	switch {
	case d == nil || d.Decision == "" || d.Fail == nil:
		return errors.New("report.json holds no decision")
	case d.Fail.ExitCode != in.ExitCode:
		return fmt.Errorf("the gate ended with exit code %d and report.json says %d", in.ExitCode, d.Fail.ExitCode)
	case in.Scan:
		// Of a scan there is no seal; the SARIF is a file beside the report.
		if _, err := e.file(in, "report.sarif"); err != nil {
			return err
		}
		_, err := e.file(in, "report.md")
		return err
	case string(e.verifier.Decision) != d.Decision:
		return errors.New("report.json and verifier.json decide differently")
	}
	return e.sealed(in)
}

// sealed holds every artifact against verification-artifacts.json, and the
// receipt against both.
func (e *evidence) sealed(in *Input) error {
	text, err := e.file(in, "verification-artifacts.json")
	if err != nil {
		return err
	}
	var set report.ArtifactManifest
	if err := json.Unmarshal(text, &set); err != nil || len(set.Artifacts) == 0 || len(set.Artifacts) > maxArtifacts {
		return errors.New("verification-artifacts.json is not whole")
	}
	named := map[string]bool{}
	for _, a := range set.Artifacts {
		name := path.Base(a.Path)
		if a.Path != path.Join(in.Folder, name) {
			return errors.New("verification-artifacts.json names a file outside the folder")
		}
		text, err := e.file(in, name)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(text); a.SHA256 != "sha256:"+hex.EncodeToString(sum[:]) || a.Size != int64(len(text)) {
			return fmt.Errorf("%s is not the file that was sealed", name)
		}
		named[name] = true
	}
	for _, name := range []string{"verifier.json", "report.json", "report.sarif", "pr-comment.md"} {
		if !named[name] {
			return fmt.Errorf("%s is not sealed", name)
		}
	}
	if text, err = e.file(in, "verification-receipt.json"); err != nil {
		return err
	}
	r := &e.receipt
	switch {
	case json.Unmarshal(text, r) != nil:
		return errors.New("verification-receipt.json is not whole")
	case r.ArtifactSetID != set.ArtifactSetID || r.DecisionID == "" || r.DecisionID != string(e.verifier.DecisionID) || r.RequestID != string(e.verifier.RequestID):
		return errors.New("verification-receipt.json is of another run")
	}
	return nil
}

// file is one artifact, read once.
func (e *evidence) file(in *Input, name string) ([]byte, error) {
	if text, ok := e.files[name]; ok {
		return text, nil
	}
	if !fs.ValidPath(name) {
		return nil, errors.New("an artifact has no name")
	}
	f, err := in.Reports.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s is missing", name)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxArtifact {
		return nil, fmt.Errorf("%s cannot be read", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxArtifact))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", name)
	}
	e.files[name] = text
	return text, nil
}

// handoff says whether the folder holds the packet of this run (§15). It is no
// artifact of the run, so nothing seals it; the decision is its name.
func (e *evidence) handoff(in *Input) bool {
	text, err := e.file(in, HandoffFile)
	if err != nil {
		return false
	}
	var packet struct {
		Reproducibility struct {
			DecisionID string `json:"decision_id"`
		} `json:"reproducibility"`
	}
	err = json.Unmarshal(text, &packet)
	return err == nil && e.verifier.DecisionID != "" && packet.Reproducibility.DecisionID == string(e.verifier.DecisionID)
}

// maxSentence is how long a reason may be.
const maxSentence = 1000

// sentence makes text one printable line without secrets.
func sentence(s string) string {
	s = ink.Printable(redact.Text(s))
	if r := []rune(s); len(r) > maxSentence {
		s = string(r[:maxSentence]) + "…"
	}
	return s
}
