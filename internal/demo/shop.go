package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"plimsoll.dev/internal/fault"
)

// shop is the sample repository. What begins with a dot in it begins with "dot-"
// here, so that it configures the sample's agents and nobody else's.
//
//go:embed shop
var shop embed.FS

// Lay writes the sample repository into a new folder and commits it. Git runs
// without the settings of whoever runs it.
func Lay(ctx context.Context, dir string, environ []string) error {
	const op = "demo.Lay"
	err := fs.WalkDir(shop, "shop", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(dotted(strings.TrimPrefix(name, "shop"))))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := shop.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	if err != nil {
		return fault.E(op, fault.Unavailable, "write the sample repository", err)
	}
	for _, line := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "The shop"},
		{"config", "user.email", "shop@example.org"},
		{"add", "-A"},
		{"commit", "-q", "-m", "Begin the shop"},
	} {
		cmd := exec.CommandContext(ctx, "git", line...)
		cmd.Dir = dir
		cmd.Env = append(apart(environ), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			if errors.Is(err, exec.ErrNotFound) {
				return fault.E(op, fault.Unavailable, "there is no git on this machine", nil).WithHint("install git; every run of an agent needs it")
			}
			return fault.E(op, fault.Unavailable, fmt.Sprintf("git %s: %s", line[0], strings.TrimSpace(string(out))), nil)
		}
	}
	return nil
}

// dotted gives a path its dots back.
func dotted(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if rest, ok := strings.CutPrefix(p, "dot-"); ok {
			parts[i] = "." + rest
		}
	}
	return path.Join(parts...)
}

// apart is an environment without what would lead git elsewhere.
func apart(environ []string) []string {
	out := make([]string, 0, len(environ))
	for _, kv := range environ {
		if !strings.HasPrefix(strings.ToUpper(kv), "GIT_") {
			out = append(out, kv)
		}
	}
	return out
}
