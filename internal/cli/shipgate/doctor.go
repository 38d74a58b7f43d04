package shipgate

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

const doctorLong = `doctor reads the manifest and every source it names, as they are in the working
tree, and says what came of each: which were read, how many tools they hold, and
which lists nobody can know by reading. It runs no check, judges no change and
writes nothing; verify decides.

The exit code is 0 when everything could be opened, 2 for a manifest that cannot
be, 3 for a source that cannot be read.`

func doctorCommand(env Env) *cobra.Command {
	f := &verifyFlags{scan: true, out: reportsFolder}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Read the manifest and its sources, and say what came of each",
		Long: doctorLong, Args: cobra.NoArgs,
		Example: "  shipgate doctor\n  shipgate doctor -c shipgate.yaml --json",
		RunE: func(c *cobra.Command, _ []string) error {
			f.given = c.Flags().Changed
			return f.doctor(c.Context(), env)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.workspace, "workspace", ".", "any directory inside the repository")
	flags.StringVarP(&f.config, "config", "c", manifest.DefaultName, "the manifest, relative to the workspace")
	flags.BoolVar(&f.json, "json", false, "print the answer as JSON (the default in agent mode)")
	flags.StringVar(&f.today, "today", "", "the evaluation date, YYYY-MM-DD (default: today in UTC)")
	return cmd
}

// examination is the answer of docs/spec/verification.md §18.4.
type examination struct {
	Config      string             `json:"config"`
	Project     string             `json:"project"`
	Agent       string             `json:"agent"`
	Environment string             `json:"environment"`
	Sources     []examinedSource   `json:"sources"`
	Counts      examinedCounts     `json:"counts"`
	Warnings    []examinedWarning  `json:"warnings"`
	Unresolved  []unresolvedSource `json:"unresolved_sources"`
	Next        []nextAction       `json:"next_actions"`
	// NextAction is the first row of Next as one string (§1.2).
	NextAction string `json:"next_action"`
}

type examinedSource struct {
	ID       string     `json:"id"`
	Type     string     `json:"type"`
	Path     string     `json:"path"`
	State    tool.State `json:"state"`
	Tools    int        `json:"tools"`
	Optional bool       `json:"optional"`
}

type examinedCounts struct {
	Sources    int `json:"sources"`
	Unresolved int `json:"unresolved_sources"`
	Tools      int `json:"tools"`
	Reachable  int `json:"reachable_tools"`
	Agents     int `json:"agents"`
	Warnings   int `json:"warnings"`
	Dynamic    int `json:"dynamic_surfaces"`
}

type examinedWarning struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	SourceID string `json:"source_id"`
	Path     string `json:"path"`
	Line     *int   `json:"line"`
}

// unresolvedSource is a source whose tools are not all known: it was not read,
// or it offers some that only running it would show.
type unresolvedSource struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Path   string `json:"path"`
	Line   *int   `json:"line"`
	Reason string `json:"reason"`
}

func (f *verifyFlags) doctor(ctx context.Context, env Env) error {
	if err := f.shape(); err != nil {
		return err
	}
	pair, err := f.open(ctx, env, nil)
	if err != nil {
		return err
	}
	defer pair.Close()
	if err := opened(pair); err != nil {
		return err
	}
	side, err := verify.Load(pair.Head, verify.LoadOptions{Name: path.Base(pair.Manifest), Today: f.date(env)})
	if err != nil {
		return sideFailure(pair.Config, err)
	}
	x := f.examine(pair, side.Surface)
	if f.json || env.agentMode() {
		return env.printJSON(x)
	}
	return env.print(x.text(env.colour()))
}

// examine tells what the readers found; it judges nothing.
func (f *verifyFlags) examine(pair *git.Pair, s *effect.Surface) *examination {
	r := s.Reading
	x := &examination{
		Config: pair.Config, Project: s.Manifest.Project.Name, Agent: s.Manifest.Agent.Name, Environment: s.Manifest.Environment.Target,
		Sources: []examinedSource{}, Warnings: []examinedWarning{}, Unresolved: []unresolvedSource{},
	}
	for _, source := range r.Sources {
		x.Sources = append(x.Sources, examinedSource(source))
		if source.State != tool.Loaded {
			x.Unresolved = append(x.Unresolved, unresolvedSource{ID: source.ID, Type: source.Type, Path: source.Path, Reason: string(source.State)})
		}
	}
	for _, w := range append(slices.Clone(r.Warnings), s.Warnings...) {
		x.Warnings = append(x.Warnings, examinedWarning{
			Code: w.Code, Message: w.Message, SourceID: w.SourceID, Path: placeOf(&w.Origin), Line: lineOf(&w.Origin),
		})
	}
	dynamic, seen := 0, map[string]bool{}
	for i := range r.Dynamic {
		d := &r.Dynamic[i]
		if d.Resolved {
			continue
		}
		dynamic++
		at := unresolvedSource{
			ID: d.Origin.SourceID, Type: d.Framework, Path: placeOf(&d.Origin), Line: lineOf(&d.Origin),
			Reason: strings.ReplaceAll(d.Kind+": "+d.Reason, "_", " "),
		}
		// A place that offers several such lists is one place to look at.
		if key := fmt.Sprintln(at.ID, at.Path, d.Origin.Start.Line, at.Reason); !seen[key] {
			seen[key] = true
			x.Unresolved = append(x.Unresolved, at)
		}
	}
	x.Counts = examinedCounts{
		Sources: len(x.Sources), Unresolved: len(x.Unresolved), Tools: len(s.Catalog), Reachable: len(s.Tools()),
		Agents: len(s.Graph.Nodes), Warnings: len(x.Warnings), Dynamic: dynamic,
	}
	x.Next = f.after(x)
	x.NextAction = x.Next[0].String()
	return x
}

// after are the ways on: the sources to complete, then the verification.
func (f *verifyFlags) after(x *examination) []nextAction {
	var next []nextAction
	for i := range x.Unresolved {
		u := &x.Unresolved[i]
		expects := "a list of its tools beside the source, or a declaration of what the agent may use"
		if slices.Contains([]string{string(tool.Missing), string(tool.Failed)}, u.Reason) {
			expects = "a file that can be read, or no entry for it in " + x.Config
		}
		next = append(next, nextAction{Kind: "edit", Path: &u.Path, Why: "The tools of " + u.ID + " are not all known: " + u.Reason + ".", Expects: &expects})
	}
	command := verify.Command{Workspace: f.workspace, Config: x.Config}.String()
	return append(next, nextAction{Kind: "command", Command: &command, Why: "Verify what the change lets agents do."})
}

func placeOf(o *tool.Origin) string {
	if o.Path == "" {
		return o.Ref
	}
	return o.Path
}

// lineOf is nil where a reader knows no line.
func lineOf(o *tool.Origin) *int {
	if o.Start.Line == 0 {
		return nil
	}
	return &o.Start.Line
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func (x *examination) text(colour bool) []byte {
	t := &ink.Text{Colour: colour}
	t.Put(ink.Bold, ink.Printable(x.Config))
	t.Writef(": %s, %s, %d within reach of the agent\n", counted(x.Counts.Sources, "source"), counted(x.Counts.Tools, "tool"), x.Counts.Reachable)
	for i := range x.Sources {
		s := &x.Sources[i]
		t.Write("  ")
		paint := ink.Plain
		if s.State != tool.Loaded {
			paint = ink.Yellow
		}
		t.Padded(paint, string(s.State), 12)
		t.Writef("%s (%s), %s  %s\n", ink.Printable(s.ID), ink.Printable(s.Type), counted(s.Tools, "tool"), ink.Printable(s.Path))
	}
	for i := range x.Unresolved {
		u := &x.Unresolved[i]
		t.Writef("not all known: %s  %s", ink.Printable(u.ID), ink.Printable(u.Path))
		if u.Line != nil {
			t.Writef(":%d", *u.Line)
		}
		t.Write("  " + ink.Printable(u.Reason) + "\n")
	}
	for i := range x.Warnings {
		t.Write("warning: " + ink.Printable(x.Warnings[i].Message) + "\n")
	}
	t.Write("next: " + ink.Printable(x.NextAction) + "\n")
	return t.Bytes()
}
