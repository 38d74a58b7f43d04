package tool

// Rank orders confidences: high 3, medium 2, low 1, anything else 0.
func (c Confidence) Rank() int {
	switch c {
	case High:
		return 3
	case Medium:
		return 2
	case Low:
		return 1
	}
	return 0
}

// AtLeast says whether c is as sure as o or surer.
func (c Confidence) AtLeast(o Confidence) bool { return c.Rank() >= o.Rank() }
