// Package risk says how much may go wrong with a piece of work, and why.
//
// The level follows from the capabilities asked for and from circumstances:
// critical signals, declared or observed, and the boundary result of the change
// itself. Everything here only raises; nothing lowers a level
// (docs/spec/contracts.md §6, R-16, rulings R10). The level decides who must
// agree, which is package approval.
package risk

import (
	"slices"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
)

// high holds the capabilities that make work high by themselves.
const high = capability.Set(0b111100) // install_deps, network_access, read_secrets, publish_release

// OfCapability is the level one capability gives by itself.
func OfCapability(c capability.Capability) contract.Level {
	switch {
	case high.Has(c):
		return contract.High
	case c == capability.WriteRepo:
		return contract.Medium
	}
	return contract.Low
}

// OfCapabilities is the level a set of capabilities gives.
func OfCapabilities(set capability.Set) contract.Level {
	level := contract.Low
	for _, c := range set.List() {
		level = level.Max(OfCapability(c))
	}
	return level
}

// Circumstances is all that the level of one execution follows from. Declared
// holds the signals stated when the intent was raised, Observed those of its
// runs, facts included; Floor is a level already recorded, below which the
// assessment never falls. Boundary is nil when no boundary result is there.
type Circumstances struct {
	Capabilities capability.Set
	Declared     Signals
	Observed     Signals
	Floor        contract.Level
	Boundary     *Boundary
}

// Assessment is a level with its reasons: "capability <name>", then
// "signal <name>", then "boundary <rule id>" (docs/spec/contracts.md §7.1).
type Assessment struct {
	Level   contract.Level
	Reasons []string
}

// Assess derives the level. A reason is what reaches the level by itself, or
// high when people decide: write_repo is why work is medium, and no reason why
// it is high.
func Assess(c Circumstances) Assessment {
	type reason struct {
		text  string
		level contract.Level
	}
	var reasons []reason
	for _, name := range c.Capabilities.List() {
		reasons = append(reasons, reason{"capability " + string(name), OfCapability(name)})
	}
	for _, s := range (c.Declared | c.Observed).List() {
		reasons = append(reasons, reason{"signal " + string(s), contract.Critical})
	}
	if c.Boundary != nil {
		for _, r := range c.Boundary.raises() {
			reasons = append(reasons, reason{"boundary " + r.what, r.level})
		}
	}
	level := contract.Low.Max(c.Floor)
	for _, r := range reasons {
		level = level.Max(r.level)
	}
	threshold := level
	if level.Human() {
		threshold = contract.High
	}
	a := Assessment{Level: level, Reasons: []string{}}
	for _, r := range reasons {
		if threshold != contract.Low && !r.level.Below(threshold) && !slices.Contains(a.Reasons, r.text) {
			a.Reasons = append(a.Reasons, r.text)
		}
	}
	return a
}
