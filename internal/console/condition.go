package console

// Condition is how the service does.
type Condition struct{}
