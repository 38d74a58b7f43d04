package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"plimsoll.dev/internal/fault"
)

// MaxAuditLog is the most bytes of one audit log.
const MaxAuditLog = 64 << 20

// Saved is one line of a baseline's audit log: what the file's bytes were after
// a save. Previous is the hash of the line before, so that a line cannot be
// taken out or changed without the next one showing it.
type Saved struct {
	Event    string `json:"event"` // save
	At       string `json:"at"`    // RFC 3339
	Baseline string `json:"baseline"`
	SHA256   string `json:"sha256"`
	RunID    string `json:"source_report_run_id"`
	Previous string `json:"previous_sha256"` // "" on the first line
}

// AppendSaved is the log with one line more.
func AppendSaved(log []byte, s Saved) ([]byte, error) {
	lines, err := readLog(log)
	if err != nil {
		return nil, err
	}
	s.Event, s.Previous = "save", ""
	if len(lines) > 0 {
		s.Previous = HashOf(lines[len(lines)-1].text)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fault.E("check.AppendSaved", fault.Invalid, "audit log: the line cannot be written", err)
	}
	out := bytes.TrimRight(log, "\r\n")
	if len(out) > 0 {
		out = append(bytes.Clone(out), '\n')
	}
	return append(append(out, text...), '\n'), nil
}

// HashOf is the SHA-256 of bytes in lower-case hex.
func HashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Integrity is how a baseline file stands to its audit log.
type Integrity struct {
	OK       bool   `json:"ok"`
	Expected string `json:"expected"` // SHA-256 by the log, "" when the log knows nothing of the file
	Actual   string `json:"actual"`
	Why      string `json:"why"` // one sentence, "" when OK
}

// VerifyIntegrity compares a baseline with its log (§7.5). log is nil when there
// is none. name is the baseline's path as the log writes it.
func VerifyIntegrity(file, log []byte, name string) Integrity {
	at := Integrity{Actual: HashOf(file)}
	if log == nil {
		at.Why = "there is no audit log"
		return at
	}
	lines, err := readLog(log)
	if err != nil {
		at.Why = err.Error()
		return at
	}
	for i := range lines {
		if sameFile(lines[i].Baseline, name) {
			at.Expected = lines[i].SHA256
		}
	}
	switch at.Expected {
	case "":
		at.Why = "the audit log has no line about this file"
	case at.Actual:
		at.OK = true
	default:
		at.Why = "the file is not what the last save wrote"
	}
	return at
}

// sameFile says whether two relative paths name one file, seen from folders of
// which one may lie in the other: a manifest below the root of its repository.
func sameFile(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

type logLine struct {
	Saved
	text []byte
}

// readLog reads every line and follows the chain of hashes.
func readLog(log []byte) ([]logLine, error) {
	broken := func(n int, why string) ([]logLine, error) {
		return nil, fault.E("check.readLog", fault.Invalid, fmt.Sprintf("audit log: line %d %s", n, why), nil)
	}
	if len(log) > MaxAuditLog {
		return nil, fault.E("check.readLog", fault.Invalid, fmt.Sprintf("audit log: is over %d MiB", MaxAuditLog>>20), nil)
	}
	var lines []logLine
	previous := ""
	for n, text := range bytes.Split(log, []byte("\n")) {
		text = bytes.TrimSuffix(text, []byte("\r"))
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var s Saved
		d := json.NewDecoder(bytes.NewReader(text))
		if err := d.Decode(&s); err != nil || d.More() {
			return broken(n+1, "is no JSON object")
		}
		if s.Event != "save" || len(s.SHA256) != 64 || strings.ToLower(s.SHA256) != s.SHA256 {
			return broken(n+1, "is no record of a save")
		}
		if s.Previous != previous {
			return broken(n+1, "does not follow from the one before")
		}
		previous = HashOf(text)
		lines = append(lines, logLine{s, text})
	}
	return lines, nil
}
