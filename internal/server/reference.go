package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
)

// reference is the branch the chains work on, in a repository that the operator
// keeps on this machine: the one people push to, or a mirror of it
// (docs/spec/contracts.md §11). Git is asked for one commit; it starts no program,
// opens no connection and writes nothing, whoever owns the repository. Keeping a
// mirror current is the operator's.
type reference struct{ dir, branch string }

const referenceTime = 5 * time.Second

// Tip implements pipeline.Reference.
func (r reference) Tip(ctx context.Context, _ string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, referenceTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "-C", r.dir, "rev-parse", "--verify", "--quiet", "--end-of-options", "refs/heads/"+r.branch+"^{commit}")
	cmd.Env, cmd.WaitDelay = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C"}, time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fault.E("server.Reference", fault.Unavailable, fmt.Sprintf("read the branch %s of %s", r.branch, r.dir), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Fetch implements pipeline.Reference: what the mirror has now.
func (r reference) Fetch(ctx context.Context, repository string) (string, error) {
	return r.Tip(ctx, repository)
}
