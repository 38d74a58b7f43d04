package server

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/risk"
)

// Policy is the rules that work on this service must not break
// (docs/spec/contracts.md §6.3): what it may do and what it was seen to do, and
// how much may go wrong with it. The zero Policy has no rules.
type Policy struct {
	Forbid []string       // capabilities and critical signals
	Most   contract.Level // the highest level there may be; "" is any
}

// check refuses what is neither a capability nor a signal.
func (p Policy) check() error {
	for _, name := range p.Forbid {
		if _, err := capability.Parse([]string{name}); err == nil {
			continue
		}
		if _, err := risk.ParseSignals(map[string]bool{name: true}); err != nil {
			return fmt.Errorf("holds %q, which is no capability and no critical signal", name)
		}
	}
	return nil
}

// violated is the id of the rule that work breaks, "" for none. The id names the
// setting, so that who reads it in a gate knows where it is written.
func (p Policy) violated(w pipeline.Work) string {
	var wants capability.Set
	switch {
	case w.Task != nil:
		wants = w.Task.CapabilitiesSnapshot
	case w.Intent != nil:
		wants = w.Intent.RequestedCapabilities
	}
	for _, name := range p.Forbid {
		if c, err := capability.Parse([]string{name}); err == nil {
			if wants.Meets(c) {
				return "policy.forbid:" + name
			}
			continue
		}
		if s, err := risk.ParseSignals(map[string]bool{name: true}); err == nil && s&w.Signals != 0 {
			return "policy.forbid:" + name
		}
	}
	if p.Most != "" && p.Most.Below(w.Level) {
		return "policy.most:" + string(p.Most)
	}
	return ""
}

// rules is the settings of the policy.
func rules() []setting {
	levels := []string{"", string(contract.Low), string(contract.Medium), string(contract.High), string(contract.Critical)}
	return []setting{
		{
			key: "policy.forbid", list: true, about: "capabilities and critical signals that break the policy",
			set: func(c *Config, v []string) error {
				c.Policy.Forbid = slices.Clone(v)
				return c.Policy.check()
			}, get: func(c *Config) []string { return c.Policy.Forbid },
		},
		{
			key: "policy.most", usual: []string{""}, about: "the highest risk the policy bears: low, medium, high or critical; any when not set",
			set: func(c *Config, v []string) error {
				if !slices.Contains(levels, v[0]) {
					return fmt.Errorf("is %q; it must be one of %s", v[0], strings.Join(levels[1:], ", "))
				}
				c.Policy.Most = contract.Level(v[0])
				return nil
			}, get: func(c *Config) []string { return []string{string(c.Policy.Most)} },
		},
	}
}
