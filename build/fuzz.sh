#!/bin/sh
# Runs the fuzz targets for FUZZ_SECONDS each (600), FUZZ_JOBS of them at once (2): `sh build/fuzz.sh [TARGET…]`.
#
# What libFuzzer says goes to target/fuzz/TARGET.log, what it found to try to target/fuzz/corpus, inputs that fail to
# target/fuzz/failures; the corpora in fuzz/corpus are only read. The exit code is 1 where a target fails, 3 where
# something is missing that this script could not install.
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

# run TARGET: the program that cargo-fuzz built, started directly, so that several can run at once.
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

[ "$#" -gt 0 ] || set -- reader pipeline maps plans protocol patterns
say "$* for $seconds s each, $jobs at once"
running=0
for target in "$@"; do
    rm -f "$out/$target.code"
    run "$target" &
    running=$((running + 1))
    if [ "$running" -ge "$jobs" ]; then
        # POSIX has no `wait` for any one of several.
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
