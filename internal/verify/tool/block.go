package tool

import "fmt"

// BlockSource is the id of the source that an artifact of a framework block is:
// the block and the file, "n8n:flows/support.json". Rows of tool_sources bring
// their own id; the rest needs one that a person can write into a selector.
func BlockSource(block, path string) string { return block + ":" + path }

// Skip records a source that is optional and could not be read: its state and
// one warning.
func (r *Reading) Skip(s Source, err *SourceError) {
	s.State, s.Optional, s.Tools = Failed, true, 0
	code := "optional_source_failed"
	if err.Problem == NotThere {
		s.State, code = Missing, "missing_optional_source"
	}
	r.Sources = append(r.Sources, s)
	r.Warn(code, fmt.Sprintf("%s was not read: %s", err.Path, err.Detail), Origin{Type: s.Type, SourceID: s.ID, Ref: s.Path, Path: err.Path})
}

// Warn adds a warning about something at origin.
func (r *Reading) Warn(code, message string, at Origin) {
	r.Warnings = append(r.Warnings, Warning{Code: code, Message: message, SourceID: at.SourceID, Origin: at})
}
