package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/server"
)

// service is the one that plimsoll serve starts, in this process.
type service struct {
	*server.Server
	url    string
	tokens map[string]string
	chain  contract.ID // that has run
	draft  contract.ID // that waits
	stop   func() error
}

var staff = []string{"root:human:admin", "ada:human:requester", "lea:human:project_lead", "bot:agent:developer,ci_agent"}

func configured(dir string) (server.Config, error) {
	file := "listen: 127.0.0.1:0\naudit.origin: plimsoll.bench/log\nrepository: shop\nrate.per-second: 0\n"
	conf, err := server.Load(server.Source{Name: "bench.yaml", File: []byte(file)})
	return conf.In(dir), err
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
		if err := s.until(ctx, func(c *pipeline.ChainShown) bool {
			for _, x := range c.Contracts {
				if x.Document.Head().Kind == contract.KindTaskSeed {
					task = x.Ref().ID
				}
			}
			return task != "" && (string(c.Chain.Phase) == string(step.phase) || step.phase == phase.Build)
		}); err != nil {
			return fmt.Errorf("%s: %w", step.phase, err)
		}
		if err := s.run(ctx, by("bot", step.role), task, step.phase, step.proofs); err != nil {
			return fmt.Errorf("%s: %w", step.phase, err)
		}
	}
	if _, err := s.Contracts().ReviewRecord(ctx, by("lea", contract.ProjectLead), pipeline.ReviewArgs{Task: task, Verdict: "approved", HeadCommit: head}); err != nil {
		return err
	}
	return s.until(ctx, func(c *pipeline.ChainShown) bool {
		return c.Intent.Document.Head().State == contract.Published
	})
}

// until waits for what the queue does with the chain.
func (s *service) until(ctx context.Context, is func(*pipeline.ChainShown) bool) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c, err := s.Contracts().ChainGet(ctx, s.chain)
		if err != nil {
			return err
		}
		if is(c) {
			return nil
		}
	}
	return errors.New("the chain does not go on")
}

var tested = []byte(`{"tool":"go","command":["go","test"],"exitCode":0,"passed":12,"failed":0,"skipped":0,` +
	`"startedAt":"2026-03-29T10:00:00Z","endedAt":"2026-03-29T10:00:01Z"}`)

// run claims the task, delivers and reports.
func (s *service) run(ctx context.Context, who pipeline.Caller, task contract.ID, p phase.Phase, proofs []phase.Proof) error {
	c, err := s.Contracts().TaskClaim(ctx, who, pipeline.ClaimArgs{Task: task, Phase: pipeline.Phase(p), BaseCommit: base})
	if err != nil {
		return err
	}
	who.LockToken = c.Run.LockToken
	for _, kind := range proofs {
		text := []byte("ok\n")
		if kind == phase.UnitTestResult || kind == phase.IntegrationReport {
			text = tested
		}
		if _, err := s.Contracts().ArtifactPut(ctx, who, pipeline.ArtifactArgs{Execution: c.Run.ExecutionID, Kind: pipeline.ArtifactKind(kind), Bytes: text}); err != nil {
			return err
		}
	}
	var checks []event.Check
	if p == phase.Stabilize {
		checks = []event.Check{{Criterion: "Add a login page", Passed: true, Detail: "12 of 12 tests"}}
	}
	now := contract.At(time.Now()).String()
	_, err = s.Contracts().RunComplete(ctx, who, pipeline.CompleteArgs{
		Execution: c.Run.ExecutionID, Outcome: phase.Succeeded, HeadCommit: head, Checks: checks, Evidence: map[string]any{
			"baseCommit": c.Run.BaseCommit, "headCommit": head, "inputHash": contract.EmptyObjectHash,
			"outputHash": contract.EmptyObjectHash, "diffHash": contract.Hash([]byte(head)),
			"model":       map[string]any{"name": "none", "version": "none", "parametersHash": contract.EmptyObjectHash},
			"tools":       []any{"go"},
			"environment": map[string]any{"os": "linux", "runtime": "go", "containerImageDigest": contract.Uncontainerized, "lockfileHash": contract.EmptyObjectHash},
			"startTime":   now, "endTime": now,
		},
	})
	return err
}

// inboxed is how many drafts wait for a person.
const inboxed = 60

// waiting leaves drafts that wait for a project lead.
func (s *service) waiting(ctx context.Context) error {
	for n := range inboxed {
		id, err := s.asked(ctx, fmt.Sprintf("Change number %d", n))
		if err != nil {
			return err
		}
		s.draft = id
	}
	return nil
}
