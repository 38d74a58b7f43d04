package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/server"
)

// service is the one that plimsoll serve starts, in this process.
type service struct {
	*server.Server
	url      string
	tokens   map[string]string
	chain    contract.ID // that has run, often
	draft    contract.ID // that waits
	gate     contract.ID // that waits, with a long diff
	changed  contract.ID // the chain of the gate
	request  string      // whose artifacts wait
	artifact string      // that waits for a consent
	stop     func() error
}

var staff = []string{"root:human:admin", "ada:human:requester", "lea:human:project_lead", "sam:human:security_reviewer", "rex:human:release_manager", "bot:agent:developer,ci_agent"}

func configured(dir, db string) (server.Config, error) {
	file := "audit.key: " + filepath.Join(dir, "audit.key") + "\nlisten: 127.0.0.1:0\naudit.origin: plimsoll.bench/log\nrepository: shop\nrate.per-second: 0\n"
	conf, err := server.Load(server.Source{Name: "bench.yaml", File: []byte(file)})
	if conf = conf.In(dir); db != "" {
		conf.DB = db
	}
	return conf, err
}

func staffed(ctx context.Context, conf server.Config) (map[string]string, error) {
	var people []server.Person
	for _, text := range staff {
		p, err := server.ParsePerson(text)
		if err != nil {
			return nil, err
		}
		people = append(people, p)
	}
	made, err := server.Setup(ctx, conf, people, 24*time.Hour)
	tokens := map[string]string{}
	for i, m := range made {
		tokens[string(people[i].ID)] = m.Token
	}
	return tokens, err
}

func serve(ctx context.Context, conf server.Config, tokens map[string]string) (*service, error) {
	ready, ended := make(chan string, 1), make(chan error, 1)
	made, err := server.New(ctx, conf, server.Options{Log: io.Discard, Version: "bench", Ready: func(a string) { ready <- a }})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	go func() { ended <- made.Run(running) }()
	s := &service{Server: made, tokens: tokens, chain: "IC-001", stop: sync.OnceValue(func() error { cancel(); return <-ended })}
	select {
	case a := <-ready:
		s.url = "http://" + a
		return s, nil
	case err := <-ended:
		cancel()
		return nil, errors.Join(err, errors.New("the service ended before it served"))
	}
}

const base, head = "c0ffee0000000000000000000000000000000000", "a1b2c3d000000000000000000000000000000000"

func by(who contract.ActorID, role contract.Role) pipeline.Caller {
	return pipeline.Caller{Actor: who, Role: role}
}

func (s *service) asked(ctx context.Context, intent string) (contract.ID, error) {
	made, err := s.Contracts().IntentCreate(ctx, by("ada", contract.Requester), pipeline.IntentArgs{
		Intent: intent, Priority: "medium", RequestedCapabilities: []string{"read_repo", "write_repo"},
	})
	if err != nil {
		return "", err
	}
	return made.Ref().ID, nil
}

// story takes one chain from its intent to its release.
func (s *service) story(ctx context.Context) error {
	id, err := s.asked(ctx, "Add a login page")
	if err != nil {
		return err
	}
	s.chain = id
	_, err = s.Contracts().ActivationDecide(ctx, by("lea", contract.ProjectLead), pipeline.ActivationArgs{ID: id, Version: 1, Decision: contract.Approved})
	if err != nil {
		return err
	}
	var task contract.ID
	for _, step := range []struct {
		role   contract.Role
		phase  phase.Phase
		proofs []phase.Proof
		then   phase.Phase
	}{
		{contract.Developer, phase.Build, []phase.Proof{phase.BuildLog, phase.UnitTestResult}, phase.Stabilize},
		{contract.CIAgent, phase.Stabilize, []phase.Proof{phase.IntegrationReport, phase.FailedTestLog}, phase.Refactor},
		{contract.Developer, phase.Refactor, nil, ""},
	} {
		if err := s.until(ctx, id, func(c *pipeline.ChainShown) bool {
			for _, x := range c.Contracts {
				if x.Document.Head().Kind == contract.KindTaskSeed {
					task = x.Ref().ID
				}
			}
			return task != "" && (string(c.Chain.Phase) == string(step.phase) || step.phase == phase.Build)
		}); err != nil {
			return fmt.Errorf("%s: %w", step.phase, err)
		}
		w := work{task: task, phase: step.phase, proofs: step.proofs}
		if step.phase == phase.Stabilize {
			w.criteria = []string{"Add a login page"}
		}
		if err := s.run(ctx, by("bot", step.role), w); err != nil {
			return fmt.Errorf("%s: %w", step.phase, err)
		}
	}
	if _, err := s.Contracts().ReviewRecord(ctx, by("lea", contract.ProjectLead), pipeline.ReviewArgs{Task: task, Verdict: "approved", HeadCommit: head}); err != nil {
		return err
	}
	return s.until(ctx, id, func(c *pipeline.ChainShown) bool {
		return c.Intent.Document.Head().State == contract.Published
	})
}

// until waits for what the queue does with a chain.
func (s *service) until(ctx context.Context, chain contract.ID, is func(*pipeline.ChainShown) bool) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c, err := s.Contracts().ChainGet(ctx, chain)
		if err != nil {
			return err
		}
		if is(c) {
			return nil
		}
	}
	return fmt.Errorf("%s does not go on", chain)
}

var tested = []byte(`{"tool":"go","command":["go","test"],"exitCode":0,"passed":12,"failed":0,"skipped":0,` +
	`"startedAt":"2026-03-29T10:00:00Z","endedAt":"2026-03-29T10:00:01Z"}`)

// work is one run of an executor.
type work struct {
	task     contract.ID
	phase    phase.Phase
	proofs   []phase.Proof
	boundary string // a result of the check, "" for none
	diff     string // that is delivered, "" for none
	criteria []string
}

// run claims the task, delivers and reports.
func (s *service) run(ctx context.Context, who pipeline.Caller, w work) error {
	c, err := s.Contracts().TaskClaim(ctx, who, pipeline.ClaimArgs{Task: w.task, Phase: pipeline.Phase(w.phase), BaseCommit: base})
	if err != nil {
		return err
	}
	who.LockToken = c.Run.LockToken
	proofs, changed := slices.Clone(w.proofs), head
	if w.boundary != "" {
		proofs = append(proofs, phase.BoundaryResult)
	}
	if w.diff != "" {
		proofs, changed = append(proofs, phase.ChangeDiff), w.diff
	}
	for _, kind := range proofs {
		text, ok := map[phase.Proof][]byte{
			phase.UnitTestResult: tested, phase.IntegrationReport: tested,
			phase.BoundaryResult: []byte(w.boundary), phase.ChangeDiff: []byte(w.diff),
		}[kind]
		if !ok {
			text = []byte("ok\n")
		}
		if _, err := s.Contracts().ArtifactPut(ctx, who, pipeline.ArtifactArgs{Execution: c.Run.ExecutionID, Kind: pipeline.ArtifactKind(kind), Bytes: text}); err != nil {
			return err
		}
	}
	now := contract.At(time.Now()).String()
	_, err = s.Contracts().RunComplete(ctx, who, pipeline.CompleteArgs{
		Execution: c.Run.ExecutionID, Outcome: phase.Succeeded, HeadCommit: head, Checks: checks(w.criteria), Evidence: map[string]any{
			"baseCommit": c.Run.BaseCommit, "headCommit": head, "inputHash": contract.EmptyObjectHash,
			"outputHash": contract.EmptyObjectHash, "diffHash": contract.Hash([]byte(changed)),
			"model":       map[string]any{"name": "none", "version": "none", "parametersHash": contract.EmptyObjectHash},
			"tools":       []any{"go"},
			"environment": map[string]any{"os": "linux", "runtime": "go", "containerImageDigest": contract.Uncontainerized, "lockfileHash": contract.EmptyObjectHash},
			"startTime":   now, "endTime": now,
		},
	})
	return err
}
