#!/bin/sh
# Builds the book from docs/ into target/book, and checks the examples, links and anchors of all documents.
set -eu
cd "$(dirname "$0")/.."

mdbook=$(sh build/tool.sh mdbook)
"$mdbook" build docs
cargo test --quiet --locked -p veneer-scripts --test documentation
printf 'docs: %s\n' "$(pwd)/target/book/index.html" >&2
