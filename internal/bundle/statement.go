package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"plimsoll.dev/internal/pipeline/contract"
)

// statements reads every file the manifest names, in its order.
func (c *checker) statements() error {
	counts := map[bool][]string{}
	for _, e := range c.m.Files {
		evidence := e.Kind == contract.KindEvidence
		if e.Path != nameOf(e.Kind, e.Contract) || !fileName.MatchString(e.Path) || !hexSHA.MatchString(e.SHA256) {
			return bad(Malformed, ManifestName, "it names a file that no bundle has for %s", e.Contract)
		}
		if _, twice := c.docs[e.Contract]; twice {
			return bad(Malformed, ManifestName, "it names %s twice", e.Path)
		}
		if err := c.document(e); err != nil {
			return err
		}
		counts[evidence] = append(counts[evidence], e.Contract.String())
	}
	for _, r := range c.m.Replaced {
		c.replaced[r.Contract] = true
		c.ids[r.Contract.ID] = true
	}
	c.said("contracts", "%d statements, each signed by %s, each with the digest in the manifest: %s", len(counts[false]), c.report.Signer, strings.Join(counts[false], ", "))
	c.said("evidence", "%d statements, likewise: %s", len(counts[true]), strings.Join(counts[true], ", "))
	return nil
}

// document reads the statement of one contract.
func (c *checker) document(e Entry) error {
	text, err := c.read(e.Path)
	if err != nil {
		return err
	}
	s, signer, err := c.statement(e.Path, text)
	if err != nil {
		return err
	}
	if signer != c.report.Signer {
		return bad(Unsigned, e.Path, "it is signed by %s, and the manifest by %s", signer, c.report.Signer)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != e.SHA256 {
		return bad(Changed, e.Path, "it is a statement of %s, and not the one the manifest names here", signer)
	}
	if s.PredicateType != predicateOf(e.Kind) || !sameSubjects(s.Subject, c.about) {
		return bad(Contradicted, e.Path, "it is about something else than the manifest")
	}
	d, err := contract.Decode(s.Predicate)
	if err != nil {
		return bad(Malformed, e.Path, "the document in it is no contract: %v", err)
	}
	if h := d.Head(); h.Kind != e.Kind || h.ID != e.Contract.ID || h.Version != e.Contract.Version {
		return bad(Contradicted, e.Path, "it holds %s %s version %d", h.Kind, h.ID, h.Version)
	}
	c.docs[e.Contract], c.entries[e.Contract], c.ids[e.Contract.ID] = d, e, true
	return nil
}

// strangers looks for what the manifest does not name.
func (c *checker) strangers() error {
	known := map[string]bool{ManifestName: true, LogName: true, contractsDir: true, evidenceDir: true}
	for _, e := range c.m.Files {
		known[e.Path] = true
	}
	paths := make([]string, 0, len(c.there))
	for path := range c.there {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		if !known[path] {
			return bad(Added, path, "the manifest does not name it")
		}
		if (path == contractsDir || path == evidenceDir) && !c.there[path].IsDir() {
			return bad(Malformed, path, "it is no folder")
		}
	}
	c.said("folder", "holds these files, the log and nothing else")
	return nil
}

// chain follows every contract to the one it was made from, down to the intent.
func (c *checker) chain() error {
	for _, e := range c.m.Files {
		d := c.docs[e.Contract]
		if e.Kind == contract.KindIntent {
			if e.Source != nil || e.Contract.ID != c.m.IntentID {
				return bad(Contradicted, e.Path, "it is not the intent %s, which the bundle is about", c.m.IntentID)
			}
			continue
		}
		if e.Source == nil || e.Source.ID.Kind() != e.Kind.Source() || e.Source.ID != d.Source() {
			return bad(Contradicted, e.Path, "it was made from %s, and the manifest says otherwise", d.Source())
		}
		if c.docs[*e.Source] == nil && !c.replaced[*e.Source] {
			return bad(Missing, nameOf(e.Kind.Source(), *e.Source), "%s was made from it", e.Contract)
		}
	}
	return c.way()
}

// way is the one way from the gate to the intent.
func (c *checker) way() error {
	at := c.m.Gate
	steps := []string{at.String()}
	for {
		e, there := c.entries[at]
		if !there && !c.replaced[at] {
			return bad(Missing, nameOf(at.ID.Kind(), at), "the gate rests on it")
		}
		if e.Source == nil {
			break
		}
		at = *e.Source
		steps = append(steps, at.String())
	}
	if g, ok := c.docs[c.m.Gate].(*contract.PublishGate); ok && len(steps) == 4 {
		c.gate = g
		c.said("chain", "%s", strings.Join(steps, " was made from "))
		return nil
	}
	return bad(Contradicted, ManifestName, "%s is no gate that leads to an intent", c.m.Gate)
}
