#!/bin/sh
# Prints the path of a tool that makes documents. A missing tool is first built by cargo, under target/tools.
#
#   tool.sh mdbook | term-transcript
#
# The versions of both tools are here and nowhere else. No tool is needed to build, test or run Veneer.
set -eu
cd "$(dirname "$0")/.."

case ${1:-} in
    mdbook) crate=mdbook version=0.5.4 options='--no-default-features --features search' ;;
    term-transcript) crate=term-transcript-cli version=0.5.0 options= ;;
    *) printf 'usage: tool.sh mdbook | term-transcript\n' >&2; exit 2 ;;
esac

tools=$(pwd)/target/tools
[ -z "${CARGO_TARGET_DIR:-}" ] || tools=$CARGO_TARGET_DIR/tools
# One directory for each version, so that a new version is built once and an old one is never used by mistake.
root=$tools/$crate-$version
if [ ! -x "$root/bin/$1" ]; then
    printf 'tool: building %s %s, once; this takes some minutes\n' "$crate" "$version" >&2
    # shellcheck disable=SC2086 # a list of words
    CARGO_TARGET_DIR=$tools/build cargo install --quiet --locked --root "$root" --version "$version" $options "$crate" >&2
    rm -rf "$tools/build"
fi
printf '%s\n' "$root/bin/$1"
