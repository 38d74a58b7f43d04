# The house. `make check` is exactly what CI runs, in the same order.
#
# Needs Go, git, a C compiler (the race detector) and make; everything else is
# built once into .cache/bin, at the versions named here.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

GO ?= go
GOFUMPT_VERSION := v0.12.0
LINT_VERSION := v2.15.0
TOOLS := $(CURDIR)/.cache/bin
GOFUMPT := $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)
LINT := $(TOOLS)/golangci-lint-$(LINT_VERSION)

# How long each fuzz target runs, how often each benchmark, and what else go
# test is told (CI passes -v).
T ?= 30s
COUNT ?= 6
TESTFLAGS ?=

# The gate is one static file: loading a C library it never calls would cost a
# fifth of its start.
GATE := CGO_ENABLED=0 $(GO)
GATEFLAGS := -trimpath -ldflags=-w

# Go files of the product, not of test data or caches.
GOFILES = $(shell git ls-files --cached --others --exclude-standard -- '*.go' ':!*/testdata/*')

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(GOFUMPT) $(LINT) ## download modules and build the pinned tools
	$(GO) mod download

# A new version is a new file name, so a bump rebuilds by itself.
$(GOFUMPT):
	GOBIN=$(TOOLS) $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
	mv $(TOOLS)/gofumpt $@

$(LINT):
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(TOOLS)/golangci-lint $@

.PHONY: build
build: ## build bin/shipgate, bin/agents-shipgate, bin/shipgate-mcp and bin/plimsoll
	$(GATE) build $(GATEFLAGS) -o bin/shipgate ./cmd/shipgate
	$(GATE) build $(GATEFLAGS) -o bin/agents-shipgate ./cmd/agents-shipgate
	$(GATE) build $(GATEFLAGS) -o bin/shipgate-mcp ./cmd/shipgate-mcp
	$(GATE) build $(GATEFLAGS) -o bin/plimsoll ./cmd/plimsoll

.PHONY: install
install: ## install the programs where go install puts them
	$(GATE) install $(GATEFLAGS) ./cmd/shipgate ./cmd/agents-shipgate ./cmd/shipgate-mcp ./cmd/plimsoll

.PHONY: check
check: format vet lint arch test e2e drift ## everything CI runs, in its order

.PHONY: format
format: $(GOFUMPT) ## say which files gofumpt would change
	@bad=$$($(GOFUMPT) -l $(GOFILES)); \
	if [[ -n $$bad ]]; then printf 'not formatted, run make fmt:\n%s\n' "$$bad" >&2; exit 1; fi

.PHONY: fmt
fmt: $(GOFUMPT) ## format every file
	$(GOFUMPT) -w $(GOFILES)

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: lint
lint: $(LINT) ## golangci-lint, configured in .golangci.yml
	$(LINT) run ./...

.PHONY: arch
arch: ## who may import whom, and the hygiene of the tree
	$(GO) test -count=1 $(TESTFLAGS) ./internal/arch/...

# Two are without the detector: arch has run before and starts programs only, and
# dist is one goroutine that packs what it built, which takes nine times as long under it.
#
# The tests that start whole services, kill them and start several nodes have a
# target of their own: they measure how long things take, and want a machine for
# themselves for some minutes.
.PHONY: test
test: ## every test of a package, with the race detector
	$(GO) test -race -timeout 30m $(TESTFLAGS) $$($(GO) list ./... | grep -vE '/internal/(arch|dist|e2e)$$')
	$(GO) test $(TESTFLAGS) ./internal/dist

.PHONY: e2e
e2e: ## chains, crashes, races and three nodes with the built program, on both databases
	$(GO) test -count=1 -timeout 30m $(TESTFLAGS) ./internal/e2e

# Golden files are written by their own tests when PLIMSOLL_GOLDEN=1 is set: by
# those in the files that ask for it, so that no other test runs twice in a check.
# A test that this misses still compares, and fails in make test.
.PHONY: golden
golden: ## rewrite golden files; review the diff like code
	@files=$$(grep -rl --include='*_test.go' PLIMSOLL_GOLDEN cmd internal); \
	tests=$$(grep -ho '^func Test[A-Za-z0-9_]*' $$files | sed 's/^func //' | sort -u | paste -sd '|' -); \
	packages=$$(dirname $$files | sort -u | sed 's|^|./|'); \
	PLIMSOLL_GOLDEN=1 $(GO) test -count=1 -run "^($$tests)\$$" $$packages

# Plain make: a line that holds its variable would run even when make is only
# asked what it would do.
.PHONY: drift
drift: ## golden files are what the code prints today
	@state() { git status --porcelain --untracked-files=all; git diff; }; \
	before=$$(state); make --no-print-directory golden; \
	if [[ $$before != "$$(state)" ]]; then git status --short >&2; echo 'golden files drifted: review the diff and commit it' >&2; exit 1; fi

# A quarter of an hour: the service is killed KILLS times, over both databases.
KILLS ?= 2000
.PHONY: crash
crash: ## kill the service KILLS times, on both databases, and count what is lost
	$(GO) test -count=1 -v -timeout 12h -run '^TestNothingIsLost' $(TESTFLAGS) ./internal/e2e -kills $(KILLS)

.PHONY: slow
slow: ## the waits of a production service, long races, every hostile text on every reader, many drawn changes
	$(GO) test -count=1 -v -timeout 2h -run 'Slow|OneFinalDecision' $(TESTFLAGS) ./internal/e2e -slow -races 5000
	$(GO) test -count=1 -timeout 2h -run '^Test(HostileText|CheckAndVerify|EveryCommandOf)' $(TESTFLAGS) ./internal/cli/shipgate -hostile-all -changes 200

.PHONY: cases
cases: ## run the boundary cases against the gate
	$(GO) test -count=1 -run '^TestCases$$' $(TESTFLAGS) ./internal/cli/shipgate

# The whole-process tables first: the gate against git's own floor and the
# contracts against the queue's, interleaved.
.PHONY: bench
bench: bench-contracts bench-console bench-verify bench-hook ## the gate, the contracts, verification and hooks against their floors, then every benchmark COUNT times
	$(GO) run ./internal/bench/gate
	$(GO) run ./internal/bench/triage
	$(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) ./internal/gate/... ./internal/canonical

.PHONY: bench-contracts
bench-contracts: ## chains against as many jobs that do nothing, on both databases
	$(GO) run ./internal/bench/contracts

.PHONY: bench-console
bench-console: ## the pages of the console at 10,000 chains, and how soon an open page has news
	$(GO) run ./internal/bench/console

.PHONY: bench-verify
bench-verify: ## verification of 200 and 2,000 tools against parsing their files
	$(GO) run ./internal/bench/verify

.PHONY: bench-hook
bench-hook: ## 200 hooks of coding agents, 16 at once for each core, against the hosts' limits
	$(GO) run ./internal/bench/hook

# go test fuzzes one target of one package at a time.
.PHONY: fuzz
fuzz: ## run every fuzz target for T, for example: make fuzz T=30s
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' cmd internal | \
	while IFS=: read -r file func; do \
		name=$${func#func }; echo "== $$name ($$(dirname $$file), $(T))"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(T) -fuzzminimizetime 20x ./$$(dirname $$file); \
	done

.PHONY: screens
screens: ## play the demo and take the pictures of docs/screens (needs Chromium)
	$(GO) test ./internal/e2e -run '^TestEveryPageIsFitToBeSeen' -count 1 -screens $(CURDIR)/docs/screens

.PHONY: demo
demo: build ## see the whole path in a browser: four people, two agents, one stopped
	bin/plimsoll demo

.PHONY: dist
dist: ## build for six systems into dist/, with checksums; the same bytes every time
	$(GO) run ./internal/dist

.PHONY: try
try: build ## see a pass, a review and a block on throwaway repositories
	./examples/try/run bin/shipgate
