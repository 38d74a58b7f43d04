package plimsoll

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	root "plimsoll.dev"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/constitution"
)

// clanCheck is what clan check says as JSON.
type clanCheck struct {
	OK           bool                      `json:"ok"`
	ConfigSHA256 string                    `json:"config_sha256,omitempty"`
	Registry     string                    `json:"registry,omitempty"` // its version
	Locked       bool                      `json:"locked"`
	Prompts      []constitution.PromptFile `json:"prompts"`
	Faults       constitution.Faults       `json:"faults"`
}

func clanCommand(s *session) *cobra.Command {
	var lock bool
	check := &cobra.Command{
		Use: "check [DIR]", Short: "Check a configuration of the circle: registry, constitution and prompts", Args: cobra.MaximumNArgs(1),
		Long: `check reads the registry, the constitution and every prompt of a folder, and prints
everything that is wrong with them as path:line: what is wrong. Without a folder it
checks the configuration the program carries. Nothing of a service is touched.

Exit codes: 0 it can be used, 1 it cannot.`,
		Example: `  plimsoll clan check config/roles/clan/zhos
  plimsoll clan check DIR --lock   # after a prompt and its version changed`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if lock {
					return usage("--lock needs a folder to write %s into", constitution.LockPath)
				}
				files, err := root.ClanConfig()
				if err != nil {
					return err
				}
				return s.checkClan(files, "", nil)
			}
			dir, err := os.OpenRoot(s.env.abs(args[0]))
			if err != nil {
				return fault.E("clan check", fault.Invalid, "open "+args[0], err)
			}
			defer dir.Close()
			var write func(*constitution.Set) error
			if lock {
				write = func(set *constitution.Set) error { return dir.WriteFile(constitution.LockPath, set.Lock(), 0o644) }
			}
			return s.checkClan(dir.FS(), args[0], write)
		},
	}
	check.Flags().BoolVar(&lock, "lock", false, "write "+constitution.LockPath+" for the prompts as they are, once everything else is right")
	copied := &cobra.Command{
		Use: "init DIR", Short: "Write the configuration the program carries into a folder, to change it there", Args: cobra.ExactArgs(1),
		Long: `init writes the registry, the constitution, the prompts and their lock into DIR, which is
made when it is not there. A file that is there already is never written over.`,
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := root.ClanConfig()
			if err != nil {
				return err
			}
			if err := os.CopyFS(s.env.abs(args[0]), files); err != nil {
				return fault.E("clan init", fault.Conflict, "write "+args[0], err)
			}
			return s.checkClan(os.DirFS(s.env.abs(args[0])), args[0], nil)
		},
	}
	return parent("clan", "The circle's own configuration", check, copied)
}

// checkClan prints what a configuration is, or everything that is wrong with it.
// lock, when there is one, writes the lock of a sound one. dir stands before
// the paths of the faults, so that a terminal can open them.
func (s *session) checkClan(files fs.FS, dir string, lock func(*constitution.Set) error) error {
	set, err := constitution.Load(files)
	if err == nil && lock != nil {
		if err := lock(set); err != nil {
			return fault.E("clan check", fault.Unavailable, "write "+filepath.Join(dir, constitution.LockPath), err)
		}
		set, err = constitution.Load(files)
	}
	faults, broken := errors.AsType[constitution.Faults](err)
	switch {
	case broken && s.json:
		err = s.printItems(clanCheck{Prompts: []constitution.PromptFile{}, Faults: faults})
	case broken:
		for _, f := range faults {
			f.Path = filepath.ToSlash(filepath.Join(dir, f.Path))
			fmt.Fprintln(s.env.Stderr, oneLine(f.String()))
		}
		err = nil
	case err != nil:
		return err
	case s.json:
		return s.printItems(clanCheck{
			OK: true, ConfigSHA256: set.SHA256(), Registry: set.Registry().Version, Locked: set.Locked(), Prompts: set.Prompts(), Faults: constitution.Faults{},
		})
	default:
		r := set.Registry()
		locales := make([]string, len(r.Locales))
		for i, l := range r.Locales {
			locales[i] = string(l)
		}
		locked := "not locked"
		if set.Locked() {
			locked = "locked"
		}
		return facts(s.env.Stdout,
			[2]string{"Configuration", set.SHA256()},
			[2]string{"Registry", fmt.Sprintf("%s: %d workers, %d intents, %d chains, in %s", r.Version, len(r.Workers), len(r.Intents), len(r.Chains), strings.Join(locales, ", "))},
			[2]string{"Prompts", fmt.Sprintf("%d, %s", len(set.Prompts()), locked)},
			[2]string{"At once", fmt.Sprintf("%d heavy, %d supporting", r.Economy.Heavy, r.Economy.Supporting)},
		)
	}
	if err == nil {
		err = &exit{exitNo}
	}
	return err
}
