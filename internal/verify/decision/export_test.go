package decision

// Gaps are the gaps of one side alone.
func Gaps(in Input) []Gap {
	coverage, _ := cover(&in)
	return coverage.Gaps
}
