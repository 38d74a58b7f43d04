package shipgate

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/adopt/detect"
	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/git"
)

const detectLong = `detect looks for the frameworks of agents and the sources of tools in a folder and
says what it saw, where, and what a first manifest may name. Evidence is an
import, a decorator, a call or the form of a file; a word in a comment is none.
Nothing of the folder is run, and nothing is written.

The files are those that git tracks or does not ignore; without a repository, all
of them. The exit code is 0 whatever is found.`

func detectCommand(env Env) *cobra.Command {
	var workspace string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "detect", Short: "Find the agent frameworks and tool sources of a folder",
		Long: detectLong, Args: cobra.NoArgs,
		Example: "  shipgate detect\n  shipgate detect --workspace services/bot --json",
		RunE: func(c *cobra.Command, _ []string) error {
			if workspace == "" {
				return usage("--workspace is empty").choosing("Give --workspace a folder, or leave it out.")
			}
			found, err := detected(c.Context(), env, workspace)
			if err != nil {
				return err
			}
			if asJSON || env.agentMode() {
				return env.printJSON(found)
			}
			return env.print(detectedText(found, env.colour()))
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", ".", "the folder to look at")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON (the default in agent mode)")
	return cmd
}

// detected is what detection says of a folder. init asks it too.
func detected(ctx context.Context, env Env, workspace string) (*detect.Result, error) {
	w, err := git.OpenWorkspace(ctx, env.Dir, workspace, env.Environ)
	if err != nil {
		return nil, usage("%s", err.Error()).choosing("Name with --workspace a folder that is there and can be read.")
	}
	defer w.Close()
	return lookAt(w, workspace)
}

// lookAt looks at a folder that is open.
func lookAt(w *git.Workspace, workspace string) (*detect.Result, error) {
	opt := detect.Options{Name: filepath.Base(w.Dir), Workspace: filepath.ToSlash(workspace), Listed: "walk", Partial: w.Partial, Nested: w.Nested}
	if w.ByGit {
		opt.Listed = "git"
	}
	found, err := detect.Detect(w.Tree, w.Names, opt)
	if err != nil {
		return nil, unreadable("--workspace", workspace, err)
	}
	return found, nil
}

// fewRows is how many rows of one sort a person is shown.
const fewRows = 8

// detectedText is the answer for a person.
func detectedText(r *detect.Result, colour bool) []byte {
	t := &ink.Text{Colour: colour}
	head := "no agent project"
	if r.IsAgentProject {
		head = "agent project"
	}
	t.Put(ink.Bold, head)
	t.Writef(", %s looked at\n", counted(r.Signals.Files, "file"))
	more := func(n int) {
		if n > fewRows {
			t.Writef("    and %d more; --json has them all\n", n-fewRows)
		}
	}
	for i := range r.Frameworks {
		f := &r.Frameworks[i]
		t.Write("  ")
		t.Padded(ink.Green, string(f.Type), 18)
		t.Writef("%s confidence, score %s\n", string(f.Confidence), f.Score.String())
		for _, e := range f.Evidence[:min(len(f.Evidence), fewRows)] {
			at := e.File
			if e.Line > 0 {
				at += ":" + strconv.Itoa(e.Line)
			}
			t.Write("    " + ink.Printable(at) + "  " + ink.Printable(e.What) + "\n")
		}
		more(len(f.Evidence))
	}
	if len(r.Suggested) > 0 {
		t.Write("sources that a manifest may name:\n")
		for _, s := range r.Suggested[:min(len(r.Suggested), fewRows)] {
			t.Write("    " + string(s.Type) + "  " + ink.Printable(s.Path) + "\n")
		}
		more(len(r.Suggested))
	}
	if len(r.Projects) > 1 {
		t.Write("folders with agents of their own:\n")
		for _, p := range r.Projects[:min(len(r.Projects), fewRows)] {
			t.Write("    " + ink.Printable(p.Path) + "\n")
		}
		more(len(r.Projects))
	}
	for _, e := range r.Excluded[:min(len(r.Excluded), fewRows)] {
		t.Put(ink.Dim, "left out: "+ink.Printable(e.Path)+" ("+strings.Trim(string(e.Type)+", "+e.Reason, ", ")+")\n")
	}
	more(len(r.Excluded))
	for _, d := range r.Diagnostics[:min(len(r.Diagnostics), fewRows)] {
		at := d.Path
		if d.Line > 0 {
			at += ":" + strconv.Itoa(d.Line)
		}
		t.Put(ink.Yellow, "note: ")
		t.Write(ink.Printable(at) + "  " + ink.Printable(d.Message) + "\n")
	}
	more(len(r.Diagnostics))
	for _, a := range r.NextActions {
		t.Write("next: " + ink.Printable(a.String()) + "\n")
	}
	return t.Bytes()
}
