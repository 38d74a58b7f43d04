package execution

import (
	"context"
	"errors"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// Verification is a verify artifact that decides, and its decision: passed,
// review_required, insufficient_evidence or blocked.
type Verification struct {
	Decision string
	Artifact []byte
}

// VerifyRequest is a verify artifact of the commits of a chain.
type VerifyRequest struct {
	Task                   contract.ID
	BaseCommit, HeadCommit string
	Artifact               []byte
}

// owing says whether the boundary result of a run sends it to verify.
func (f *folder) owing() bool {
	return f.Control == "agent_action_required" && f.Route == "verify"
}

// verify makes the verification that the boundary result of a delivered run
// owes, and delivers its artifact (docs/spec/contracts.md §6.1, §20.3). It is
// made where the work is judged, in Stabilize, of the commits the run has
// reported. Whatever keeps it from deciding leaves it owed: nothing passes by it.
//
// The artifact is kept until the service has it, so that what is delivered again
// is the same. The error is that nobody answers.
func (r *Runner) verify(ctx context.Context, f *folder, repo *repository, res *Result) error {
	if !f.owing() || res.Status != Delivered || res.Outcome != phase.Succeeded {
		return nil
	}
	owed := func(why string) {
		res.Owed = redact.Text(why)
		r.note("verification is owed: %s", res.Owed)
	}
	if f.Phase != phase.Stabilize {
		owed("it is made in Stabilize, where the work is judged")
		return nil
	}
	v, err := r.verification(ctx, f, repo)
	if err != nil {
		owed(err.Error())
		return nil
	}
	err = r.persist(ctx, func(ctx context.Context) error {
		return r.conf.Server.Verify(ctx, f.Run+"-"+string(phase.VerifyResult), VerifyRequest{
			Task: f.Task, BaseCommit: f.Base, HeadCommit: f.End.HeadCommit, Artifact: v,
		})
	})
	switch {
	case err == nil:
		res.Verified = f.Verified
		r.note("verified: %s", res.Verified)
	case unanswered(err) || barred(err):
		return err
	default:
		owed("the service refuses the artifact: " + err.Error())
	}
	return nil
}

// verification is the artifact of a run: the one that is kept, or a new one.
func (r *Runner) verification(ctx context.Context, f *folder, repo *repository) ([]byte, error) {
	name := f.path(spoolDir, string(phase.VerifyResult))
	if f.Verified != "" {
		if b, err := readBounded(name, artifact.MaxSize); b != nil || err != nil {
			return b, err
		}
	}
	if r.conf.Verify == nil {
		return nil, errors.New("this runner cannot verify")
	}
	if repo == nil || f.Tree == nil {
		return nil, errors.New("the repository of the run is gone")
	}
	v, err := r.conf.Verify(ctx, r.reported(repo, f.Tree, f.Base, f.End.HeadCommit))
	if err != nil {
		return nil, err
	}
	if err := replaceFile(name, v.Artifact); err != nil {
		return nil, err
	}
	f.Verified = v.Decision
	return v.Artifact, f.save()
}
