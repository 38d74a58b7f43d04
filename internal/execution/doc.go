package execution

// The surface of the package, for who wires it:
//
//	New(Config) (*Runner, error)
//
//	(*Runner).Run(ctx, Order) (*Result, error)
//		Delivers what earlier runs left first, then claims, works and reports.
//		The end of ctx is the interrupt: the command gets SIGINT, Config.Grace,
//		then SIGKILL, and the run is reported as failed. An error means that no
//		run began; a run that failed is a Result.
//
//	(*Runner).Recover(ctx) ([]*Result, error)
//		The first half of Run alone.
//
//	(*Runner).Kept() ([]Kept, error)
//	(*Runner).Discard(ctx, run string) error
//		Folders of failed runs, and the end of one.
//
// The command finds PLIMSOLL_TASK, PLIMSOLL_PHASE, PLIMSOLL_EXECUTION,
// PLIMSOLL_BASE_COMMIT and PLIMSOLL_OUT in its environment. PLIMSOLL_OUT is a
// folder in which it may leave report.json (type Report) and, in Publish,
// release_note.md.
