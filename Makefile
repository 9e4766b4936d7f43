# What there is to make:
#
#   make build   the command and the agent, optimised: target/release/{veneer,libveneer_agent.so}
#   make package the archive and the Debian package: target/package
#   make test    all tests, on every JDK of this machine
#   make demo    javac compiles a source tree under a plan that counts its parser's fragments
#   make fuzz    every fuzz target for ten minutes, two at a time: half an hour
#   make trust   the evidence that programs are the same under Veneer: docs/trust.md, under an hour
#   make bench   Veneer beside other tools on the same work: docs/benchmarks.md, under an hour
#   make docs    the book of docs/ with search: target/book; checks the examples and links of all documents
#   make setup   installs what is missing (as root), or prints the line to type
#
# Each of the first three does the set-up itself; it is quick where nothing is missing.

.DEFAULT_GOAL := build
.PHONY: bench bench-quick build demo docs figures fuzz package setup test trust

# A Rust toolchain that the set-up has just installed is not on the PATH of this shell yet.
CARGO_HOME ?= $(HOME)/.cargo
export PATH := $(CARGO_HOME)/bin:$(PATH)

setup:
	@sh build/setup.sh

# Command and agent as two files; `cargo install --path console` makes one of them, for which it builds the agent again.
build: setup
	cargo build --release --locked --no-default-features -p veneer-executor -p veneer-console

package: build
	@sh build/package.sh

# mdBook is built into target/tools the first time. Nothing else needs it.
docs: setup
	@sh build/docs.sh

demo: build
	@sh tests/demo.sh

# The build comes first since the end-to-end tests start the optimised command and load its agent.
test: build
	cargo test --locked --workspace

# The tables of docs/core-figures.md: about ten minutes, best on a machine that does nothing else.
figures: build
	cargo run --release --locked -p veneer-tests --bin figures

# docs/trust.md: everything that exists, real programs, random ones, threads, memory; under an hour on two processors.
trust: build
	cargo run --release --locked -p veneer-tests --bin trust

# Records fuzz/runs.json, which the trust part `fuzz` shows as long as the sources are the same.
fuzz: build
	rm -f fuzz/runs.json
	FUZZ_SECONDS=$${FUZZ_SECONDS:-600} cargo run --release --locked -p veneer-tests --bin trust -- fuzz

# docs/benchmarks.md: Veneer beside other tools on the same work; under an hour, best on a machine that does nothing else.
bench: build
	cargo run --release --locked -p veneer-tests --bin bench

# A sample of it in minutes; prints, keeps nothing.
bench-quick: build
	cargo run --release --locked -p veneer-tests --bin bench -- --quick
