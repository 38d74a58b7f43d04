package plimsoll

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/bundle"
	"plimsoll.dev/internal/fault"
)

const verifyBundleLong = `verify-bundle checks a folder that export wrote, without the service and without
the network. The public key comes from --key and never from the bundle: it is
what you trust. The key of a service is in the file beside its private key, as
plimsoll init made it.

It checks every signature and digest, that no file is missing and none was
added, that the contracts lead from the gate to the intent, that the digest
people agreed to is that of these documents, that everybody who had to agree
did, that the audit log holds from its beginning past the checkpoint in the
manifest, that its records about these contracts are exactly those the manifest
names, and that the decisions in it are those of the gate.

   0  good; what was checked is said item by item
   1  not good: the first bad item is named
   2  the command line does not read
   3  the bundle or a key cannot be read

What no check can show from the bundle alone: that no gate of a later time took
this one back. --commit holds the bundle against the commit you are about to
release, and --diff against the hash of its change, which a rebase that changes
no byte leaves as it is.`

// verifyBundle asks nobody: the folder and the keys are all it reads.
func verifyBundle(s *session) *cobra.Command {
	var keys []string
	var want sought
	c := &cobra.Command{
		Use: "verify-bundle DIR", Short: "Check the proof of a release, offline", Long: verifyBundleLong, Args: cobra.ExactArgs(1),
		Example: `  plimsoll verify-bundle bundle --key plimsoll.key.pub
  plimsoll verify-bundle bundle --key plimsoll.key.pub --commit "$(git rev-parse HEAD)" --json`,
		RunE: func(_ *cobra.Command, args []string) error { return s.verifyBundle(args[0], keys, want) },
	}
	c.Flags().StringArrayVar(&keys, "key", nil, "public key of the service, or a file with it; may be repeated")
	c.Flags().StringVar(&want.commit, "commit", "", "the bundle must be about this commit, in full")
	c.Flags().StringVar(&want.diff, "diff", "", "the bundle must be about the change with this hash")
	must(c.MarkFlagRequired("key"))
	return c
}

// sought is what the bundle must be about; what is empty is not asked for.
type sought struct{ commit, diff string }

func (w sought) not(r bundle.Report) *bundle.Problem {
	for _, about := range []struct{ what, asked, is string }{{"commit", w.commit, r.Released}, {"change", w.diff, r.DiffHash}} {
		if about.asked != "" && about.asked != about.is {
			return &bundle.Problem{Kind: bundle.Contradicted, Item: bundle.ManifestName, Msg: "it is about the " + about.what + " " + about.is}
		}
	}
	return nil
}

// verdict is what --json prints.
type verdict struct {
	Good bool `json:"good"`
	bundle.Report
	Problem *bundle.Problem `json:"problem,omitempty"`
}

func (s *session) verifyBundle(dir string, keys []string, want sought) (err error) {
	texts := []string{}
	for _, key := range keys {
		if _, err := auditlog.Keys(key); err == nil {
			texts = append(texts, key)
			continue
		}
		text, err := os.ReadFile(s.env.abs(key))
		if err != nil {
			return unreadable("read the key "+key, err)
		}
		texts = append(texts, strings.Fields(string(text))...)
	}
	verifiers, err := auditlog.Keys(texts...)
	if err != nil {
		return usage("%v", err)
	}
	root, err := os.OpenRoot(s.env.abs(dir))
	if err != nil {
		return unreadable("read "+dir, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	v := verdict{}
	v.Report, err = bundle.Verify(root.FS(), verifiers)
	if wrong, ok := errors.AsType[*bundle.Problem](err); ok {
		v.Problem = wrong
	} else if err != nil {
		return unreadable("read "+dir, err)
	}
	if err == nil {
		v.Problem = want.not(v.Report)
	}
	v.Good = v.Problem == nil
	return s.printVerdict(v)
}

func unreadable(what string, err error) error {
	return fault.E("plimsoll", fault.Unavailable, what, err)
}

func (s *session) printVerdict(v verdict) error {
	if s.json {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		if _, err := s.env.Stdout.Write(append(text, '\n')); err != nil {
			return err
		}
	} else {
		for _, c := range v.Checked {
			fmt.Fprintf(s.env.Stdout, "%-10s %s\n", c.Item, oneLine(strings.ReplaceAll(c.Said, "\n", " ")))
		}
		if v.Good {
			fmt.Fprintf(s.env.Stdout, "good: %s of %s is approved for commit %s\n", v.Gate, v.IntentID, oneLine(v.Released))
		} else {
			fmt.Fprintf(s.env.Stdout, "not good: %s\n", oneLine(strings.ReplaceAll(v.Problem.Error(), "\n", " ")))
		}
	}
	if !v.Good {
		return &exit{exitNo}
	}
	return nil
}
