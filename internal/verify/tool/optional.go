package tool

import "fmt"

// Skipped is the reading of an optional source that could not be read: a source
// row that says so and a warning, instead of exit 3 (§4.4 optional).
func Skipped(s Source, err *SourceError) *Reading {
	s.State, s.Optional, s.Tools = Failed, true, 0
	code := "unreadable_optional_source"
	if err.Problem == NotThere {
		s.State, code = Missing, "missing_optional_source"
	}
	return &Reading{
		Sources: []Source{s},
		Warnings: []Warning{{
			Code:     code,
			Message:  fmt.Sprintf("optional source %s was not read: %s", err.Path, err.Detail),
			SourceID: s.ID,
			Origin:   Origin{Type: s.Type, SourceID: s.ID, Ref: s.Path, Path: err.Path},
		}},
	}
}
