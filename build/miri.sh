#!/bin/sh
# Runs the unit tests of the agent's pure `unsafe` code under Miri, which reports undefined
# behaviour: accesses that are unaligned, out of bounds or through a wrong pointer, and data races.
#
# The code is the data plane, which shares memory with application threads: mapped files, counters,
# ring buffers, tables. Miri runs no JVM and maps no files, so the tests of the remaining `unsafe` code
# are the end-to-end tests, and a mapped file is an allocation here (`executor/src/data/memory.rs`).
#
# Arguments are filters of tests, instead of the list below. The exit code is 1 if a test fails, and 3
# if Miri cannot be installed.
set -eu
cd "$(dirname "$0")/.."

PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
export PATH

say() { printf 'miri: %s\n' "$*" >&2; }

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    say "installing Miri: rustup toolchain install nightly --profile minimal --component miri,rust-src"
    rustup toolchain install nightly --profile minimal --component miri,rust-src </dev/null >&2 || exit 3
fi

[ $# -gt 0 ] || set -- data:: plans::thread_bound jvm::jni jvm::frames

# The tests create files and read clocks, and tables of words are never freed. An integer that becomes
# a pointer is an error (strict provenance): addresses leave Rust as numbers and never come back.
MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-strict-provenance"
# Miri takes most of a minute to print the stack of a panic that a test expects.
RUST_BACKTRACE=0
export MIRIFLAGS RUST_BACKTRACE
exec cargo +nightly miri test --locked --target-dir "${CARGO_TARGET_DIR:-$PWD/target}/miri" \
    -p veneer-executor --lib -- "$@"
