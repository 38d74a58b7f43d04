package bundle

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
)

// agreement computes the approval digest again, from the documents, and asks
// whether everybody who had to agree has agreed to it.
func (c *checker) agreement() error {
	path := c.entries[c.m.Gate].Path
	acceptance := *c.entries[c.m.Gate].Source
	s := c.covers
	s.GateID, s.GateVersion, s.AcceptanceID, s.AcceptanceVersion = c.m.Gate.ID, c.m.Gate.Version, acceptance.ID, acceptance.Version
	if s.Digest() != c.m.Digest {
		return bad(Contradicted, path, "its approval digest is %s, computed from the documents, and %s in the manifest", s.Digest(), c.m.Digest)
	}
	if a, ok := c.docs[acceptance].(*contract.Acceptance); !ok || a.Status != contract.Passed {
		return bad(Contradicted, nameOf(contract.KindAcceptance, acceptance), "the gate rests on it, and it has not passed")
	}
	g := c.gate
	if err := approval.Settled(g); err != nil {
		return bad(Contradicted, path, "the gate is not approved: %v", err)
	}
	if g.State != contract.Published && g.State != contract.Archived {
		return bad(Contradicted, path, "the gate is %s", g.State)
	}
	if faults := approval.AtRest(g); len(faults) > 0 {
		return bad(Contradicted, path, "the gate contradicts itself: %v", faults[0])
	}
	who := []string{}
	for _, a := range g.Approvals {
		who = append(who, string(a.Role)+" "+string(a.ActorID))
	}
	if err := c.ran(); err != nil {
		return err
	}
	c.said("agreement", "%s, computed again from the documents; risk %s; agreed to by %s", c.m.Digest, g.RiskLevel, strings.Join(who, ", "))
	return nil
}

// ran looks for the run whose bytes were agreed to: an Evidence with that diff.
// The commit is that of such a run, or the one the log has with the agreement.
func (c *checker) ran() error {
	diff := c.covers.DiffHash
	runs := []string{}
	from := c.m.Released == c.m.Commits.Head
	for _, e := range c.m.Files {
		if d, ok := c.docs[e.Contract].(*contract.Evidence); ok && d.DiffHash == diff {
			runs = append(runs, string(d.ID)+" of "+string(d.Actor))
			from = from || d.HeadCommit == c.m.Released
		}
	}
	if len(runs) == 0 {
		return bad(Contradicted, ManifestName, "people agreed to the change %s, which no Evidence is of", diff)
	}
	if !from {
		return bad(Contradicted, ManifestName, "no Evidence of the change is at the commit %s", c.m.Released)
	}
	slices.Sort(runs)
	c.said("bytes", "%s at commit %s; Evidence of that change: %s", diff, c.m.Released, strings.Join(slices.Compact(runs), ", "))
	return nil
}
