# Every target that needs them first makes sure that Go, its modules and
# PostgreSQL are there: see scripts/bootstrap.

# /usr/local/go is where Go's own archive is unpacked, often outside PATH.
GO ?= $(firstword $(shell command -v go) $(wildcard /usr/local/go/bin/go) go)
export GO
export PATH := $(PATH):/usr/local/go/bin
BIN := $(CURDIR)/.bin
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)
# More flags for go test: make test TESTFLAGS='-run P4 -v'
TESTFLAGS ?=

.PHONY: help
help: ## Show what can be made
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: bootstrap
bootstrap:
	@scripts/bootstrap

.PHONY: demo
demo: bootstrap ## Show a run: success, failure, retry, a publish that is stopped and resumed
	$(GO) run ./cmd/cs9gen demo --out demo-output

.PHONY: test
test: bootstrap ## Run all tests, each against a PostgreSQL of its own
	$(GO) vet ./...
	$(GO) test -timeout 20m $(TESTFLAGS) ./...

.PHONY: test-all
test-all: bootstrap ## Run all tests on PostgreSQL 14, 15, 16, 17 and 18
	scripts/test-all

.PHONY: race
race: bootstrap ## Run all tests under the race detector
	$(GO) test -race -timeout 40m $(TESTFLAGS) ./...

.PHONY: crash
crash: bootstrap ## Kill a run at every point, in every way, and resume it
	CS9GEN_CRASH=all $(GO) test -count 1 -v -timeout 60m -run '^TestCrashAtEveryPoint$$' ./internal/crash

.PHONY: model
model: bootstrap ## Compare 2,000 random sequences of calls with a model of the promises
	CS9GEN_MODEL_CHECKS=2000 $(GO) test -count 1 -v -timeout 60m -run 'Promises|Mutation' ./internal/model

.PHONY: oracle
oracle: bootstrap ## Compare 5,000 random schemas and runs with plain SQL, and put faults in that must be found
	CS9GEN_ORACLE_CASES=$(or $(CASES),5000) $(GO) test -count 1 -v -timeout 600m ./internal/proof/oracle

.PHONY: readers
readers: bootstrap ## Watch 200 publishes of each mode with readers that never pause
	CS9GEN_READERS_PUBLISHES=200 $(GO) test -count 1 -v -timeout 30m -run P12 ./internal/readers

.PHONY: standby
standby: bootstrap ## Try days on which a standby, a host or the network is missing: 30 publishes a mode
	CS9GEN_STANDBY_PUBLISHES=30 $(GO) test -count 1 -v -timeout 60m ./internal/proof/standby

# Making each new input smaller for a minute, as go test does by itself, would leave no time to find any.
.PHONY: fuzz
fuzz: bootstrap ## Fuzz definitions, the names and texts in them, and changes of them: FUZZTIME=10m each
	for target in FuzzLoad FuzzGenerate FuzzChange; do \
	    $(GO) test ./sqlgen -run '^$$' -fuzz "^$$target\$$" -fuzztime $(or $(FUZZTIME),10m) -fuzzminimizetime 10x || exit 1; \
	done

.PHONY: memory
memory: bootstrap ## Measure the runner's peak memory over 1 and 10 million rows
	CS9GEN_MEMORY_ROWS=10000000 $(GO) test -count 1 -v -timeout 30m -run '^TestMemory' ./runner

.PHONY: bench
bench: bootstrap ## Measure side by side with what would be used instead: ROWS=100000 REPEATS=3 ONLY=B1,B7
	bench/bootstrap
	cd bench && $(GO) run .

.PHONY: bench-test
bench-test: bootstrap ## Try every benchmark with few rows, and check what it did
	cd bench && $(GO) vet ./... && $(GO) test -count 1 -timeout 20m ./...

.PHONY: golden
golden: bootstrap ## Write the golden files anew, after a change that is meant
	$(GO) test ./sqlgen -run '(TestPipeline|TestChanges)/.*/golden|TestLoadRefuses|TestAdoptionSQL' -update
	$(GO) test ./procs -run Docs -update
	$(GO) test ./internal/inspect -run TestSamples -update
	$(GO) test ./internal/matrix -run ValueRules -update

.PHONY: check-go
check-go: ## Check formatting and vet, without a database
	@unformatted=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs gofmt -l) && \
	if [ -n "$$unformatted" ]; then printf 'not formatted; type: gofmt -w\n%s\n' "$$unformatted" >&2; exit 1; fi
	$(GO) vet ./...

.PHONY: lint
lint: bootstrap $(GOLANGCI) ## Run the linter
	$(GOLANGCI) run ./...

$(GOLANGCI):
	GOBIN=$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(BIN)/golangci-lint $@
