# Every target first makes sure that Go, its modules and PostgreSQL are there:
# see scripts/bootstrap.

GO ?= go
BIN := $(CURDIR)/.bin
GOLANGCI_VERSION := v2.15.0

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
	$(GO) test -timeout 20m ./...

.PHONY: race
race: bootstrap ## Run all tests under the race detector
	$(GO) test -race -timeout 40m ./...

.PHONY: memory
memory: bootstrap ## Measure the runner's peak memory over 1 and 10 million rows
	CS9GEN_MEMORY_ROWS=10000000 $(GO) test -count 1 -v -timeout 30m -run '^TestMemory' ./runner

.PHONY: golden
golden: bootstrap ## Write the golden files anew, after a change that is meant
	$(GO) test ./sqlgen -update

.PHONY: lint
lint: bootstrap $(BIN)/golangci-lint ## Run the linter
	$(BIN)/golangci-lint run ./...

$(BIN)/golangci-lint:
	GOBIN=$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
