#!/bin/sh
# Runs the unit tests of the agent's data plane under Miri, which reports undefined behaviour:
# unaligned or out-of-range accesses, data races, wrong references. The data plane is the code that
# shares memory with application threads: mapped files, counters, ring buffers, tables.
#
# The exit code is 1 if a test fails, and 3 if Miri cannot be installed.
set -eu
cd "$(dirname "$0")/.."

PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
export PATH

say() { printf 'miri: %s\n' "$*" >&2; }

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    say "installing Miri: rustup toolchain install nightly --profile minimal --component miri,rust-src"
    rustup toolchain install nightly --profile minimal --component miri,rust-src </dev/null >&2 || exit 3
fi

# The tests create files, application threads pass addresses as numbers, and tables are never freed.
MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance -Zmiri-ignore-leaks"
export MIRIFLAGS
exec cargo +nightly miri test --locked --target-dir "${CARGO_TARGET_DIR:-$PWD/target}/miri" \
    -p veneer-executor --lib -- data:: "$@"
