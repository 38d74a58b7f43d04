package console

import "time"

// Condition is how the service does, as whoever runs it measures it. It holds no
// secret: of a subscriber the host, of a model its name.
type Condition struct {
	At        time.Time
	Jobs      []JobLoad
	Nodes     []NodeSeen // this one alone where the database is one process's
	Failing   []Subscriber
	Webhooks  int // subscribers there are
	Database  DatabaseSize
	Log       LogHead
	Events    EventRange
	Model     ModelSeen
	Clustered bool // several nodes share the work
}

// JobLoad is what lies in the queue of one kind of job.
type JobLoad struct {
	Kind                                    string
	Waiting, Running, Again, Later, GivenUp int64
	Oldest                                  time.Time // since when the first of those that wait could run
	LastGone                                time.Time // when the last was given up
}

// NodeSeen is a process that works on the service.
type NodeSeen struct {
	ID, Version   string
	Started, Seen time.Time
	Here          bool // it answers this page
}

// Subscriber is one that does not take what is brought to it.
type Subscriber struct {
	ID, Host             string
	Deliveries, Attempts int64
	LastStatus           int
	NextAt               time.Time
}

// DatabaseSize is the database and its room.
type DatabaseSize struct {
	Kind string // sqlite or postgres
	Size int64
	Disk int // percent of its disk that is in use; -1 is not known
}

// LogHead is how far the audit log has come.
type LogHead struct {
	Count  int64
	Link   string
	Last   time.Time // of the last record
	Begins int64     // how many records were given up before its first, under a seal
}

// EventRange is the events that are kept.
type EventRange struct{ First, Last int64 }

// ModelSeen is the model endpoint as this node last met it.
type ModelSeen struct {
	API, Name string // "" is none: the built-in engines do every job
	Asked     time.Time
	Answered  bool
}
