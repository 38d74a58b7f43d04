package arch_test

// layer is one package of ours and what its non-test files may import.
type layer struct {
	path    string   // below the module; "." is the module's own package
	why     string   // what the package is for; printed when the rule breaks
	may     []string // packages of ours besides the words; "x/..." is x and everything below
	modules []string // modules of others
	core    bool     // pure: no I/O, no clock, no goroutines
}

// words may be imported by every package: they know nothing of the product.
var words = []string{"internal/fault", "internal/canonical", "internal/capability"}

const (
	cobra  = "github.com/spf13/cobra"
	yaml   = "go.yaml.in/yaml/v3"
	toml   = "github.com/pelletier/go-toml/v2"
	text   = "golang.org/x/text"
	sqlite = "modernc.org/sqlite"
	pgx    = "github.com/jackc/pgx/v5"
	cmp    = "github.com/google/go-cmp"
	river  = "github.com/riverqueue/river"
	huma   = "github.com/danielgtaylor/huma/v2"
	xsync  = "golang.org/x/sync"
	xmod   = "golang.org/x/mod"

	tdewolff = "github.com/tdewolff/parse/v2"
)

// layers is the picture: bottom first, one direction only. Shells import
// adapters, adapters import the core they serve, the core imports words.
var layers = []layer{
	// Ring 0: words.
	{path: "internal/fault", why: "the one error taxonomy", core: true},
	{path: "internal/canonical", why: "JSON in the one spelling that digests are taken over", core: true},
	{path: "internal/capability", why: "what an agent may do, as an ordered set", core: true},

	// Ring 1: the gate, pure.
	{
		path: "internal/gate/source", why: "one file at one revision, parsed with positions", core: true,
		modules: []string{yaml, toml},
	},
	{path: "internal/gate/redact", why: "keeps secrets out of everything that is printed", core: true},
	{path: "internal/gate/diff", why: "a change as records, lines and hunks", may: []string{"internal/gate/source"}, core: true},
	{
		path: "internal/gate/surface", why: "what the agent configuration says, before and after", core: true,
		may: []string{"internal/gate/source", "internal/gate/diff", "internal/gate/redact"},
	},
	{
		path: "internal/gate/trigger", why: "whether a change owes verification", core: true,
		may: []string{"internal/gate/source", "internal/gate/diff", "internal/gate/surface"},
	},
	{
		path: "internal/gate/rule", why: "the checks: surfaces to findings", core: true,
		may: []string{"internal/gate/source", "internal/gate/diff", "internal/gate/surface", "internal/gate/redact"},
	},
	{
		path: "internal/gate/policy", why: "severities: raises findings, never lowers them", core: true,
		may: []string{"internal/gate/source", "internal/gate/surface", "internal/gate/rule", "internal/gate/redact"},
	},
	{
		path: "internal/gate/control", why: "what the caller must do next", core: true,
		may: []string{"internal/gate/rule", "internal/gate/policy"},
	},
	{path: "internal/gate/ink", why: "results for people", may: []string{"internal/gate/control"}, core: true},
	{path: "internal/gate", why: "runs the chain; its Result is the JSON contract", may: []string{"internal/gate/..."}, core: true},

	// Ring 1: verification, pure: the whole repository's tools, base against head.
	{
		path: "internal/verify/manifest", why: "shipgate.yaml, read strictly", core: true,
		may: []string{"internal/gate/source"},
	},
	{
		path: "internal/verify/tool", why: "what readers find: tools, agents, edges, and what could not be read", core: true,
		may: []string{"internal/gate/source"},
	},
	{path: "internal/verify/python", why: "Python source as a syntax tree, never run", core: true, modules: []string{text}},
	{path: "internal/verify/script", why: "TypeScript and JavaScript source as calls and literals, never run", core: true, modules: []string{tdewolff}},
	{
		path: "internal/verify/reader/listing", why: "lists of tools as files: MCP, OpenAI, Anthropic, inventories", core: true,
		may: []string{"internal/gate/source", "internal/verify/manifest", "internal/verify/tool"},
	},
	{
		path: "internal/verify/reader/openapi", why: "operations of an OpenAPI document as tools", core: true,
		may: []string{"internal/gate/source", "internal/verify/manifest", "internal/verify/tool"},
	},
	{
		path: "internal/verify/reader/pyagent", why: "agents and tools of Python frameworks", core: true,
		may: []string{
			"internal/gate/source", "internal/verify/manifest", "internal/verify/tool", "internal/verify/python",
			"internal/verify/reader/listing", "internal/verify/reader/openapi",
		},
	},
	{
		path: "internal/verify/reader/mcpserver", why: "tools registered by an MCP server's own code", core: true,
		may: []string{"internal/gate/source", "internal/verify/manifest", "internal/verify/tool", "internal/verify/script"},
	},
	{
		path: "internal/verify/reader/flow", why: "tools of n8n and Conductor flows", core: true,
		may: []string{"internal/gate/source", "internal/gate/redact", "internal/verify/manifest", "internal/verify/tool", "internal/verify/reader/listing"},
	},
	{
		path: "internal/verify/reader/codex", why: "tools of Codex configurations and plugins", core: true,
		may: []string{"internal/gate/source", "internal/gate/surface", "internal/verify/manifest", "internal/verify/tool", "internal/verify/reader/listing"},
	},
	{
		path: "internal/verify/reader", why: "one reader per kind of source; none is skipped in silence", core: true,
		may: []string{"internal/gate/source", "internal/verify/manifest", "internal/verify/tool", "internal/verify/reader/..."},
	},
	{
		path: "internal/verify/effect", why: "what a tool may do, with whose authority, and who may call it", core: true,
		may: []string{"internal/gate/source", "internal/verify/manifest", "internal/verify/tool"},
	},
	{
		path: "internal/verify/delta", why: "what agents can do now that they could not before", core: true,
		may: []string{"internal/gate/source", "internal/verify/effect", "internal/verify/manifest", "internal/verify/tool"},
	},
	{
		path: "internal/verify/check", why: "the catalogue of checks: a side of a change to findings", core: true,
		may: []string{
			"internal/gate/source", "internal/gate/surface", "internal/gate/rule", "internal/gate/redact",
			"internal/verify/manifest", "internal/verify/tool", "internal/verify/effect", "internal/verify/delta",
		},
	},
	{
		path: "internal/verify/check/checktest", why: "subjects for the tests of checks",
		may: []string{
			"internal/verify/manifest", "internal/verify/tool", "internal/verify/effect", "internal/verify/delta", "internal/verify/check",
		},
	},
	{
		path: "internal/verify/patch", why: "suggested edits and how they are applied to bytes", core: true,
		may: []string{"internal/gate/source", "internal/verify/manifest", "internal/verify/tool", "internal/verify/check"}, modules: []string{yaml},
	},
	{
		path: "internal/verify/decision", why: "findings and gaps to a release decision", core: true,
		may: []string{
			"internal/gate/source", "internal/gate/redact", "internal/verify/manifest", "internal/verify/tool", "internal/verify/effect",
			"internal/verify/delta", "internal/verify/check",
		},
	},
	{
		path: "internal/verify/report", why: "the artifacts, one file each", core: true,
		may: []string{
			"internal/gate/source", "internal/gate/redact", "internal/gate/control", "internal/verify/manifest", "internal/verify/tool",
			"internal/verify/effect", "internal/verify/delta", "internal/verify/check", "internal/verify/decision",
		},
	},
	{
		path: "internal/verify", why: "runs the chain on both sides and says whether the change may be merged", core: true,
		may: []string{"internal/gate/...", "internal/gate", "internal/verify/..."},
	},

	{
		path: "internal/verify/handoff", why: "one packet for the next agent or reviewer, projected from a verifier artifact", core: true,
		may: []string{"internal/gate/source", "internal/gate/control", "internal/verify/..."},
	},
	{
		path: "internal/preflight", why: "what a plan would touch, before anything is changed", core: true,
		may: []string{"internal/gate/...", "internal/verify/...", "internal/verify", "internal/hostgrant"},
	},
	{
		path: "internal/hostgrant", why: "what the hosts of agents are allowed, as an inventory, and its drift", core: true,
		may: []string{"internal/gate/..."},
	},

	// Ring 1: adoption, pure: what a repository holds and what goes into it.
	{
		path: "internal/adopt/detect", why: "which agent frameworks and tool sources a repository holds, with the evidence", core: true,
		may: []string{"internal/gate/source", "internal/gate/surface", "internal/gate/redact", "internal/gate/control", "internal/verify/..."},
	},
	{
		path: "internal/adopt/starter", why: "the first manifest: what detection proves, and what only a person knows as questions", core: true,
		may: []string{"internal/gate/source", "internal/gate/redact", "internal/adopt/detect", "internal/verify/..."},
	},
	{
		path: "internal/adopt/hook", why: "what hosts ask their hooks, and answers that fail closed", core: true,
		may: []string{"internal/gate/...", "internal/gate"},
	},
	{
		path: "internal/adopt", why: "files written into a repository, recognised again and taken back", core: true,
		may: []string{"internal/gate/...", "internal/adopt/...", "internal/verify/..."}, modules: []string{yaml},
	},

	{
		path: "internal/action", why: "what a CI job makes of a verification: outputs and a conclusion that fails closed", core: true,
		may: []string{"internal/gate/ink", "internal/gate/redact", "internal/gate/control", "internal/verify/report"},
	},

	// Ring 2: contracts and their life, pure.
	{path: "internal/schema", why: "holds documents against JSON Schemas", core: true},
	{path: "internal/pipeline/refusal", why: "the catalogue of reasons to refuse", core: true},
	{path: "internal/pipeline/event", why: "the events and their order", core: true},
	{
		path: "internal/pipeline/contract", why: "the five documents", core: true,
		may: []string{"internal/pipeline/refusal", "internal/schema"},
	},
	{path: "internal/pipeline/role", why: "who may do what", may: []string{"internal/pipeline/contract", "internal/pipeline/refusal"}, core: true},
	{path: "internal/pipeline/risk", why: "how much may go wrong", may: []string{"internal/pipeline/contract"}, core: true},
	{
		path: "internal/pipeline/state", why: "the only transition table", core: true,
		may: []string{"internal/pipeline/contract", "internal/pipeline/event", "internal/pipeline/refusal", "internal/pipeline/role"},
	},
	{
		path: "internal/pipeline/approval", why: "who must agree, and when they have", core: true,
		may: []string{"internal/pipeline/contract", "internal/pipeline/refusal", "internal/pipeline/risk", "internal/pipeline/role"},
	},
	{
		path: "internal/pipeline/merge", why: "which of two documents stands", core: true,
		may: []string{"internal/pipeline/contract", "internal/pipeline/refusal", "internal/pipeline/role"},
	},
	{
		path: "internal/pipeline/activation", why: "the decisions that make a draft active", core: true,
		may: []string{"internal/pipeline/approval", "internal/pipeline/contract", "internal/pipeline/refusal", "internal/pipeline/state"},
	},
	{
		path: "internal/pipeline/document", why: "what a document says as a whole", core: true,
		may: []string{"internal/pipeline/approval", "internal/pipeline/contract", "internal/pipeline/refusal", "internal/pipeline/state"},
	},
	{
		path: "internal/pipeline/phase", why: "the way from a plan to a release", core: true,
		may: []string{"internal/pipeline/contract", "internal/pipeline/refusal", "internal/pipeline/role", "internal/pipeline/state"},
	},
	{
		path: "internal/pipeline/artifact", why: "what a phase leaves behind besides contracts", core: true,
		may: []string{"internal/pipeline/contract", "internal/pipeline/phase", "internal/pipeline/refusal"},
	},
	{
		path: "internal/pipeline/generation", why: "when a contract is generated, how often, how late", core: true,
		may: []string{"internal/pipeline/approval", "internal/pipeline/contract", "internal/pipeline/phase", "internal/pipeline/refusal"},
	},
	{
		path: "internal/pipeline/ingest", why: "takes evidence in, line by line", core: true,
		may: []string{"internal/pipeline/contract", "internal/pipeline/document", "internal/pipeline/merge", "internal/pipeline/refusal"},
	},
	{
		path: "internal/pipeline/lock", why: "who has a lock, for how long, with which token", core: true,
		may: []string{"internal/pipeline/contract", "internal/pipeline/refusal"}, modules: []string{text},
	},
	{path: "internal/pipeline/stale", why: "how old copies are, and what follows", may: []string{"internal/pipeline/contract", "internal/pipeline/refusal"}, core: true},
	{path: "internal/pipeline/operation", why: "the surface of the contracts as one table", may: []string{"internal/pipeline/contract"}, core: true},
	{path: "internal/pipeline", why: "the use cases and the ports they need", may: []string{"internal/pipeline/...", "internal/gate"}, core: true},

	// Ring 3: requests to agents, pure.
	{path: "internal/request/problem", why: "the catalogue of faults in requests, artifacts and consents", core: true},
	{
		path: "internal/request/envelope", why: "the request as received", core: true,
		may: []string{"internal/request/problem"},
	},
	{
		path: "internal/request/constitution", why: "registry, constitution and prompts; the only maker of a Prompt", core: true,
		may: []string{"internal/request/envelope"}, modules: []string{yaml, "github.com/expr-lang/expr"},
	},
	{
		path: "internal/request/screen", why: "reads a text before anybody acts on it: secrets, personal data, breaches", core: true,
		modules: []string{text},
	},
	{
		path: "internal/request/triage", why: "what a request is about and what stops it, each with its evidence", core: true,
		may: []string{"internal/request/envelope", "internal/request/constitution", "internal/request/screen"},
	},
	{
		path: "internal/request/circle", why: "circles, members and channels: who decides together", core: true,
		may: []string{"internal/request/problem", "internal/request/envelope", "internal/request/constitution"},
	},
	{
		path: "internal/request/artifact", why: "what a worker returns, and the consents it needs", core: true,
		may: []string{
			"internal/request/problem", "internal/request/envelope", "internal/request/constitution", "internal/request/circle", "internal/pipeline/contract",
			"internal/schema",
		},
	},
	{
		path: "internal/request/worker", why: "what a worker is told and answers, and the thirteen built-in engines", core: true,
		may: []string{
			"internal/request/problem", "internal/request/envelope", "internal/request/constitution", "internal/request/circle", "internal/request/artifact",
			"internal/request/memory", "internal/request/screen", "internal/request/triage", "internal/pipeline/contract", "internal/pipeline/risk",
			"internal/pipeline/approval", "internal/pipeline/merge", "internal/gate/...",
		},
	},
	{
		path: "internal/request/memory", why: "what the circle remembers, found by its words", core: true,
		may: []string{"internal/request/envelope"}, modules: []string{text},
	},
	{path: "internal/request", why: "the circle's only entry point, and the ports it needs", may: []string{"internal/request/...", "internal/pipeline/..."}, core: true},

	// Ring 4: adapters.
	{path: "internal/git", why: "runs git and reads files; yields the gate's input", may: []string{"internal/gate/..."}},

	{
		path: "internal/store", why: "keeps the contracts and the circle",
		may: []string{
			"internal/pipeline/...", "internal/request", "internal/request/artifact", "internal/request/circle", "internal/request/envelope",
			"internal/request/memory",
		},
	},
	{path: "internal/store/sqlite", why: "one database", may: []string{"internal/store"}, modules: []string{sqlite}},
	{path: "internal/store/postgres", why: "the other database", may: []string{"internal/store"}, modules: []string{pgx}},
	{path: "internal/store/postgres/pgtest", why: "a database for tests", modules: []string{pgx}},
	{
		path: "internal/store/storetest", why: "the suite both databases must pass", modules: []string{cmp},
		may: []string{
			"internal/store", "internal/pipeline/...", "internal/request", "internal/request/artifact", "internal/request/circle",
			"internal/request/constitution", "internal/request/envelope", "internal/request/memory",
		},
	},
	{
		path: "internal/queue", why: "runs the jobs", may: []string{"internal/pipeline/..."},
		modules: []string{river, river + "/riverdriver", river + "/riverdriver/riverdatabasesql", river + "/riverdriver/riversqlite", river + "/rivertype", pgx},
	},
	{
		path: "internal/api", why: "JSON over HTTP", modules: []string{huma, xsync},
		may: []string{
			"internal/pipeline/...", "internal/auditlog", "internal/bundle", "internal/request", "internal/request/artifact", "internal/request/circle",
			"internal/request/constitution", "internal/request/envelope", "internal/request/problem",
		},
	},
	{
		path: "internal/console", why: "the pages: what waits for a person, and what became of everything", modules: []string{text},
		may: []string{
			".", "internal/auditlog", "internal/pipeline/...", "internal/request", "internal/request/artifact", "internal/request/circle",
			"internal/request/constitution", "internal/request/envelope", "internal/request/problem", "internal/gate/redact", "internal/gate/rule", "internal/verify/check",
		},
	},
	{
		path: "internal/console/consoletest", why: "a service with people and work in it, and a browser, for the tests of the pages",
		may:     []string{"internal/pipeline/...", "internal/request", "internal/request/circle", "internal/server"},
		modules: []string{"github.com/chromedp/chromedp", "github.com/chromedp/cdproto"},
	},
	{
		path: "internal/secrets", why: "knows the forms of secrets", may: []string{"internal/request/screen"},
		modules: []string{toml, "github.com/zricethezav/gitleaks/v8"},
	},
	{
		path: "internal/mcp/request", why: "the circle's one entry point as a tool of an agent",
		modules: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	{
		path: "internal/mcp/gate", why: "the gate's five read-only tools for an agent", may: []string{"internal/gate/redact"},
		modules: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	{path: "internal/webhook", why: "brings events to subscribers", may: []string{"internal/pipeline/..."}, modules: []string{xsync}},
	{
		path: "internal/login", why: "signs people in through their own issuer", may: []string{"internal/pipeline/..."},
		modules: []string{"github.com/coreos/go-oidc/v3", "golang.org/x/oauth2"},
	},
	{
		path: "internal/identity", why: "second proofs of identity: codes and keys", may: []string{"internal/request"},
		modules: []string{"github.com/go-webauthn/webauthn", "github.com/pquerna/otp"},
	},
	{path: "internal/auditlog", why: "seals the audit log and checks copies of it", may: []string{"internal/pipeline/..."}, modules: []string{xmod}},
	{
		path: "internal/bundle", why: "the proof of a release as a folder, and its check without the service", core: true,
		may: []string{"internal/auditlog", "internal/pipeline/approval", "internal/pipeline/contract", "internal/pipeline/event"}, modules: []string{xmod},
	},
	{
		path: "internal/model/answer", why: "reads what a model answered, as the words of a stranger", core: true,
		may: []string{"internal/request", "internal/request/problem", "internal/request/screen", "internal/pipeline/contract"},
	},
	{
		path: "internal/model", why: "asks language models for drafts; their system prompt is a Prompt and nothing else",
		may: []string{
			"internal/model/answer", "internal/request", "internal/request/constitution", "internal/request/envelope", "internal/request/problem", "internal/pipeline",
		},
		modules: []string{"github.com/openai/openai-go/v3", "github.com/anthropics/anthropic-sdk-go"},
	},
	{path: "internal/model/modeltest", why: "a model endpoint for tests, the worst one included", may: []string{"internal/request/constitution", "internal/request/screen"}},
	{
		path: "internal/execution", why: "the local half of a run: claims a task, works, reports",
		may: []string{"internal/pipeline/...", "internal/gate", "internal/gate/redact"},
	},

	// Ring 5: shells.
	{path: "internal/demo", why: "the story of plimsoll demo: who does what with which command, and the sample they work on"},
	{path: ".", why: "embeds the documents that the programs print"},
	{
		path: "internal/cli/verification", why: "verifies a change of a repository, for the gate's commands and for a run that owes it",
		may: []string{"internal/gate", "internal/gate/source", "internal/git", "internal/verify"},
	},
	{
		path: "internal/cli/shipgate", why: "the gate's commands; no network",
		may: []string{
			".", "internal/gate/...", "internal/verify", "internal/verify/...", "internal/git", "internal/action", "internal/adopt", "internal/adopt/...",
			"internal/preflight", "internal/hostgrant", "internal/cli/verification",
		},
		modules: []string{cobra},
	},
	{
		path: "internal/cli/shipgatemcp", why: "wires the gate's commands to its tool server",
		may: []string{".", "internal/mcp/gate", "internal/cli/shipgate"},
	},
	{path: "cmd/shipgate-mcp", why: "its doorstep", may: []string{"internal/cli/shipgatemcp", "internal/cli/shipgate"}},
	{path: "cmd/shipgate", why: "a doorstep", may: []string{"internal/cli/shipgate"}},
	{path: "cmd/agents-shipgate", why: "the same doorstep under the other name", may: []string{"internal/cli/shipgate"}},
	{
		path: "internal/server", why: "wires the service, and starts and stops its loops",
		may: []string{
			".", "internal/api", "internal/auditlog", "internal/console", "internal/identity", "internal/login", "internal/model", "internal/pipeline/...", "internal/queue",
			"internal/request", "internal/request/artifact", "internal/request/constitution", "internal/request/envelope", "internal/request/screen",
			"internal/secrets", "internal/store", "internal/store/...", "internal/webhook",
		},
		modules: []string{
			xsync, "go.yaml.in/yaml/v3", "github.com/prometheus/client_golang", "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/metric",
			"go.opentelemetry.io/otel/trace", "go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/sdk/metric",
			"go.opentelemetry.io/otel/exporters/prometheus", "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp",
		},
	},
	{
		path: "internal/cli/plimsoll", why: "the control plane's commands: the service, and the client of its API",
		may:     []string{".", "internal/api", "internal/auditlog", "internal/bundle", "internal/cli/verification", "internal/demo", "internal/execution", "internal/gate", "internal/git", "internal/mcp/request", "internal/pipeline/...", "internal/request", "internal/request/artifact", "internal/request/constitution", "internal/request/envelope", "internal/server", "internal/verify"},
		modules: []string{cobra},
	},
	{path: "cmd/plimsoll", why: "its doorstep", may: []string{"internal/cli/plimsoll"}},
	{path: "internal/manual", why: "what the commands say of themselves, as pages, manual pages and completions", modules: []string{cobra}},
	{path: "internal/dist", why: "builds what is released", may: []string{"internal/manual", "internal/cli/shipgate", "internal/cli/plimsoll"}, modules: []string{cobra}},
	{path: "internal/arch", why: "no code"},
	{path: "internal/e2e", why: "no code: tests of the built program"},
	{path: "internal/bench/bare", why: "an empty program, the floor of every start"},
	{
		path: "internal/bench/contracts", why: "measures the contracts, wired as the server wires them",
		may: []string{"internal/bench/fill", "internal/pipeline/...", "internal/store/...", "internal/queue", "internal/auditlog"},
	},
	{path: "internal/bench/fill", why: "multiplies the chains of a database that is measured"},
	{
		path: "internal/bench/console", why: "measures the pages of the console on a service that has much to show",
		may: []string{
			"internal/bench/fill", "internal/pipeline/...", "internal/server", "internal/store/postgres/pgtest",
			"internal/request", "internal/request/artifact", "internal/request/circle",
		},
	},
	{
		path: "internal/bench/triage", why: "measures screen and triage on a set of attacks and of texts that are none",
		may: []string{
			".", "internal/request/constitution", "internal/request/envelope", "internal/request/screen", "internal/request/triage", "internal/secrets",
		},
	},
	{path: "internal/bench/gate", why: "measures the gate", may: []string{"internal/cli/shipgate"}},
	{path: "internal/bench/hook", why: "measures hooks under load", may: []string{"internal/cli/shipgate", "internal/adopt/hook"}},
	{path: "internal/bench/verify", why: "measures verification", may: []string{"internal/cli/shipgate", "internal/gate/source", "internal/verify/python", "internal/verify/script"}},
}
