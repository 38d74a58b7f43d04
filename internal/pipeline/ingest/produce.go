package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
)

// DefaultContextKey is where a logger record carries the protocol context.
const DefaultContextKey = "agent_protocol"

// Host is the environment of the process that logged, for what a record does
// not say. Lockfile is the bytes of the first of Lockfiles that exists, nil for
// none.
type Host struct {
	OS       string // system name and release
	Runtime  string
	Lockfile []byte
}

// Lockfiles is the names that are looked for in the root of the repository, the
// first existing one wins.
func Lockfiles() []string {
	return []string{
		"uv.lock", "poetry.lock", "Pipfile.lock", "requirements.lock", "requirements.txt", "package-lock.json",
		"pnpm-lock.yaml", "yarn.lock", "go.sum", "Cargo.lock",
	}
}

// LockfileHash is the hash of a lockfile with its line ends as LF; of the text
// "missing-lockfile" when there is none (nil).
func LockfileHash(b []byte) string {
	if b == nil {
		return contract.Hash([]byte("missing-lockfile"))
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return contract.Hash(bytes.ReplaceAll(b, []byte("\r"), []byte("\n")))
}

// ErrNoContext is a record without a protocol context: nothing is written.
var ErrNoContext = errors.New("the record has no protocol context")

// Produce maps one inference record of the structured logger to the Evidence
// line the workflow-cookbook writes for it, member by member as
// docs/spec/contracts.md §10.1 lists them. An incomplete context is an error.
// Patterns and lengths are not checked here: that is what ingestion is for.
func Produce(record []byte, key string, h Host) ([]byte, error) {
	v, err := contract.Parse(record)
	if err != nil {
		return nil, err
	}
	r := object(v)
	c := object(object(r["extra"])[key])
	if c == nil {
		return nil, ErrNoContext
	}
	p := producer{record: r, context: c}
	evidence := map[string]any{
		"schemaVersion": contract.SchemaVersion,
		"kind":          string(contract.KindEvidence),
		"state":         string(contract.Published),
		"version":       json.Number("1"),
		"id":            p.required("evidence_id"),
		"taskSeedId":    p.required("task_seed_id"),
		"baseCommit":    p.required("base_commit"),
		"headCommit":    p.required("head_commit"),
		"actor":         p.required("actor"),
		"createdAt":     p.time(r["timestamp"]),
		"updatedAt":     p.time(r["timestamp"]),
		"endTime":       p.time(r["timestamp"]),
		"startTime":     p.time(either(c["start_time"], r["timestamp"])),
		"inputHash":     hashOr(r, "prompt", map[string]any{}),
		"outputHash":    hashOr(r, "response", map[string]any{}),
		"diffHash":      p.hash("diff_hash", "diff", ""),
		"model":         p.model(),
		"tools":         p.tools(),
		"environment":   p.environment(h),
		"staleStatus":   p.stale(),
		"mergeResult":   p.merge(),
		"policyVerdict": either(c["policy_verdict"], string(contract.VerdictManual)),
	}
	if approvals := p.approvals(); len(approvals) > 0 {
		evidence["approvalsSnapshot"] = approvals
	}
	if p.err != nil {
		return nil, p.err
	}
	return contract.CanonicalValue(evidence), nil
}

type producer struct {
	record, context map[string]any
	err             error
}

func (p *producer) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *producer) required(name string) any {
	text, _ := p.context[name].(string)
	text = strings.TrimSpace(text)
	if text == "" {
		p.fail("protocol context: %s is missing", name)
	}
	return text
}

// time normalises to UTC as the producer writes it: "+00:00", and microseconds
// only when they are not zero. A time without an offset counts as UTC.
func (p *producer) time(v any) any {
	text, _ := v.(string)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		at = at.UTC().Truncate(time.Microsecond)
		if at.Nanosecond() == 0 {
			return at.Format("2006-01-02T15:04:05+00:00")
		}
		return at.Format("2006-01-02T15:04:05.000000+00:00")
	}
	p.fail("protocol context: %q is no time", text)
	return text
}

// hash is the text of one member when it is not blank, else the hash of
// another, else that of what stands for absence. An explicit null is a value.
func (p *producer) hash(given, of string, absent any) any {
	if text, ok := p.context[given].(string); ok && strings.TrimSpace(text) != "" {
		return strings.TrimSpace(text)
	}
	return hashOr(p.context, of, absent)
}

// DiffHash is the diffHash of a protocol context by itself.
func DiffHash(context map[string]any) string {
	return (&producer{context: context}).hash("diff_hash", "diff", "").(string)
}

// ParametersHash is the model.parametersHash of a protocol context by itself.
func ParametersHash(context map[string]any) string {
	return (&producer{context: context}).hash("parameters_hash", "parameters", map[string]any{}).(string)
}

func hashOr(o map[string]any, name string, absent any) any {
	v, there := o[name]
	if !there {
		v = absent
	}
	return contract.Hash(contract.CanonicalValue(v))
}

func (p *producer) model() any {
	name := either(p.record["model"], p.context["model_name"])
	if name == nil {
		p.fail("protocol context: the model has no name")
	}
	return map[string]any{
		"name":           name,
		"version":        either(p.context["model_version"], "unknown"),
		"parametersHash": p.hash("parameters_hash", "parameters", map[string]any{}),
	}
}

func (p *producer) tools() any {
	given, there := p.context["tools"].([]any)
	if !there {
		return []any{"StructuredLogger"}
	}
	tools := []any{}
	for _, t := range given {
		if text, _ := t.(string); strings.TrimSpace(text) != "" {
			tools = append(tools, text)
		}
	}
	if len(tools) == 0 {
		p.fail("protocol context: no tool is named")
	}
	return tools
}

func (p *producer) environment(h Host) any {
	env := map[string]any{
		"os": h.OS, "runtime": h.Runtime, "containerImageDigest": contract.Uncontainerized, "lockfileHash": LockfileHash(h.Lockfile),
	}
	given := object(p.context["environment"])
	for name := range env {
		if v := given[name]; v != nil {
			env[name] = v
		}
	}
	return env
}

func (p *producer) stale() any {
	given := object(p.context["stale_status"])
	status := map[string]any{
		"classification": either(given["classification"], string(contract.Fresh)),
		"evaluatedAt":    p.time(either(given["evaluated_at"], p.record["timestamp"])),
	}
	if given["reason"] != nil {
		status["reason"] = given["reason"]
	}
	return status
}

func (p *producer) merge() any {
	given := object(p.context["merge_result"])
	result := map[string]any{"status": either(given["status"], string(contract.MergeNotApplicable))}
	if given["merged_at"] != nil {
		result["mergedAt"] = p.time(given["merged_at"])
	}
	for _, name := range []string{"strategy", "reason"} {
		if given[name] != nil {
			result[name] = given[name]
		}
	}
	return result
}

func (p *producer) approvals() []any {
	given, _ := p.context["approvals_snapshot"].([]any)
	var list []any
	for _, e := range given {
		o := object(e)
		entry := map[string]any{"role": o["role"], "actorId": o["actor_id"], "decision": o["decision"], "decidedAt": p.time(o["decided_at"])}
		if o["reason"] != nil {
			entry["reason"] = o["reason"]
		}
		list = append(list, entry)
	}
	return list
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// either is a unless it is null, absent or an empty text.
func either(a, b any) any {
	if a == nil || a == "" {
		return b
	}
	return a
}
