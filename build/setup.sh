#!/bin/sh
# Makes sure that everything needed to build and test Veneer is there: a C compiler for linking, a
# Rust toolchain and a JDK. As root on Debian and its kin it installs what is missing; otherwise it
# prints the one line to type, and fails. Where nothing is missing it does nothing, and is quick.
set -eu

# The crates need 1.89; the oracle that the tests of class files use needs this.
RUST_OLDEST=1.95
JDK_OLDEST=17
RUSTUP_LINE="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile default"

# rustup puts its programs here; a shell that was open before does not know yet.
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
export PATH

say() { printf 'setup: %s\n' "$*" >&2; }

has() { command -v "$1" >/dev/null 2>&1; }

# at_least VERSION OLDEST: compares dotted numbers.
at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# Prints the version of a Rust program, or nothing where there is none that runs.
rust_version() {
    has "$1" || return 0
    { "$1" --version </dev/null 2>/dev/null || true; } | sed -n 's/^[^ ]* \([0-9][0-9.]*\).*/\1/p'
}

rust_is_there() {
    version=$(rust_version cargo)
    [ -n "$version" ] && at_least "$version" "$RUST_OLDEST" || return 1
    cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1
}

# Debian's JDK tools lie on the PATH; elsewhere JAVA_HOME tells. The test programs need javac, the
# listing of JDK modules needs jimage.
jdk_is_there() {
    if [ -n "${JAVA_HOME:-}" ]; then
        bin=$JAVA_HOME/bin
    elif has javac; then
        bin=$(dirname "$(readlink -f "$(command -v javac)")")
    else
        return 1
    fi
    [ -x "$bin/java" ] && [ -x "$bin/jimage" ] && [ -x "$bin/javac" ] || return 1
    version=$("$bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    [ -n "$version" ] && [ "$version" -ge "$JDK_OLDEST" ]
}

compiler_is_there() { has cc && has make; }

# Does the package archive know this package? (Asks for the version that would be installed.)
packaged() {
    apt-cache policy "$1" 2>/dev/null | grep 'Candidate:' | grep -qv '(none)'
}

jdk_package() {
    if packaged openjdk-17-jdk-headless; then
        echo openjdk-17-jdk-headless
    else
        echo default-jdk-headless
    fi
}

install_packages() {
    say "installing $*"
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" </dev/null >&2
}

# The line for people without root: packages first, then Rust, in one go.
one_line() {
    line=
    if [ -n "$1" ]; then
        line="sudo apt-get update && sudo apt-get install -y $1"
    fi
    if [ "$2" = yes ]; then
        line="${line:+$line && }$RUSTUP_LINE"
    fi
    echo "$line"
}

packages=
compiler_is_there || packages="$packages build-essential"
need_rust=no
rust_is_there || need_rust=yes
need_jdk=no
jdk_is_there || need_jdk=yes
if [ "$need_rust" = yes ]; then
    has curl || packages="$packages curl ca-certificates"
fi

if [ -z "$packages" ] && [ "$need_rust" = no ] && [ "$need_jdk" = no ]; then
    exit 0
fi

if [ "$(id -u)" -ne 0 ] || ! has apt-get; then
    if [ "$need_jdk" = yes ]; then
        packages="$packages $(jdk_package)"
    fi
    say "something is missing (C compiler, Rust $RUST_OLDEST, or JDK $JDK_OLDEST); type this line and try again:"
    one_line "$(echo $packages)" "$need_rust"
    if ! has apt-get; then
        say "(without apt-get: install these packages as your system does)"
    fi
    exit 1
fi

# Only here are the archive's lists asked for, since that takes a while.
say "updating the package lists"
apt-get update </dev/null >&2
if [ "$need_jdk" = yes ]; then
    packages="$packages $(jdk_package)"
fi
rustup_packaged=no
if [ "$need_rust" = yes ] && ! has rustup && packaged rustup; then
    rustup_packaged=yes
    packages="$packages rustup"
fi
if [ -n "$packages" ]; then
    # shellcheck disable=SC2086 # a list of words
    install_packages $packages
fi
if [ "$need_rust" = yes ]; then
    if has rustup; then
        say "installing the stable Rust toolchain"
        rustup toolchain install stable --profile default </dev/null >&2
        rustup default stable </dev/null >&2
    else
        # Debian 12 and before have no rustup, and a Rust that is too old.
        say "installing Rust as its makers advise: $RUSTUP_LINE"
        curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile default >&2
    fi
fi

missing=
compiler_is_there || missing="$missing a C compiler and make;"
rust_is_there || missing="$missing Rust $RUST_OLDEST with rustfmt and clippy;"
jdk_is_there || missing="$missing a JDK $JDK_OLDEST or newer with javac and jimage (JAVA_HOME is ${JAVA_HOME:-not set});"
if [ -n "$missing" ]; then
    say "still missing:$missing see the messages above"
    exit 1
fi
say "done"
