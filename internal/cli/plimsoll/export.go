package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/bundle"
	"plimsoll.dev/internal/fault"
)

const exportLong = `export writes the proof of an approved gate as a folder that anybody can check
without the service: every version of every contract of the chain and the
Evidence of its runs, each as a signed in-toto statement, a signed manifest of
them, and a sealed copy of the audit log. It needs a token with the scope audit.

The folder must not be there, and is there only when all of it is.`

func exportCommand(s *session) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "export GATE", Short: "Write the proof of a release as a folder", Long: exportLong, Args: cobra.ExactArgs(1),
		Example: "  plimsoll export PG-001 -o bundle\n  plimsoll verify-bundle bundle --key plimsoll.key.pub",
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				out = args[0] + ".bundle"
			}
			return s.export(c.Context(), args[0], out)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "folder to write; it must not be there (default: GATE.bundle)")
	return c
}

func (s *session) export(ctx context.Context, gate, out string) (err error) {
	to := s.env.abs(out)
	if _, err := os.Lstat(to); err == nil {
		return usage("%s is there already", out)
	}
	cl, err := s.client()
	if err != nil {
		return err
	}
	var signed api.Bundle
	if _, err := cl.get(ctx, "/v1/gates/"+url.PathEscape(gate)+"/bundle", nil, &signed); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+".")
	if err != nil {
		return fault.E("plimsoll", fault.Invalid, "write "+out, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(fresh))
		}
	}()
	for _, f := range signed.Files {
		// Where a file goes is not for the service to say.
		if !bundle.KnownName(f.Path) || f.Path == bundle.LogName {
			return fault.E("plimsoll", fault.Unavailable, "the service sent a file that no bundle has", nil)
		}
		path := filepath.Join(fresh, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fault.E("plimsoll", fault.Unavailable, "write "+out, err)
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o600); err != nil {
			return fault.E("plimsoll", fault.Unavailable, "write "+out, err)
		}
	}
	if err := cl.saveLog(ctx, filepath.Join(fresh, bundle.LogName)); err != nil {
		return err
	}
	if err := os.Rename(fresh, to); err != nil {
		return fault.E("plimsoll", fault.Invalid, "write "+out, err)
	}
	_, err = fmt.Fprintf(s.env.Stdout, "%s: %d signed statements and the audit log\n", out, len(signed.Files))
	return err
}

// saveLog writes a sealed copy of the whole log. One that breaks off lacks its
// last checkpoint, which whoever checks the bundle is told.
func (c *client) saveLog(ctx context.Context, path string) (err error) {
	body, err := c.open(ctx, call{method: http.MethodGet, path: "/v1/audit/export"})
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.E("plimsoll", fault.Unavailable, "write "+path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.Copy(f, body); err != nil {
		return unanswered(c.base, err)
	}
	return nil
}
