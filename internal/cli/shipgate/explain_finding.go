package shipgate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/control"
	checks "plimsoll.dev/internal/verify/check"
)

func explainFindingCommand(env Env) *cobra.Command {
	var from string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain-finding FINGERPRINT",
		Short: "Say what one finding of a report means and who may close it",
		Example: `  shipgate explain-finding fp_0123456789abcdef --from agents-shipgate-reports/report.json
  shipgate explain-finding fp_0123456789abcdef --from report.json --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return explainFinding(env, args[0], from, asJSON || env.agentMode())
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the report.json that the finding stands in (required)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the finding with its explanation as JSON (the default in agent mode)")
	return cmd
}

func explainFinding(env Env, id, from string, asJSON bool) error {
	report, path, err := reportFile(env, from)
	if err != nil {
		return err
	}
	found, err := pick(report, id, from, path)
	if err != nil {
		return err
	}
	c := checks.ByID(found.CheckID)
	sentences := checks.Explain(&found.Finding, c, report.Counted(&found.Finding))
	if !asJSON {
		return env.print([]byte(strings.Join(sentences, "\n") + "\n"))
	}
	object, err := members(found.Text)
	if err != nil {
		return internal(err)
	}
	var metadata any
	if c != nil {
		metadata = rowOf(c)
	}
	return env.printJSON(append(object,
		canonical.Member{Key: "metadata", Value: metadata},
		canonical.Member{Key: "explanation", Value: strings.Join(sentences, " ")},
		canonical.Member{Key: "source_report", Value: path},
	))
}

// reportFile reads a report and says where it lies, absolutely.
func reportFile(env Env, from string) (*checks.ReportFile, string, error) {
	if from == "" {
		return nil, "", usage("--from is missing: it names the report").offering(program+" verify", "writes a report")
	}
	path := env.abs(from)
	text, err := readBounded(path, checks.MaxReport)
	if err != nil {
		f := unread(from, "the report cannot be read", plainError(err))
		f.sourceReport = path
		return nil, "", f.offering(program+" verify", "writes a report")
	}
	report, err := checks.ReadReport(text)
	if err != nil {
		f := unread(from, "cannot be used", err)
		f.sourceReport = path
		return nil, "", f.offering(program+" verify", "writes a report of this version")
	}
	return report, path, nil
}

// readBounded is the bytes of one regular file.
func readBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path) // opening a pipe would wait
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it is over %d MiB", most>>20)
	}
	return text, err
}

// pick finds a finding by its id or by its fingerprint. A fingerprint that
// several findings share names none of them.
func pick(report *checks.ReportFile, id, from, path string) (*checks.ReportFinding, error) {
	var ids []string
	var same []*checks.ReportFinding
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.ID == id {
			return f, nil
		}
		if f.Fingerprint == id {
			same = append(same, f)
		}
		ids = append(ids, f.ID)
	}
	if len(same) == 1 {
		return same[0], nil
	}
	again := func(id string) string {
		return program + " explain-finding " + id + " --from " + control.Quote(from)
	}
	f := &failure{
		kind: unknownFingerprint, code: exitUsage, fingerprint: id, sourceReport: path,
		msg: fmt.Sprintf("%s holds no finding %q", filepath.Base(from), id),
	}
	if len(same) > 1 {
		f.msg = fmt.Sprintf("%d findings of %s share the fingerprint %s", len(same), filepath.Base(from), id)
		for _, s := range same {
			f = f.offering(again(s.ID), "one of them: "+s.Title)
		}
		return nil, f
	}
	if len(ids) == 0 {
		return nil, f.choosing("The report holds no finding at all.")
	}
	slices.Sort(ids)
	f.suggestion = nearest(id, ids)
	return nil, f.offering(again(f.suggestion), "the nearest finding there is")
}

// members are the keys of an object in their own order.
func members(text []byte) (canonical.Object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var o canonical.Object
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		o = append(o, canonical.Member{Key: name, Value: value})
	}
	return o, nil
}
