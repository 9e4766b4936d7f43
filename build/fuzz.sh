#!/bin/sh
# Runs the fuzz targets: `sh build/fuzz.sh [TARGET…]`. Without arguments, runs all targets.
# `sh build/fuzz.sh --build` only builds them.
#
#   FUZZ_SECONDS   time per target in seconds (600)
#   FUZZ_JOBS      number of targets that run at once (2)
#
# Output:
#
#   target/fuzz/TARGET.log         output of libFuzzer
#   target/fuzz/corpus/TARGET      new inputs that libFuzzer found; fuzz/corpus is only read
#   target/fuzz/failures/TARGET    inputs that fail
#
# The exit code is 1 if a target fails, and 3 if the script cannot install a missing tool or build
# the targets.
set -eu
cd "$(dirname "$0")/.."

PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
export PATH
seconds=${FUZZ_SECONDS:-600}
jobs=${FUZZ_JOBS:-2}
out=${CARGO_TARGET_DIR:-$PWD/target}/fuzz

say() { printf 'fuzz: %s\n' "$*" >&2; }

if ! cargo +nightly --version >/dev/null 2>&1; then
    say "installing the nightly Rust toolchain: rustup toolchain install nightly --profile minimal"
    rustup toolchain install nightly --profile minimal </dev/null >&2 || exit 3
fi
if ! cargo fuzz --version >/dev/null 2>&1; then
    say "installing cargo-fuzz: cargo install cargo-fuzz --locked"
    cargo install cargo-fuzz --locked </dev/null >&2 || exit 3
fi

mkdir -p "$out"
say "building the targets with the address sanitizer"
cargo +nightly fuzz build --target-dir "$out/build" </dev/null >"$out/build.log" 2>&1 || {
    tail -n 40 "$out/build.log" >&2
    say "the targets cannot be built"
    exit 3
}

if [ "${1-}" = --build ]; then
    exit 0
fi

# run TARGET: runs the executable of a target directly, because `cargo fuzz run` cannot run several
# targets at once.
run() {
    mkdir -p "$out/corpus/$1" "$out/failures/$1"
    code=0
    ASAN_OPTIONS=detect_odr_violation=0 nice -n 5 "$out/build/x86_64-unknown-linux-gnu/release/$1" \
        "$out/corpus/$1" "fuzz/corpus/$1" -artifact_prefix="$out/failures/$1/" \
        -max_total_time="$seconds" -timeout=120 -rss_limit_mb=3000 -max_len=20000 -print_final_stats=1 \
        </dev/null >"$out/$1.log" 2>&1 || code=$?
    say "$1 ended with $code"
    echo "$code" >"$out/$1.code"
}

if [ "$#" -eq 0 ]; then
    for source in fuzz/fuzz_targets/*.rs; do
        set -- "$@" "$(basename "$source" .rs)"
    done
fi
say "$* for $seconds s each, $jobs at once"
running=0
for target in "$@"; do
    rm -f "$out/$target.code"
    run "$target" &
    running=$((running + 1))
    if [ "$running" -ge "$jobs" ]; then
        # POSIX `wait` cannot wait for the first of several processes, so the script waits for the
        # whole batch.
        wait
        running=0
    fi
done
wait
failed=0
for target in "$@"; do
    [ "$(cat "$out/$target.code")" = 0 ] || failed=1
done
exit "$failed"
