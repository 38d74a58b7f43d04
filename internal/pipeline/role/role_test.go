package role_test

import (
	"testing"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/testdata/contracts"
)

// The matrix of docs/spec/contracts.md §8, as the vectors have it cell by cell.
func TestTheMatrix(t *testing.T) {
	type vector struct {
		Name          string
		Role          contract.Role
		Capability    capability.Capability
		Snapshot      *[]string
		TaskSeedState string
		Phase         string
		Expected      struct {
			OK   bool
			Code refusal.Code
		}
	}
	cells := 0
	for _, v := range contracts.Load[vector](t, "capabilities") {
		if v.Snapshot != nil || v.TaskSeedState != "" || v.Phase != "" { // package phase
			continue
		}
		cells++
		if err := role.Exercise(v.Role, v.Capability, capability.All); (err == nil) != v.Expected.OK || refusal.CodeOf(err) != v.Expected.Code {
			t.Errorf("%s: got %v", v.Name, err)
		}
		if v.Role.Valid() && v.Capability.Valid() && role.Grants(v.Role).Has(v.Capability) != v.Expected.OK {
			t.Errorf("%s: granted %s", v.Name, role.Grants(v.Role))
		}
	}
	if cells != 62 {
		t.Errorf("%d cells", cells)
	}
}

func TestARoleThatMayNotIsTold(t *testing.T) {
	may := contract.RolesOf(contract.ProjectLead)
	if err := role.Permit(contract.ProjectLead, may, "act"); err != nil {
		t.Error(err)
	}
	err := role.Permit(contract.QA, may, "release a hold")
	if refusal.CodeOf(err) != refusal.RoleNotPermitted || err.Error() != "role.not_permitted: the role qa may not release a hold" {
		t.Errorf("got %v", err)
	}
}
