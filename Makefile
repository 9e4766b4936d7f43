# Targets:
#
#   make build        builds the optimised command and agent: target/release/{veneer,libveneer_agent.so}
#   make package      builds the archives and the Debian packages: target/package
#   make test         runs all tests, on the oldest or the newest JDK: build/test.sh has the choices
#   make demo         runs javac under a plan that counts the basic blocks of javac's parser
#   make fuzz         runs every fuzz target for ten minutes, two at a time: half an hour
#   make miri         runs the agent's pure unsafe code under Miri: ten minutes
#   make trust        checks that programs behave the same under Veneer: docs/trust.md, < 1 hour
#   make bench        compares Veneer with other tools: docs/benchmarks.md, < 1 hour
#   make bench-quick  runs a sample of the comparison in minutes
#   make docs         builds the book of docs/ with search: target/book
#   make setup        installs missing tools (as root), or prints the command that installs them
#
# All targets that build run `make setup` first, which finishes at once if nothing is missing.

.DEFAULT_GOAL := build
.PHONY: bench bench-quick build demo docs fuzz miri package setup test trust

# If `make setup` has just installed a Rust toolchain, the PATH of this shell lacks its directory.
CARGO_HOME ?= $(HOME)/.cargo
export PATH := $(CARGO_HOME)/bin:$(PATH)

setup:
	@sh build/setup.sh

# Builds the command and the agent as two files. `cargo install --path console` builds one file
# instead: the command with the agent embedded, for which it builds the agent a second time.
build: setup
	cargo build --release --locked --no-default-features -p veneer-agent -p veneer-console

package: build
	@sh build/package.sh

# mdBook is built into target/tools the first time. Nothing else needs it.
docs: setup
	@sh build/docs.sh

demo: build
	@sh tests/demo.sh

# Depends on `build`, because the end-to-end tests start the optimised command and load its agent.
test: build
	@sh build/test.sh

# Writes docs/trust.md: checks of all classes of the JDKs and of a corpus of jars, of real programs,
# of random programs, of threads and of memory. Takes less than an hour on two processors.
trust: build
	cargo test --release --locked --quiet --no-run -p veneer-fragmenter --test check_mutants
	cargo run --release --locked -p veneer-tests --bin trust

# Records the runs in fuzz/runs.json. The part `fuzz` of `make trust` shows these runs until the
# sources change.
fuzz: build
	rm -f fuzz/runs.json
	FUZZ_SECONDS=$${FUZZ_SECONDS:-600} cargo run --release --locked -p veneer-tests --bin trust -- fuzz

# Reports undefined behaviour in the code that shares memory with application threads. Needs a nightly
# Rust with Miri, which it installs if it is missing.
miri: setup
	@sh build/miri.sh

# Writes docs/benchmarks.md, a comparison of Veneer with other tools on the same work. Takes less
# than an hour. The machine should be idle.
bench: build
	cargo run --release --locked -p veneer-tests --bin bench

# Runs a sample of the comparison in minutes. Prints the results and writes no file.
bench-quick: build
	cargo run --release --locked -p veneer-tests --bin bench -- --quick
