package tools

// ListArgs are the arguments of list_builds.
type ListArgs struct {
	Project string `json:"project" jsonschema:"name of the project"`
	Branch  string `json:"branch,omitempty"`
}

// PromoteArgs are the arguments of promote_build.
type PromoteArgs struct {
	Build          string `json:"build"`
	Stage          string `json:"stage"`
	IdempotencyKey string `json:"idempotency_key"`
}
