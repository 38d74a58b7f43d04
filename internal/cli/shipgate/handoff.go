package shipgate

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/verify/handoff"
)

const handoffLong = `handoff puts what verify decided into one packet for the next agent or reviewer:
the verdict, what may happen next, what blocks, what may be repaired and by which
content the run can be recognised.

It reads verifier.json and, where they are there, report.json and verify-run.json
beside it. It decides nothing: artifacts that tell different stories are refused
with exit 3. Nothing is written and no process is started.`

const handoffExamples = `  shipgate agent handoff --json
  shipgate agent handoff --from agents-shipgate-reports/verifier.json --json`

// handoffFlags is the command line of agent handoff.
type handoffFlags struct {
	from, report, run string
	json              bool
}

// agentCommand groups what one agent gives to the next.
func agentCommand(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "What one agent gives to the next", Args: cobra.NoArgs,
		Long: "agent has what one agent gives to the next, so that nobody judges the work anew.", Example: handoffExamples,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	f := &handoffFlags{}
	sub := &cobra.Command{
		Use: "handoff", Short: "Put what verify decided into one packet", Long: handoffLong, Example: handoffExamples, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.handoff(env) },
	}
	flags := sub.Flags()
	flags.StringVar(&f.from, "from", reportsFolder+"/verifier.json", "the verifier.json of the run")
	flags.StringVar(&f.report, "report", "", "its report.json (default: the one beside it, if there is one)")
	flags.StringVar(&f.run, "verify-run", "", "its verify-run.json (default: the one beside it, if there is one)")
	flags.BoolVar(&f.json, "json", false, "print the packet as JSON (the default in agent mode)")
	cmd.AddCommand(sub)
	return cmd
}

func (f *handoffFlags) handoff(env Env) error {
	in := handoff.Input{Tool: handoff.Tool{Name: gate.ToolName, Version: gate.ToolVersion}}
	if f.from == "" {
		return usage("--from is empty: it names the verifier.json").offering(program+" verify", "writes one")
	}
	var err error
	if in.Verifier, err = readBounded(env.abs(f.from), handoff.MaxVerifier); err != nil {
		return unread(f.from, "cannot be read", plainError(err)).offering(program+" verify", "writes a verifier.json")
	}
	names := map[string]string{"verifier.json": f.from}
	for _, beside := range []struct {
		name, given string
		most        int64
		text        *[]byte
	}{{"report.json", f.report, handoff.MaxReport, &in.Report}, {"verify-run.json", f.run, handoff.MaxRun, &in.Run}} {
		names[beside.name] = beside.given
		if beside.given == "" {
			names[beside.name] = filepath.ToSlash(filepath.Join(filepath.Dir(f.from), beside.name))
		}
		text, err := readBounded(env.abs(names[beside.name]), beside.most)
		switch {
		case errors.Is(err, fs.ErrNotExist) && beside.given == "":
			continue
		case err != nil:
			return unread(names[beside.name], "cannot be read", plainError(err)).choosing("Name a file that can be read, or leave the flag out.")
		}
		*beside.text = text
	}
	h, err := handoff.Project(in)
	if refused, ok := errors.AsType[*handoff.Refusal](err); ok {
		name := names[refused.Artifact]
		again := program + " verify"
		f := &failure{kind: inputParseError, code: exitInput, msg: refused.Error(), path: name}
		if refused.Field == "" {
			f = unread(name, "cannot be used", refused.Err)
		}
		return f.offering(again, "writes artifacts of one run that agree; then hand off again")
	}
	if err != nil {
		return internal(err)
	}
	if !f.json && !env.agentMode() {
		return env.print(handoffText(h, env.colour()))
	}
	text, err := h.JSON()
	if err != nil {
		return internal(err)
	}
	return env.print(text)
}

// handoffText is the packet for a person.
func handoffText(h *handoff.Handoff, colour bool) []byte {
	t := &ink.Text{Colour: colour}
	c := &h.Control
	t.Put(ink.OfState(c.State()), string(c.State()))
	t.Write("  " + ink.Printable(c.Reason()) + "\n")
	t.Writef("%s of %s, %s; merge verdict %s", strings.ReplaceAll(string(h.Operation), "_", " "), ink.Printable(h.Subject.Config),
		counted(len(h.Subject.ChangedFiles), "changed file"), h.Gate.MergeVerdict)
	if h.Gate.Decision != "" {
		t.Writef(", decision %s", ink.Printable(string(h.Gate.Decision)))
	}
	t.Write("\n")
	for i := range h.BlockedBy {
		b := &h.BlockedBy[i]
		t.Writef("  %s: %s (%s) %s\n", strings.ReplaceAll(b.Bucket, "_", " "), ink.Printable(b.Title), ink.Printable(b.Severity), ink.Printable(b.CheckID))
	}
	for i := range h.Remediation {
		s := &h.Remediation[i]
		t.Writef("  %s: %s\n", s.Safety, ink.Printable(s.Reason))
	}
	if n := len(h.ForbiddenEdits); n > 0 {
		t.Writef("not to be edited: files of %s; --json has them\n", counted(n, "pattern"))
	}
	if id := h.Reproducibility.RequestID; id != "" {
		t.Writef("run %s\n", id)
	}
	if c.State() != control.Complete {
		t.Next(c)
	}
	return t.Bytes()
}
