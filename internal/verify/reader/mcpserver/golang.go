package mcpserver

import "plimsoll.dev/internal/verify/tool"

func (r *reader) golang(_ []string) *tool.SourceError { return nil }
