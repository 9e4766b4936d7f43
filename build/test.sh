#!/bin/sh
# Runs all tests: first the unit tests, then the files of tests, several at a time.
#
#   TEST_JOBS          number of files of tests that run at once (the number of processors and one more)
#   VENEER_EVERY_JDK   if set, most tests run on the oldest and the newest JDK;
#                      otherwise on one of them. A few tests choose their JDKs themselves.
#   VENEER_JDK_CHOICE  a word that chooses this one JDK for each test (the commit, so that it changes with time)
#
# A file runs one test at a time, so as many tests run at once as files. A test starts JVMs and waits for them
# much of the time. A failing file does not stop the others. The output of a file is printed when it
# ends. The last line names the files that failed.
#
# The exit code is 1 if a test fails.
set -eu
cd "$(dirname "$0")/.."

# Tests wait a fifth of their time.
jobs=${TEST_JOBS:-$(($(getconf _NPROCESSORS_ONLN) + 1))}
VENEER_JDK_CHOICE=${VENEER_JDK_CHOICE:-$(git rev-parse --short HEAD 2>/dev/null || true)}
export VENEER_JDK_CHOICE
out=${CARGO_TARGET_DIR:-$PWD/target}/test-output
rm -rf "$out"
mkdir -p "$out"

say() { printf 'test: %s\n' "$*" >&2; }

# Tests of measured time need the processors for themselves, so neither other files nor other tests of
# the same file run meanwhile.
alone="search search_runs what_if tune papers trace_costs"
# These files take longest, so they start first.
long="hostile_loaders other_agents shipped ten_questions jdk_classes programs faults mcp_faults corpora ask"

# All calls of Cargo select the whole workspace. For another selection, Cargo would build the
# dependencies again.
cargo test --locked --workspace --no-run --message-format=json-render-diagnostics >"$out/built.json"

# A line for each file of tests: its name, the folder of its package, and its program. Starting a program
# takes no time, while Cargo looks for changes in the whole workspace first.
sed -n 's|.*"manifest_path":"\([^"]*\)/Cargo.toml".*"kind":\["test"\].*"name":"\([^"]*\)".*"executable":"\([^"]*\)".*|\2 \1 \3|p' \
    "$out/built.json" | sort -u >"$out/files"
[ -s "$out/files" ]

say "unit tests"
cargo test --locked --workspace --no-fail-fast --lib --bins || echo "(see above)" >>"$out/failed"
cargo test --locked --workspace --doc || echo "(examples in the documentation)" >>"$out/failed"

# `make test` has built the command. Without this variable, each test looks whether it is up to date.
VENEER=${VENEER:-${CARGO_TARGET_DIR:-$PWD/target}/release/veneer}
export VENEER out

cat >"$out/run.sh" <<'RUN'
# Arguments: name, folder, program.
begun=$(date +%s)
code=0
# Files of several packages may have one name.
log=$out/$(basename "$2")-$1.log
(cd "$2" && CARGO_MANIFEST_DIR=$2 "$3") >"$log" 2>&1 || code=$?
if [ "$code" != 0 ]; then
    echo "$1" >>"$out/failed"
    echo "$log" >>"$out/failed-logs"
fi
took=$(($(date +%s) - begun))
flock "$out/print" sh -c 'cat "$1"; printf "test: %s: exit code %s, %s s\n" "$2" "$3" "$4" >&2' \
    print "$log" "$1" "$code" "$took"
RUN

say "$(wc -l <"$out/files") files of tests, $jobs at once, JDKs by the choice '$VENEER_JDK_CHOICE'"
is_alone=$(echo "$alone" | tr ' ' '|')
is_long=$(echo "$long" | tr ' ' '|')
{
    grep -E "^($is_long) " "$out/files"
    grep -vE "^($is_long|$is_alone) " "$out/files"
} | RUST_TEST_THREADS=1 xargs -P "$jobs" -n 3 sh "$out/run.sh"
grep -E "^($is_alone) " "$out/files" | RUST_TEST_THREADS=1 xargs -n 3 sh "$out/run.sh"

# Repeats the messages of the failures, because the output of a file may be thousands of lines above.
if [ -e "$out/failed-logs" ]; then
    while read -r log; do
        say "failures in $(basename "$log" .log)"
        sed -n '/^---- .* stdout ----$/,/^stack backtrace:$/p' "$log" | cut -c 1-2000 | head -n 60 >&2
    done <"$out/failed-logs"
fi
if [ -e "$out/failed" ]; then
    say "failed: $(paste -sd ' ' "$out/failed")"
    exit 1
fi
say "all passed"
