package effect

import "plimsoll.dev/internal/verify/tool"

// InferredHint says whether a hint rests on words alone. A control may not rest
// on it (§6.2).
func InferredHint(h tool.Hint) bool {
	return h.Source == hintKeyword || h.Source == hintScope || h.Source == hintPreview
}
