package refusal

// Code is the stable name of one reason to refuse. People read the message;
// programs switch on the code.
type Code string

// The codes, in the order of the catalogue (docs/spec/contracts.md §16).
const (
	ContractSchemaInvalid         Code = "contract.schema_invalid"
	ContractInitialStateForbidden Code = "contract.initial_state_forbidden"
	ContractTransitionForbidden   Code = "contract.transition_forbidden"
	ContractTransitionNoOp        Code = "contract.transition_noop"
	ContractArchivedImmutable     Code = "contract.archived_immutable"
	ContractPredecessorLive       Code = "contract.predecessor_live"
	ContractVersionConflict       Code = "contract.version_conflict"
	ContractVersionStale          Code = "contract.version_stale"
	ContractNotEditable           Code = "contract.not_editable"
	ContractUpdatedBeforeCreated  Code = "contract.updated_before_created"

	RefNotFound Code = "ref.not_found"

	RoleUnknown      Code = "role.unknown"
	RoleNotPermitted Code = "role.not_permitted"

	CapabilityUnknown      Code = "capability.unknown"
	CapabilityNotGranted   Code = "capability.not_granted"
	CapabilityNotRequested Code = "capability.not_requested"

	TaskseedNotActive            Code = "taskseed.not_active"
	TaskseedCapabilitiesMismatch Code = "taskseed.capabilities_mismatch"

	GenerationPolicyApprovalsEmpty Code = "generation_policy.approvals_empty"
	GenerationPolicyContradictory  Code = "generation_policy.contradictory"
	GenerationPolicyTooWeak        Code = "generation_policy.too_weak"

	GenerationSourceNotActive Code = "generation.source_not_active"
	GenerationTimeout         Code = "generation.timeout"
	GenerationInternal        Code = "generation.internal"
	GenerationDuplicate       Code = "generation.duplicate"
	GenerationExhausted       Code = "generation.exhausted"

	StoreUnavailable Code = "store.unavailable"

	ActivationApprovalsMissing Code = "activation.approvals_missing"
	ActivationRejected         Code = "activation.rejected"
	ActivationRoundClosed      Code = "activation.round_closed"
	ActivationRoleNotRequired  Code = "activation.role_not_required"
	ActivationNotDraft         Code = "activation.not_draft"
	ActivationSourceNotActive  Code = "activation.source_not_active"

	ApprovalRoleNotHeld      Code = "approval.role_not_held"
	ApprovalHumanRequired    Code = "approval.human_required"
	ApprovalActorNotDistinct Code = "approval.actor_not_distinct"
	ApprovalSelfApproval     Code = "approval.self_approval"

	AcceptanceNotPassed Code = "acceptance.not_passed"

	GateAcceptanceNotPassed       Code = "gate.acceptance_not_passed"
	GateAcceptanceNotActive       Code = "gate.acceptance_not_active"
	GateMissing                   Code = "gate.missing"
	GateNotApproved               Code = "gate.not_approved"
	GateRejected                  Code = "gate.rejected"
	GateExpired                   Code = "gate.expired"
	GateAlreadyFinal              Code = "gate.already_final"
	GateNotActive                 Code = "gate.not_active"
	GateOnHold                    Code = "gate.on_hold"
	GateDigestMismatch            Code = "gate.digest_mismatch"
	GateRoleNotRequired           Code = "gate.role_not_required"
	GateApprovalsIncomplete       Code = "gate.approvals_incomplete"
	GateRequiredApprovalsMismatch Code = "gate.required_approvals_mismatch"
	GateRiskTooLow                Code = "gate.risk_too_low"
	GateDeadlineRequired          Code = "gate.deadline_required"
	GateDeadlineInvalid           Code = "gate.deadline_invalid"
	GatePendingForbidden          Code = "gate.pending_forbidden"
	GateApprovalLate              Code = "gate.approval_late"
	GateApprovalEarly             Code = "gate.approval_early"
	GateAutoApprovalRecordMissing Code = "gate.auto_approval_record_missing"
	GateDecisionMismatch          Code = "gate.decision_mismatch"
	GateStateDecisionMismatch     Code = "gate.state_decision_mismatch"
	GateActionDecisionMismatch    Code = "gate.action_decision_mismatch"

	FreezeCauseRequired      Code = "freeze.cause_required"
	FreezeCauseNotCleared    Code = "freeze.cause_not_cleared"
	FreezeResolutionRequired Code = "freeze.resolution_required"

	SupersedeSuccessorMissing      Code = "supersede.successor_missing"
	SupersedeVersionNotGreater     Code = "supersede.version_not_greater"
	SupersedeSuccessorNotPublished Code = "supersede.successor_not_published"

	RevokeGroundRequired Code = "revoke.ground_required"
	RevokeReasonRequired Code = "revoke.reason_required"

	ArchiveNotDue Code = "archive.not_due"

	PhaseTransitionForbidden Code = "phase.transition_forbidden"
	PhaseTransitionNoOp      Code = "phase.transition_noop"
	PhaseActorNotPermitted   Code = "phase.actor_not_permitted"
	PhaseEvidenceMissing     Code = "phase.evidence_missing"
	PhaseManualRequired      Code = "phase.manual_required"
	PhaseGuardFailed         Code = "phase.guard_failed"
	PhaseReviewIncomplete    Code = "phase.review_incomplete"
	PhaseTimeout             Code = "phase.timeout"
	PhaseRetryExhausted      Code = "phase.retry_exhausted"
	PhaseReturnsExhausted    Code = "phase.returns_exhausted"
	PhaseNotPublish          Code = "phase.not_publish"

	EvidenceTimeOrder                   Code = "evidence.time_order"
	EvidenceStateInvalid                Code = "evidence.state_invalid"
	EvidenceVersionInvalid              Code = "evidence.version_invalid"
	EvidenceActorUnknown                Code = "evidence.actor_unknown"
	EvidenceEmptyDiffHashMismatch       Code = "evidence.empty_diff_hash_mismatch"
	EvidenceContainerDigestInvalid      Code = "evidence.container_digest_invalid"
	EvidenceInputHashMismatch           Code = "evidence.input_hash_mismatch"
	EvidenceHashFormat                  Code = "evidence.hash_format"
	EvidenceApprovalsSnapshotMissing    Code = "evidence.approvals_snapshot_missing"
	EvidenceApprovalsSnapshotMismatch   Code = "evidence.approvals_snapshot_mismatch"
	EvidenceApprovalsSnapshotUnexpected Code = "evidence.approvals_snapshot_unexpected"
	EvidencePolicyVerdictMismatch       Code = "evidence.policy_verdict_mismatch"
	EvidenceImmutable                   Code = "evidence.immutable"

	IngestEncoding        Code = "ingest.encoding"
	IngestLineTooLarge    Code = "ingest.line_too_large"
	IngestLineMalformed   Code = "ingest.line_malformed"
	IngestLineIncomplete  Code = "ingest.line_incomplete"
	IngestDuplicateKey    Code = "ingest.duplicate_key"
	IngestNotObject       Code = "ingest.not_object"
	IngestNoContext       Code = "ingest.no_context"
	IngestKindNotAccepted Code = "ingest.kind_not_accepted"

	HashInvalidUnicode Code = "hash.invalid_unicode"
	HashDuplicateKey   Code = "hash.duplicate_key"
	HashNonFinite      Code = "hash.non_finite"

	StaleHard Code = "stale.hard"

	LockKeyInvalid  Code = "lock.key_invalid"
	LockPathInvalid Code = "lock.path_invalid"
	LockHeld        Code = "lock.held"
	LockNotHolder   Code = "lock.not_holder"
	LockLost        Code = "lock.lost"
	LockExhausted   Code = "lock.exhausted"

	MergeNotSameContract Code = "merge.not_same_contract"
	MergeManualRequired  Code = "merge.manual_required"

	RequestNotFound             Code = "request.not_found"
	RequestMethodNotAllowed     Code = "request.method_not_allowed"
	RequestTooLarge             Code = "request.too_large"
	RequestUnsupportedMediaType Code = "request.unsupported_media_type"

	AuthRequired     Code = "auth.required"
	AuthScopeMissing Code = "auth.scope_missing"

	RequestKeyRequired          Code = "request.key_required"
	RequestIDConflict           Code = "request.id_conflict"
	RequestInProgress           Code = "request.in_progress"
	RequestNotUTF8              Code = "request.not_utf8"
	RequestMalformed            Code = "request.malformed"
	RequestCursorInvalid        Code = "request.cursor_invalid"
	RequestPreconditionRequired Code = "request.precondition_required"
	RequestPreconditionFailed   Code = "request.precondition_failed"
	RequestRateLimited          Code = "request.rate_limited"
	RequestInternal             Code = "request.internal"

	RoleNotNamed Code = "role.not_named"

	EventSequenceGone Code = "event.sequence_gone"

	WebhookAddressForbidden Code = "webhook.address_forbidden"

	ActorIDTaken   Code = "actor.id_taken"
	ActorLastAdmin Code = "actor.last_admin"
)

// The two warnings. They accept: what they are about is kept.
const (
	EvidenceLate            Code = "evidence.late"
	EvidenceDiffNotSupplied Code = "evidence.diff_not_supplied"
)

// Entry is what the catalogue says of a code.
type Entry struct {
	Layer     Layer
	Status    int    // HTTP status of the answer, or Never, or Line
	Retryable bool   // the same request may succeed later
	When      string // when it arises
}

// The two places a code can be found in besides an answer.
const (
	Never = 0  // only in results and audit records
	Line  = -1 // only in the line report of an ingestion, whose answer is 200
)

var catalogue = map[Code]Entry{
	ContractSchemaInvalid:               {Schema, 422, false, "document fails its schema, kind/state unknown, timestamp outside the profile, other schemaVersion"},
	ContractInitialStateForbidden:       {Orchestrator, Never, false, "creation in a state section 2.2 does not allow"},
	ContractTransitionForbidden:         {Orchestrator, 409, false, "pair of states not in the matrix, or edge not open for this cause or profile"},
	ContractTransitionNoOp:              {Orchestrator, 409, false, "from equals to"},
	ContractArchivedImmutable:           {Orchestrator, 409, false, "any change to an Archived contract"},
	ContractPredecessorLive:             {Orchestrator, 409, true, "intent activated while its previous version is Active or Frozen"},
	ContractVersionConflict:             {Orchestrator, 409, false, "write with the stored version and different content"},
	ContractVersionStale:                {Orchestrator, 409, false, "write with a version below the stored one"},
	ContractNotEditable:                 {Orchestrator, 409, false, "content edit outside the table of 1.8, new intent version beside a Draft one"},
	ContractUpdatedBeforeCreated:        {Application, 422, false, "updatedAt earlier than createdAt"},
	RefNotFound:                         {Application, 404, true, "referenced id unknown"},
	RoleUnknown:                         {Orchestrator, 422, false, "role outside the ten"},
	RoleNotPermitted:                    {Orchestrator, 403, false, "role may not take this action"},
	CapabilityUnknown:                   {Orchestrator, 422, false, "capability outside the six"},
	CapabilityNotGranted:                {Orchestrator, 403, false, "role does not hold the capability"},
	CapabilityNotRequested:              {Orchestrator, 403, false, "capability missing from the TaskSeed snapshot"},
	TaskseedNotActive:                   {Orchestrator, 409, true, "operation, dispatch or Evidence for a TaskSeed that is not in a state allowing it"},
	TaskseedCapabilitiesMismatch:        {Application, 422, false, "snapshot differs from the intent's set"},
	GenerationPolicyApprovalsEmpty:      {Application, 422, false, "auto_activate false without approvers"},
	GenerationPolicyContradictory:       {Application, 422, false, "auto_activate true with approvers"},
	GenerationPolicyTooWeak:             {Application, 422, false, "policy weaker than derived or inherited"},
	GenerationSourceNotActive:           {Orchestrator, 409, false, "source contract not Active"},
	GenerationTimeout:                   {Orchestrator, Never, true, "budget of 4.1 exceeded, one attempt"},
	GenerationInternal:                  {Orchestrator, Never, true, "unexpected fault in a generator, one attempt"},
	GenerationDuplicate:                 {Orchestrator, Never, false, "idempotency key known; reported as success with the first target"},
	GenerationExhausted:                 {Orchestrator, Never, false, "first attempt and three retries failed; freeze"},
	StoreUnavailable:                    {Orchestrator, 503, true, "Contract or Evidence Store out of reach"},
	ActivationApprovalsMissing:          {Orchestrator, 409, true, "not every required role has approved this version"},
	ActivationRejected:                  {Orchestrator, 409, false, "a rejection was recorded for this version"},
	ActivationRoundClosed:               {Orchestrator, 409, false, "decision after a rejection of the same version"},
	ActivationRoleNotRequired:           {Orchestrator, 403, false, "decision under a role not on the list"},
	ActivationNotDraft:                  {Orchestrator, 409, false, "activation decision on a contract neither in Draft nor frozen out of Draft"},
	ActivationSourceNotActive:           {Orchestrator, 409, true, "source not Active when the target would be activated"},
	ApprovalRoleNotHeld:                 {Policy, 403, false, "actor does not hold the role"},
	ApprovalHumanRequired:               {Policy, 403, false, "non-human actor decides on a human gate or an activation"},
	ApprovalActorNotDistinct:            {Policy, 403, false, "option distinctActors: same person under two roles"},
	ApprovalSelfApproval:                {Policy, 403, false, "option forbidSelfApproval: the intent's creator"},
	AcceptanceNotPassed:                 {Orchestrator, 409, false, "Acceptance to be Published with a status other than passed"},
	GateAcceptanceNotPassed:             {Policy, 409, false, "gate for an Acceptance whose status is not passed"},
	GateAcceptanceNotActive:             {Policy, 409, true, "gate for an Acceptance not in Active"},
	GateMissing:                         {Policy, 409, true, "publication without a gate"},
	GateNotApproved:                     {Policy, 409, true, "gate still pending"},
	GateRejected:                        {Policy, 409, false, "gate was rejected"},
	GateExpired:                         {Policy, 409, false, "deadline passed"},
	GateAlreadyFinal:                    {Policy, 409, false, "decision or change after approval or rejection"},
	GateNotActive:                       {Policy, 409, true, "decision on a gate that is not Active, undecided"},
	GateOnHold:                          {Policy, 409, true, "approval or publication while action is hold"},
	GateDigestMismatch:                  {Policy, 409, false, "decision without the approval digest of this gate version (R14)"},
	GateRoleNotRequired:                 {Policy, 403, false, "decision by a role outside requiredApprovals"},
	GateApprovalsIncomplete:             {Policy, 409, false, "approved while a required role has not approved"},
	GateRequiredApprovalsMismatch:       {Policy, 409, false, "requiredApprovals differ from the matrix"},
	GateRiskTooLow:                      {Policy, 409, false, "riskLevel below the derived level"},
	GateDeadlineRequired:                {Policy, 409, false, "human gate without approvalDeadline"},
	GateDeadlineInvalid:                 {Policy, 409, false, "deadline not after createdAt"},
	GatePendingForbidden:                {Policy, 409, false, "pending without required approvals"},
	GateApprovalLate:                    {Policy, 409, false, "entry decided after the deadline"},
	GateApprovalEarly:                   {Policy, 409, false, "entry decided before the gate existed"},
	GateAutoApprovalRecordMissing:       {Policy, 409, false, "automatic gate without exactly one policy_engine entry"},
	GateDecisionMismatch:                {Policy, 409, false, "finalDecision not supported by the entries"},
	GateStateDecisionMismatch:           {Policy, 409, false, "state and finalDecision do not go together"},
	GateActionDecisionMismatch:          {Policy, 409, false, "action reject or hold with approved"},
	FreezeCauseRequired:                 {Orchestrator, 422, false, "freeze without a known cause"},
	FreezeCauseNotCleared:               {Orchestrator, 409, true, "resume while the cause persists"},
	FreezeResolutionRequired:            {Orchestrator, 422, false, "resume without resolution text"},
	SupersedeSuccessorMissing:           {Orchestrator, 409, true, "no successor"},
	SupersedeVersionNotGreater:          {Orchestrator, 409, false, "successor version not greater"},
	SupersedeSuccessorNotPublished:      {Orchestrator, 409, true, "successor not yet Published"},
	RevokeGroundRequired:                {Orchestrator, 422, false, "no ground"},
	RevokeReasonRequired:                {Orchestrator, 422, false, "no reason text"},
	ArchiveNotDue:                       {Orchestrator, 409, true, "retention not reached and no operating rule"},
	PhaseTransitionForbidden:            {Orchestrator, 409, false, "pair of phases not in section 7"},
	PhaseTransitionNoOp:                 {Orchestrator, 409, false, "same phase"},
	PhaseActorNotPermitted:              {Orchestrator, 403, false, "role not chosen for the phase"},
	PhaseEvidenceMissing:                {Orchestrator, 409, true, "required evidence absent"},
	PhaseManualRequired:                 {Orchestrator, 409, true, "person's intervention absent"},
	PhaseGuardFailed:                    {Orchestrator, 409, true, "guard not met"},
	PhaseReviewIncomplete:               {Orchestrator, 409, true, "required reviewers not complete"},
	PhaseTimeout:                        {Orchestrator, 409, true, "run exceeded its limit"},
	PhaseRetryExhausted:                 {Orchestrator, Never, false, "more failed runs than retries allow"},
	PhaseReturnsExhausted:               {Orchestrator, Never, false, "step back to Build with maxReturns used up; freeze"},
	PhaseNotPublish:                     {Orchestrator, 409, true, "publication outside phase Publish"},
	EvidenceTimeOrder:                   {Application, 422, false, "startTime after endTime"},
	EvidenceStateInvalid:                {Application, 422, false, "Evidence in a state other than Published at creation, or in one it cannot hold"},
	EvidenceVersionInvalid:              {Application, 422, false, "version other than 1"},
	EvidenceActorUnknown:                {Application, 422, false, "actor not registered"},
	EvidenceEmptyDiffHashMismatch:       {Application, 422, false, "same commits, diffHash not the empty-diff hash"},
	EvidenceContainerDigestInvalid:      {Application, 422, false, "neither the sentinel nor algorithm:value"},
	EvidenceInputHashMismatch:           {Application, 422, false, "supplied input does not hash to inputHash"},
	EvidenceHashFormat:                  {Application, 422, false, "hash written by this system not sha256 + 64 hex"},
	EvidenceApprovalsSnapshotMissing:    {Application, 422, false, "human decisions exist, snapshot absent"},
	EvidenceApprovalsSnapshotMismatch:   {Application, 422, false, "snapshot differs from the gate's human entries"},
	EvidenceApprovalsSnapshotUnexpected: {Application, 422, false, "snapshot without human decisions"},
	EvidencePolicyVerdictMismatch:       {Application, 422, false, "verdict contradicts the gate or the risk"},
	EvidenceImmutable:                   {Orchestrator, 409, false, "change of stored Evidence, same id with other content"},
	IngestEncoding:                      {Ingest, Line, false, "line not valid UTF-8"},
	IngestLineTooLarge:                  {Ingest, Line, false, "line over 1 MiB"},
	IngestLineMalformed:                 {Ingest, Line, false, "not JSON"},
	IngestLineIncomplete:                {Ingest, Line, true, "unfinished last line"},
	IngestDuplicateKey:                  {Ingest, Line, false, "duplicate member name"},
	IngestNotObject:                     {Ingest, Line, false, "JSON but no object"},
	IngestNoContext:                     {Ingest, Line, false, "logger record without protocol context (skipped)"},
	IngestKindNotAccepted:               {Ingest, Line, false, "contract of another kind"},
	HashInvalidUnicode:                  {Application, 422, false, "lone surrogate"},
	HashDuplicateKey:                    {Application, 422, false, "duplicate member name"},
	HashNonFinite:                       {Application, 422, false, "NaN, infinity or overflow"},
	StaleHard:                           {Orchestrator, 409, true, "hard_stale and no successful refetch"},
	LockKeyInvalid:                      {Application, 422, false, "key outside the two forms"},
	LockPathInvalid:                     {Application, 422, false, "path absolute, outside the root, empty or with U+0000"},
	LockHeld:                            {Orchestrator, 409, true, "held by another"},
	LockNotHolder:                       {Orchestrator, 409, false, "heartbeat or release by one who never held the key"},
	LockLost:                            {Orchestrator, 409, false, "expired, taken over or pre-empted; old token; heartbeat, write, release or result of a former holder"},
	LockExhausted:                       {Orchestrator, Never, false, "first attempt and three retries failed; freeze"},
	MergeNotSameContract:                {Orchestrator, 422, false, "different kind or id"},
	MergeManualRequired:                 {Orchestrator, 409, false, "same version, different content"},
	RequestNotFound:                     {Surface, 404, false, "no such route"},
	RequestMethodNotAllowed:             {Surface, 405, false, "route known, method not"},
	RequestTooLarge:                     {Surface, 413, false, "body over the limit of the route"},
	RequestUnsupportedMediaType:         {Surface, 415, false, "media type the route does not take"},
	AuthRequired:                        {Surface, 401, false, "no token, or one that is unknown, expired or revoked, or whose actor is inactive"},
	AuthScopeMissing:                    {Surface, 403, false, "token without the scope of the route"},
	RequestKeyRequired:                  {Surface, 400, false, "write without Idempotency-Key"},
	RequestIDConflict:                   {Surface, 422, false, "key known for this actor with another request"},
	RequestInProgress:                   {Surface, 409, true, "first request under this key not finished"},
	RequestNotUTF8:                      {Surface, 400, false, "body is not UTF-8"},
	RequestMalformed:                    {Surface, 400, false, "not JSON, duplicate member, unknown or missing member, parameter or header, wrong type or form"},
	RequestCursorInvalid:                {Surface, 400, false, "cursor not given out by this list with these filters"},
	RequestPreconditionRequired:         {Surface, 428, false, "If-Match missing where required"},
	RequestPreconditionFailed:           {Surface, 412, false, "If-Match is not the current entity tag"},
	RequestRateLimited:                  {Surface, 429, true, "over the rate of this token; Retry-After says when"},
	RequestInternal:                     {Surface, 500, true, "fault of the service; the incident id is in instance, nothing else"},
	RoleNotNamed:                        {Surface, 400, false, "several of the actor's roles may do it and none is named"},
	EventSequenceGone:                   {Surface, 410, false, "position older than the events kept"},
	WebhookAddressForbidden:             {Surface, 422, false, "address private, link-local or loopback, not https, or with credentials, and not allowed by configuration"},
	ActorIDTaken:                        {Surface, 409, false, "actor id in use, also by an inactive actor"},
	ActorLastAdmin:                      {Surface, 409, false, "the change would leave no active human admin"},
}
