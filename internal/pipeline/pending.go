package pipeline

import (
	"context"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

var errPending = fault.E("pipeline", fault.Unavailable, "this operation is being written", nil)

// ContractList will be here.
func (s *Service) ContractList(ctx context.Context, f ContractFilter, p Page) ([]*Shown, error) {
	return nil, errPending
}

// ContractGet will be here.
func (s *Service) ContractGet(ctx context.Context, id contract.ID, version int64) (*Shown, error) {
	return nil, errPending
}

// ContractVersions will be here.
func (s *Service) ContractVersions(ctx context.Context, id contract.ID) ([]*Shown, []Replaced, error) {
	return nil, nil, errPending
}

// ContractEdit will be here.
func (s *Service) ContractEdit(ctx context.Context, by Caller, a EditArgs) (*Shown, error) {
	return nil, errPending
}

// ActivationList will be here.
func (s *Service) ActivationList(ctx context.Context, id contract.ID) ([]Vote, error) {
	return nil, errPending
}

// ActivationDecide will be here.
func (s *Service) ActivationDecide(ctx context.Context, by Caller, a ActivationArgs) (*ActivationResult, error) {
	return nil, errPending
}

// ContractFreeze will be here.
func (s *Service) ContractFreeze(ctx context.Context, by Caller, a FreezeArgs) (*Shown, error) {
	return nil, errPending
}

// ContractResume will be here.
func (s *Service) ContractResume(ctx context.Context, by Caller, a ResumeArgs) (*Shown, error) {
	return nil, errPending
}

// ContractRevoke will be here.
func (s *Service) ContractRevoke(ctx context.Context, by Caller, a RevokeArgs) (*Shown, error) {
	return nil, errPending
}

// ContractArchive will be here.
func (s *Service) ContractArchive(ctx context.Context, by Caller, a ArchiveArgs) (*Shown, error) {
	return nil, errPending
}

// MergeResolve will be here.
func (s *Service) MergeResolve(ctx context.Context, by Caller, a ResolveArgs) (*Shown, error) {
	return nil, errPending
}

// IntentCreate will be here.
func (s *Service) IntentCreate(ctx context.Context, by Caller, a IntentArgs) (*Shown, error) {
	return nil, errPending
}

// IntentRevise will be here.
func (s *Service) IntentRevise(ctx context.Context, by Caller, id contract.ID, a IntentArgs) (*Shown, error) {
	return nil, errPending
}

// ChainList will be here.
func (s *Service) ChainList(ctx context.Context, f ChainFilter, p Page) ([]*Chain, error) {
	return nil, errPending
}

// ChainGet will be here.
func (s *Service) ChainGet(ctx context.Context, id contract.ID) (*ChainShown, error) {
	return nil, errPending
}

// TaskList will be here.
func (s *Service) TaskList(ctx context.Context, f ContractFilter, p Page) ([]*Shown, error) {
	return nil, errPending
}

// TaskClaim will be here.
func (s *Service) TaskClaim(ctx context.Context, by Caller, a ClaimArgs) (*Claim, error) {
	return nil, errPending
}

// RunList will be here.
func (s *Service) RunList(ctx context.Context, f RunFilter, p Page) ([]*Run, error) {
	return nil, errPending
}

// RunGet will be here.
func (s *Service) RunGet(ctx context.Context, id string) (*Run, error) { return nil, errPending }

// RunHeartbeat will be here.
func (s *Service) RunHeartbeat(ctx context.Context, by Caller, id string) (*Beat, error) {
	return nil, errPending
}

// RunComplete will be here.
func (s *Service) RunComplete(ctx context.Context, by Caller, a CompleteArgs) (*Ended, error) {
	return nil, errPending
}

// RunFail will be here.
func (s *Service) RunFail(ctx context.Context, by Caller, a FailArgs) (*Ended, error) {
	return nil, errPending
}

// RunRelease will be here.
func (s *Service) RunRelease(ctx context.Context, by Caller, a ReleaseArgs) (*Ended, error) {
	return nil, errPending
}

// ArtifactPut will be here.
func (s *Service) ArtifactPut(ctx context.Context, by Caller, a ArtifactArgs) (*ArtifactPut, error) {
	return nil, errPending
}

// ArtifactList will be here.
func (s *Service) ArtifactList(ctx context.Context, execution string) ([]Artifact, error) {
	return nil, errPending
}

// ArtifactGet will be here.
func (s *Service) ArtifactGet(ctx context.Context, execution string, kind ArtifactKind) (*Artifact, error) {
	return nil, errPending
}

// OperationRequest will be here.
func (s *Service) OperationRequest(ctx context.Context, by Caller, a OperationArgs) error {
	return errPending
}

// ReviewList will be here.
func (s *Service) ReviewList(ctx context.Context, task contract.ID) ([]Review, error) {
	return nil, errPending
}

// ReviewRecord will be here.
func (s *Service) ReviewRecord(ctx context.Context, by Caller, a ReviewArgs) (*Review, error) {
	return nil, errPending
}

// VerifyRecord will be here.
func (s *Service) VerifyRecord(ctx context.Context, by Caller, a VerifyArgs) (*ArtifactPut, error) {
	return nil, errPending
}

// NoteGet will be here.
func (s *Service) NoteGet(ctx context.Context, task contract.ID) (*NoteShown, error) {
	return nil, errPending
}

// AcceptanceReevaluate will be here.
func (s *Service) AcceptanceReevaluate(ctx context.Context, by Caller, a ReevaluateArgs) (*Shown, error) {
	return nil, errPending
}

// GateList will be here.
func (s *Service) GateList(ctx context.Context, f ContractFilter, p Page) ([]*Shown, error) {
	return nil, errPending
}

// GateGet will be here.
func (s *Service) GateGet(ctx context.Context, id contract.ID) (*Shown, error) {
	return nil, errPending
}

// GateStatus will be here.
func (s *Service) GateStatus(ctx context.Context, a GateStatusArgs) (*GateStatus, error) {
	return nil, errPending
}

// GateDecide will be here.
func (s *Service) GateDecide(ctx context.Context, by Caller, a GateArgs) (*GateResult, error) {
	return nil, errPending
}

// GateHold will be here.
func (s *Service) GateHold(ctx context.Context, by Caller, a HoldArgs) (*Shown, error) {
	return nil, errPending
}

// GateRelease will be here.
func (s *Service) GateRelease(ctx context.Context, by Caller, a HoldArgs) (*Shown, error) {
	return nil, errPending
}

// EvidenceList will be here.
func (s *Service) EvidenceList(ctx context.Context, f ContractFilter, p Page) ([]*Shown, error) {
	return nil, errPending
}

// EvidenceIngest will be here.
func (s *Service) EvidenceIngest(ctx context.Context, by Caller, text []byte) (*IngestResult, error) {
	return nil, errPending
}

// EventList will be here.
func (s *Service) EventList(ctx context.Context, after int64, f EventFilter, limit int) ([]Event, error) {
	return nil, errPending
}

// AuditList will be here.
func (s *Service) AuditList(ctx context.Context, after int64, f AuditFilter, limit int) ([]AuditLine, error) {
	return nil, errPending
}

// AuditHead will be here.
func (s *Service) AuditHead(ctx context.Context) (event.Head, error) { return event.Head{}, errPending }

// LockList will be here.
func (s *Service) LockList(ctx context.Context, f LockFilter, p Page) ([]Lock, error) {
	return nil, errPending
}

// LockAcquire will be here.
func (s *Service) LockAcquire(ctx context.Context, by Caller, a AcquireArgs) (*Acquired, error) {
	return nil, errPending
}

// LockHeartbeat will be here.
func (s *Service) LockHeartbeat(ctx context.Context, by Caller, lockID string) (*Acquired, error) {
	return nil, errPending
}

// LockRelease will be here.
func (s *Service) LockRelease(ctx context.Context, by Caller, lockID string) error { return errPending }

// WebhookList will be here.
func (s *Service) WebhookList(ctx context.Context, by Caller, p Page) ([]*Webhook, error) {
	return nil, errPending
}

// WebhookCreate will be here.
func (s *Service) WebhookCreate(ctx context.Context, by Caller, a WebhookArgs) (*Secret[*Webhook], error) {
	return nil, errPending
}

// WebhookGet will be here.
func (s *Service) WebhookGet(ctx context.Context, by Caller, id string) (*Webhook, error) {
	return nil, errPending
}

// WebhookEdit will be here.
func (s *Service) WebhookEdit(ctx context.Context, by Caller, a WebhookArgs) (*Webhook, error) {
	return nil, errPending
}

// WebhookDelete will be here.
func (s *Service) WebhookDelete(ctx context.Context, by Caller, id string) error { return errPending }

// WebhookRotate will be here.
func (s *Service) WebhookRotate(ctx context.Context, by Caller, id string) (*Secret[*Webhook], error) {
	return nil, errPending
}

// WebhookTest will be here.
func (s *Service) WebhookTest(ctx context.Context, by Caller, id string) error { return errPending }

// WebhookReplay will be here.
func (s *Service) WebhookReplay(ctx context.Context, by Caller, a ReplayArgs) error {
	return errPending
}

// DeliveryList will be here.
func (s *Service) DeliveryList(ctx context.Context, by Caller, f DeliveryFilter, behind int64, limit int) ([]Delivery, error) {
	return nil, errPending
}

// ActorList will be here.
func (s *Service) ActorList(ctx context.Context, p Page) ([]*Actor, error) { return nil, errPending }

// ActorCreate will be here.
func (s *Service) ActorCreate(ctx context.Context, by Caller, a ActorArgs) (*Actor, error) {
	return nil, errPending
}

// ActorGet will be here.
func (s *Service) ActorGet(ctx context.Context, id contract.ActorID) (*Actor, error) {
	return nil, errPending
}

// ActorEdit will be here.
func (s *Service) ActorEdit(ctx context.Context, by Caller, a ActorEdit) (*Actor, error) {
	return nil, errPending
}

// TokenList will be here.
func (s *Service) TokenList(ctx context.Context, by Caller, actor contract.ActorID, p Page) ([]*Token, error) {
	return nil, errPending
}

// TokenCreate will be here.
func (s *Service) TokenCreate(ctx context.Context, by Caller, a TokenArgs) (*Secret[*Token], error) {
	return nil, errPending
}

// TokenRevoke will be here.
func (s *Service) TokenRevoke(ctx context.Context, by Caller, id string) error { return errPending }

// Authenticate will be here.
func (s *Service) Authenticate(ctx context.Context, secret string) (*Identity, error) {
	return nil, errPending
}

// Settings will be here.
func (s *Service) Settings() Settings { return Settings{} }

// Known will be here.
func (s *Service) Known(ctx context.Context, by Caller) (*Request, error) { return nil, errPending }

// Refuse will be here.
func (s *Service) Refuse(ctx context.Context, by Caller, operationID string, err error) error {
	return errPending
}
