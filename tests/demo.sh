#!/bin/sh
# Runs the demonstration: the JDK's own compiler under a plan that counts every fragment of its
# parser (tests/demo.rhai). It needs cargo and a JDK from 17 on; `make demo` installs both.
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --release --no-default-features -p veneer-console -p veneer-agent
exec cargo run --quiet --release -p veneer-tests --bin demo -- "$@"
