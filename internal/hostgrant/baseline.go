package hostgrant

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/source"
)

// baseline is the saved file: an inventory and the digest of what counts in it.
type baseline struct {
	Version   string     `json:"host_grants_baseline_schema_version"`
	SHA256    string     `json:"inventory_sha256"`
	Inventory *Inventory `json:"inventory"`
}

// Save is the bytes of a baseline. It refuses an incomplete inventory, since a
// saved gap would hide what lies in it, and one that could not be read back.
func Save(v *Inventory) ([]byte, error) {
	if i := v.blocker(); i != nil {
		return nil, &fault.Error{
			Kind: fault.Conflict, Op: "hostgrant.Save", Msg: fmt.Sprintf("the inventory is incomplete: %s: %s", i.Source, i.Message),
			Hint: "Mend or remove the file, and save again.",
		}
	}
	text, err := canonical.Document(&baseline{Version: BaselineVersion, SHA256: v.SHA256(), Inventory: v})
	if err == nil && len(text) > MaxBaseline {
		err = fault.E("hostgrant.Save", fault.Conflict, "the inventory is too large to be compared with", nil)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// SHA256 is sha256: and the digest of what counts when inventories are compared:
// everything but the name of the workspace.
func (v *Inventory) SHA256() string {
	c := *v
	c.Workspace = ""
	text, err := json.Marshal(&c)
	if err != nil {
		panic("hostgrant: an inventory has a JSON form: " + err.Error()) // its members all have
	}
	sum := sha256.Sum256(canonical.UTF8.Reorder(nil, text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// The reasons why a baseline is not to be compared with.
var (
	errMissing  = errors.New("baseline_missing")
	errTooLarge = errors.New("baseline_too_large")
	errMalform  = errors.New("baseline_malformed")
	errVersion  = errors.New("baseline_version")
	errDamaged  = errors.New("baseline_damaged")
)

// read reads a baseline and refuses one that Save did not write, letter by
// letter in meaning: what a member of it could not say is not lost in silence.
func read(text []byte) (*Inventory, error) {
	switch {
	case text == nil:
		return nil, errMissing
	case len(text) > MaxBaseline:
		return nil, errTooLarge
	}
	doc, failed := source.ParseJSON(text)
	if failed != nil || doc.Kind != source.Map {
		return nil, errMalform
	}
	if v := doc.Get("host_grants_baseline_schema_version"); v.Kind != source.String || v.Text != BaselineVersion {
		return nil, errVersion
	}
	var b baseline
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil || b.Inventory == nil {
		return nil, errMalform
	}
	v := b.Inventory
	if !v.wellFormed() {
		return nil, errMalform
	}
	again, err := canonical.Document(&b)
	if err != nil {
		return nil, errMalform
	}
	same, failed := source.ParseJSON(again)
	if failed != nil || !same.Equal(doc) || b.SHA256 != v.SHA256() {
		return nil, errDamaged
	}
	return v, nil
}

// wellFormed says whether the words of an inventory are those that are known and
// its ids are unique.
func (v *Inventory) wellFormed() bool {
	if v.Version != InventoryVersion || !v.Scope.Valid() || !v.StaticOnly || v.SessionVerified {
		return false
	}
	ids := map[string]bool{}
	once := func(id string) bool {
		fresh := id != "" && !ids[id]
		ids[id] = true
		return fresh
	}
	for i := range v.Grants {
		if g := &v.Grants[i]; !once(g.ID) || !g.valid() {
			return false
		}
	}
	for i := range v.Artifacts {
		if a := &v.Artifacts[i]; !once(a.ID) || !slices.Contains(hosts, a.Host) || !a.Scope.Valid() {
			return false
		}
	}
	for i := range v.Issues {
		if n := &v.Issues[i]; !once(n.ID) || !slices.Contains(hosts, n.Host) {
			return false
		}
	}
	for i := range v.Coverage {
		if c := &v.Coverage[i]; !once(string(c.Host)+" "+string(c.Scope)) || !slices.Contains(hosts, c.Host) || !c.Scope.Valid() {
			return false
		}
	}
	return true
}

func (g *Grant) valid() bool {
	return slices.Contains(kinds, g.Kind) && slices.Contains(hosts, g.Host) && g.Scope.Valid() &&
		slices.Contains(accesses, g.Access) && slices.Contains(risks, g.Risk) &&
		(g.Kind != PermissionRule || slices.Contains([]Disposition{Allow, Ask, Deny}, g.Disposition))
}

var (
	kinds = []Kind{
		AdditionalPath, Hook, InstructionTrustRoot, MCPServer, PermissionMode, PermissionRule, PluginOrApp, Profile, Requirement, Sandbox, Workflow,
	}
	accesses = []Access{NoAccess, Read, Write, Execute, External, Admin, Unknown}
	risks    = []Risk{NoRisk, Low, Medium, High, Critical, UnknownRisk}
)
