package rule

// Catalogue lists every rule in the order in which they run. The generic rules
// come last, because they look at what the others had to say: first the
// experimental surfaces, then the catch-alls, then what could not be read.
//
// The list is made anew for each caller; the rules it points to are shared and
// must not be written.
func Catalogue() []*Rule {
	return []*Rule{
		&CodexConfigParseFailed,
		&CodexUnknownPermissionKey,
		&CodexNetworkWildcard,
		&CodexNetworkExpanded,
		&CodexDangerFullAccess,
		&CodexMCPAutoApproveWrite,
		&CodexMCPAutoApproveUnknown,
		&CodexAppAutoApprove,
		&CodexAgentsShipgateRequirementRemoved,
		&CodexCIGateRemoved,
		&CodexPolicyWeakened,
		&CodexHookCommandChanged,
		&CodexSkillCommandChanged,

		&HostConfigParseFailed,
		&HostMCPServerAdded,
		&HostMCPServerChanged,
		&HostPermissionWildcardAllow,
		&HostPermissionAllowExpanded,
		&HostPermissionDenyRemoved,
		&HostHookChanged,
		&HostWorkflowWriteAll,
		&HostWorkflowPermissionsExpanded,
		&HostWorkflowPullRequestTargetAdded,

		&BoundaryExperimentalSurfaceChanged,
		&BoundaryStaticRequirementsChanged,
		&BoundaryProtectedSurfaceUnclassified,
		&BoundaryInputIncomplete,
	}
}

// ByID finds a rule by its id or by its check id; both are spelled exactly.
func ByID(id string) (*Rule, bool) {
	for _, r := range Catalogue() {
		if r.ID == id || r.CheckID == id {
			return r, true
		}
	}
	return nil, false
}
