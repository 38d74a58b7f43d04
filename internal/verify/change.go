package verify

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/gate/trigger"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/tool"
)

// compared is what the checks of §12.1 look at. They see the change and its
// base, so they are evaluated here and not by package check.
type compared struct {
	changed    []string // repository-relative
	manifest   string   // the configured one, repository-relative
	exempt     []string // manifests that check itself lets pass without a row
	head, base *Side    // base is nil without one
	roots      [2]fs.FS // base and head from the repository's root; nil where there is none
	policies   [2]*EffectivePolicy
	introduced bool // the base is known and has no manifest
}

// The ids of §12.1 that are evaluated here.
const (
	trustRootTouched     = "SHIP-VERIFY-TRUST-ROOT-TOUCHED"
	policyWeakened       = "SHIP-VERIFY-POLICY-WEAKENED"
	policyBaseAbsent     = "SHIP-VERIFY-POLICY-BASE-ABSENT"
	acceptedMore         = "SHIP-VERIFY-BASELINE-OR-WAIVER-EXPANDED"
	gateRemoved          = "SHIP-VERIFY-CI-GATE-REMOVED"
	instructionsWeakened = "SHIP-VERIFY-AGENT-INSTRUCTIONS-WEAKENED"
	catalogDrift         = "SHIP-VERIFY-TRIGGER-CATALOG-DRIFT"
	scopeBroadened       = "SHIP-VERIFY-CAPABILITY-SCOPE-BROADENED"
	configChanged        = "SHIP-CAP-CONFIG-BINDING-CHANGED"
	configRemoved        = "SHIP-CAP-CONFIG-BINDING-REMOVED"
)

// weakens says whether a finding of this check means that the gate would let
// more through than before.
func weakens(id string) bool { return id == policyWeakened || id == acceptedMore || id == gateRemoved }

// findings evaluates §12.1 in the order of its table.
func (c *compared) findings() []check.Finding {
	var found []check.Finding
	for _, part := range []func() []check.Finding{
		c.trustRoots, c.policyWeakened, c.policyBase, c.accepted, c.gateRemoved, c.instructions, c.triggerCatalog, c.toolkits,
	} {
		found = append(found, part()...)
	}
	return found
}

func inChange(path string) check.Source { return check.Source{Type: "git", Ref: path, Path: path} }

// trustRoots is one finding a changed path that belongs to a class of §9.6.
func (c *compared) trustRoots() []check.Finding {
	var found []check.Finding
	for _, path := range c.changed {
		class, glob := surface.RootOf(path)
		if class == "" && path == c.manifest {
			class, glob = surface.ClassManifest, path
		}
		if class == "" {
			class, glob = c.decidedBy(path), path
		}
		if class == "" || slices.Contains(c.exempt, path) {
			continue
		}
		found = append(found, check.Finding{
			CheckID: trustRootTouched, Source: inChange(path),
			Evidence: map[string]any{"changed_file": path, "trust_root_class": string(class), "matched_glob": glob},
		})
	}
	return found
}

func (c *compared) policyWeakened() []check.Finding {
	base, head := c.policies[0], c.policies[1]
	if base == nil || head == nil {
		return nil
	}
	var found []check.Finding
	for _, e := range weakened(base, head) {
		found = append(found, check.Finding{CheckID: policyWeakened, Evidence: e, Source: c.manifestSource()})
	}
	return found
}

func (c *compared) manifestSource() check.Source {
	name := path.Base(c.manifest)
	return check.Source{Type: "manifest", Ref: name, Path: name}
}

// policyBase says that there was nothing to hold the policy against.
func (c *compared) policyBase() []check.Finding {
	switch {
	case c.introduced:
		return []check.Finding{{
			CheckID: policyBaseAbsent, Source: c.manifestSource(),
			Evidence: map[string]any{"kind": "manifest_introduced"},
		}}
	case c.policies[0] == nil && c.head != nil:
		return []check.Finding{{
			CheckID: policyBaseAbsent, Source: c.manifestSource(),
			Evidence: map[string]any{"kind": "base_snapshot_unavailable"},
		}}
	}
	return nil
}

func (c *compared) accepted() []check.Finding {
	base, head := c.policies[0], c.policies[1]
	if base == nil || head == nil {
		return nil
	}
	ids := grown(base.SuppressedCheckIDs, head.SuppressedCheckIDs)
	scopes := grown(base.WaiverScopes, head.WaiverScopes)
	// A waiver for one tool is no growth where the whole check was waived before.
	scopes = slices.DeleteFunc(scopes, func(s string) bool {
		id, _, _ := strings.Cut(s, ":")
		return slices.Contains(base.SuppressedCheckIDs, id)
	})
	prints := grown(base.BaselineFingerprints, head.BaselineFingerprints)
	if len(ids)+len(scopes)+len(prints) == 0 {
		return nil
	}
	return []check.Finding{{
		CheckID: acceptedMore, Source: c.manifestSource(),
		Evidence: map[string]any{"added_check_ids": list(ids), "added_scopes": list(scopes), "added_fingerprints": list(prints)},
	}}
}

func list(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// gateWorkflows are where the workflow that runs the gate lies (§9.6).
var gateWorkflows = []string{".github/workflows/agents-shipgate.yml", ".github/workflows/agents-shipgate.yaml"}

// gatePresent says whether a workflow that runs the gate is there.
func gatePresent(root fs.FS) bool {
	return root != nil && slices.ContainsFunc(gateWorkflows, func(p string) bool { return present(root, p) })
}

func present(root fs.FS, path string) bool {
	f, err := root.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

func (c *compared) gateRemoved() []check.Finding {
	if c.roots[0] == nil || !gatePresent(c.roots[0]) || gatePresent(c.roots[1]) {
		return nil
	}
	var found []check.Finding
	for _, p := range gateWorkflows {
		if present(c.roots[0], p) {
			found = append(found, check.Finding{CheckID: gateRemoved, Source: inChange(p), Evidence: map[string]any{"path": p}})
		}
	}
	return found
}

// The markers of the managed block (§21.4) and the names of the gate.
const (
	blockStart = "<!-- agents-shipgate:start"
	blockEnd   = "<!-- agents-shipgate:end -->"
)

// instructions looks for files that coding agents read and that lost what sends
// them to the gate.
func (c *compared) instructions() []check.Finding {
	if c.roots[0] == nil {
		return nil
	}
	var found []check.Finding
	for _, path := range c.changed {
		if surface.ClassOf(path) != surface.ClassInstructions {
			continue
		}
		before, after := text(c.roots[0], path), text(c.roots[1], path)
		var removed []string
		if block(before) && !block(after) {
			removed = append(removed, "managed_block")
		}
		if mentions(after) < mentions(before) {
			removed = append(removed, "gate_mentions")
		}
		if len(removed) > 0 {
			found = append(found, check.Finding{
				CheckID: instructionsWeakened, Source: inChange(path),
				Evidence: map[string]any{"path": path, "removed": list(removed)},
			})
		}
	}
	return found
}

func text(root fs.FS, path string) string {
	b, failed := tool.ReadFile(root, path)
	if failed != nil {
		return "" // a file that is not there, or cannot be read, says nothing to an agent
	}
	return string(b)
}

func block(text string) bool {
	_, rest, ok := strings.Cut(text, blockStart)
	return ok && strings.Contains(rest, blockEnd)
}

// mentions counts the lines that name the gate.
func mentions(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), "shipgate") {
			n++
		}
	}
	return n
}

// catalogs are where a repository may keep its copy of the trigger catalog.
var catalogs = []string{".agents-shipgate/triggers.json", ".shipgate/triggers.json"}

// triggerCatalog compares a committed copy with what the engine does: a copy
// that says otherwise sends agents the wrong way.
func (c *compared) triggerCatalog() []check.Finding {
	var found []check.Finding
	for _, path := range catalogs {
		b, failed := tool.ReadFile(c.roots[1], path)
		if failed != nil {
			continue
		}
		if differing := drifted(b); len(differing) > 0 {
			found = append(found, check.Finding{
				CheckID: catalogDrift, Source: inChange(path),
				Evidence: map[string]any{"path": path, "differing_rules": list(differing)},
			})
		}
	}
	return found
}

func drifted(text []byte) []string {
	var file struct {
		Rules []struct {
			ID     string `json:"id"`
			Action string `json:"action"`
		} `json:"rules"`
	}
	if json.Unmarshal(text, &file) != nil {
		return []string{"unreadable"}
	}
	ours := map[string]string{}
	for _, e := range trigger.Catalogue() {
		ours[e.ID] = string(e.Action)
	}
	differ := map[string]bool{}
	for _, r := range file.Rules {
		if action, ok := ours[r.ID]; !ok || action != r.Action {
			differ[r.ID] = true
		}
		delete(ours, r.ID)
	}
	for id := range ours {
		differ[id] = true
	}
	return sortedKeys(differ)
}

// toolkits compares constructors that open a family of provider tools.
func (c *compared) toolkits() []check.Finding {
	if c.base == nil || c.head == nil {
		return nil
	}
	var found []check.Finding
	key := func(t *tool.Toolkit) string { return t.Provider + "\x00" + t.Constructor + "\x00" + t.Binding }
	before := map[string]*tool.Toolkit{}
	kits := c.base.Surface.Reading.Toolkit
	for i := range kits {
		before[key(&kits[i])] = &kits[i]
	}
	after := c.head.Surface.Reading.Toolkit
	for i := range after {
		was, is := before[key(&after[i])], &after[i]
		if was == nil {
			continue
		}
		found = append(found, broadened(was, is)...)
		if was.Config == is.Config || was.Config == "" {
			continue
		}
		f := check.Finding{Source: check.SourceOf(is.Origin), Evidence: map[string]any{"binding": is.Binding}}
		f.CheckID = configRemoved
		if is.Config != "" {
			f.CheckID = configChanged
			f.Evidence["before"], f.Evidence["after"] = was.Config, is.Config
		}
		found = append(found, f)
	}
	return found
}

func broadened(was, is *tool.Toolkit) []check.Finding {
	var kind string
	added := grown(was.Scopes, is.Scopes)
	switch {
	case was.Limited && !is.Limited:
		kind = "allow_list_removed"
	case was.Limited && len(added) > 0:
		kind = "allow_list_widened"
	default:
		return nil
	}
	return []check.Finding{{
		CheckID: scopeBroadened, Source: check.SourceOf(is.Origin),
		Evidence: map[string]any{
			"kind": kind, "provider": is.Provider, "base_scopes": list(was.Scopes), "head_scopes": list(is.Scopes), "added_scopes": list(added),
			"constructor": is.Constructor, "binding": is.Binding, "source_ref": is.Origin.Ref, "source_line": is.Origin.Start.Line,
		},
	}}
}
