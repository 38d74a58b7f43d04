package shipgate_test

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

// A failure names what it is about; a secret in the wrong place is not repeated,
// to a person or to an agent.
func TestAFailureRepeatsNoSecret(t *testing.T) {
	t.Parallel()
	secret := "gh" + "p_" + strings.Repeat("a1B2", 9)
	for _, args := range [][]string{
		{secret},
		{"check", "--agent", secret},
		{"check", "--" + secret},
		{"check", secret},
		{"check", "--diff", secret},
		{"explain", secret},
		{"schema", secret},
		{"preflight", "--plan", secret},
		{"audit", "--host", "--scope", secret},
		{"init", "--hooks", secret},
		{"init", "--workspace", secret},
		{"hook", secret},
		{"trigger", "--git-diff=" + secret},
		{"agent", "handoff", "--from", secret},
		{"apply-patches", "--from", secret},
		{"capability", "diff", "--base", secret, "--head", secret},
		{"doctor", "--workspace", secret},
		{"explain-finding", secret, "--from", secret},
	} {
		for _, mode := range []string{"", "1"} {
			env := shipgate.Env{Dir: t.TempDir(), Environ: append(quietGit(t.TempDir()), "AGENTS_SHIPGATE_AGENT_MODE="+mode)}
			code, out, errs := call(env, "", args)
			if code == 0 || len(out) > 0 {
				continue // it is a result, which says what was asked
			}
			if bytes.Contains(errs, []byte(secret)) {
				t.Errorf("%q prints %s", args[:1], strings.ReplaceAll(string(errs), secret, "SECRET"))
			}
		}
	}
}
