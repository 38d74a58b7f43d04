package event

import "plimsoll.dev/internal/canonical"

// Check is how one criterion fared in a run.
type Check struct {
	Criterion string
	Passed    bool
	Detail    string
}

// Execution is the data of ExecutionCompleted: the end of a series of runs.
// Signals and Facts are those of all runs of the series, united. A nil Facts or
// Checks is absent.
type Execution struct {
	ID         string // of the last run of the series
	Phase      string
	Outcome    string // succeeded, failed, timed_out or blocked
	ActorID    string
	Role       string
	StartTime  string
	EndTime    string
	BaseCommit string
	HeadCommit string
	Runs       int
	Signals    map[string]bool
	Facts      []canonical.Object
	Checks     []Check
	ResultRef  string // "" when absent
}

// Completed announces the end of a series of runs of a TaskSeed.
func Completed(s Subject, o Origin, x Execution) Envelope {
	signals := make(canonical.Object, 0, len(x.Signals))
	for name, set := range x.Signals {
		signals = append(signals, canonical.Member{Key: name, Value: set})
	}
	data := canonical.Object{
		{Key: "taskSeedId", Value: s.ID},
		{Key: "taskSeedVersion", Value: s.Version},
		{Key: "executionId", Value: x.ID},
		{Key: "phase", Value: x.Phase},
		{Key: "outcome", Value: x.Outcome},
		{Key: "actorId", Value: x.ActorID},
		{Key: "role", Value: x.Role},
		{Key: "startTime", Value: x.StartTime},
		{Key: "endTime", Value: x.EndTime},
		{Key: "baseCommit", Value: x.BaseCommit},
		{Key: "headCommit", Value: x.HeadCommit},
		{Key: "runs", Value: x.Runs},
		{Key: "riskSignals", Value: signals},
	}
	if x.Facts != nil {
		data = append(data, canonical.Member{Key: "facts", Value: x.Facts})
	}
	if x.Checks != nil {
		checks := make([]canonical.Object, len(x.Checks))
		for i, c := range x.Checks {
			checks[i] = canonical.Object{
				{Key: "criterion", Value: c.Criterion},
				{Key: "passed", Value: c.Passed},
				{Key: "detail", Value: c.Detail},
			}
		}
		data = append(data, canonical.Member{Key: "checks", Value: checks})
	}
	if x.ResultRef != "" {
		data = append(data, canonical.Member{Key: "resultRef", Value: x.ResultRef})
	}
	return signal(ExecutionCompleted, s, o, x.ID, data)
}
