package pipeline

import "plimsoll.dev/internal/pipeline/refusal"

// missingCode is the code of missing, for those who ask.
const missingCode = refusal.RefNotFound

// missing is the refusal of a reference that resolves to nothing
// (docs/spec/contracts.md §1.2).
func missing(format string, args ...any) error { return refusal.New(missingCode, format, args...) }
