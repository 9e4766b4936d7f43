#!/bin/sh
# Runs all tests: first the unit tests, then the files of tests, several at a time.
#
#   TEST_JOBS      number of files of tests that run at once (the number of processors)
#
# Most files start JVMs and wait for them much of the time, so several files at a time keep the
# processors busy. A failing file does not stop the others. The output of a file is printed when it
# ends. The last line names the files that failed.
#
# The exit code is 1 if a test fails.
set -eu
cd "$(dirname "$0")/.."

jobs=${TEST_JOBS:-$(getconf _NPROCESSORS_ONLN)}
out=${CARGO_TARGET_DIR:-$PWD/target}/test-output
rm -rf "$out"
mkdir -p "$out"

say() { printf 'test: %s\n' "$*" >&2; }

# Tests of measured time need the processors for themselves.
alone="search search_runs"

# Cargo knows a file of tests by its name without the ending.
for file in tests/tests/*.rs */tests/*.rs */*/tests/*.rs; do
    basename "$file" .rs
done | sort -u >"$out/files"

# All calls of Cargo select the whole workspace. For another selection, Cargo would build the
# dependencies again.
cargo test --locked --workspace --no-run
say "unit tests"
cargo test --locked --workspace --no-fail-fast --lib --bins || echo "(see above)" >>"$out/failed"
cargo test --locked --workspace --doc || echo "(examples in the documentation)" >>"$out/failed"

# `make test` has built the command. Without this variable, each test looks whether it is up to date.
VENEER=${VENEER:-${CARGO_TARGET_DIR:-$PWD/target}/release/veneer}
export VENEER out

cat >"$out/run.sh" <<'RUN'
begun=$(date +%s)
code=0
cargo test --locked --workspace --test "$1" >"$out/$1.log" 2>&1 || code=$?
[ "$code" = 0 ] || echo "$1" >>"$out/failed"
took=$(($(date +%s) - begun))
flock "$out/print" sh -c 'cat "$1"; printf "test: %s: exit code %s, %s s\n" "$2" "$3" "$4" >&2' \
    print "$out/$1.log" "$1" "$code" "$took"
RUN

say "$(wc -l <"$out/files") files of tests, $jobs at once"
for file in $alone; do
    echo "$file"
done >"$out/alone"
grep -vxFf "$out/alone" "$out/files" | xargs -P "$jobs" -n 1 sh "$out/run.sh"
xargs -n 1 sh "$out/run.sh" <"$out/alone"

if [ -e "$out/failed" ]; then
    say "failed: $(paste -sd ' ' "$out/failed")"
    exit 1
fi
say "all passed"
