package tool

// BlockSource is the id of the source that an artifact of a framework block is:
// the block and the file, "n8n:flows/support.json". Rows of tool_sources bring
// their own id; the rest needs one that a person can write into a selector.
func BlockSource(block, path string) string { return block + ":" + path }

// Warn adds a warning about something at origin.
func (r *Reading) Warn(code, message string, at Origin) {
	r.Warnings = append(r.Warnings, Warning{Code: code, Message: message, SourceID: at.SourceID, Origin: at})
}
