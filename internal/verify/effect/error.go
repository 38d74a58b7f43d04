package effect

import (
	"fmt"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// ConfigError is something in the manifest that contradicts itself once its
// sources are read: exit code 2 (§5.5).
type ConfigError struct {
	File string
	Path []string // in the manifest
	Pos  source.Position
	Msg  string
}

func (e *ConfigError) Error() string {
	where := e.File
	if e.Pos.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", e.File, e.Pos.Line, e.Pos.Column)
	}
	if where == "" {
		where = "manifest"
	}
	return fmt.Sprintf("%s: %s: %s", where, strings.Join(e.Path, "."), e.Msg)
}
