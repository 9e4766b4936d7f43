#!/bin/sh
# Checks the tools that building and testing Veneer requires: a C compiler for linking, a Rust
# toolchain and a JDK. As root on Debian and derived systems, the script installs missing tools.
# Otherwise it prints one command line that installs them, and fails. If nothing is missing, it
# finishes at once.
set -eu

# The crates themselves require Rust 1.89 only. The class file parser with which the tests compare
# results requires this version.
RUST_OLDEST=1.95
JDK_OLDEST=17
RUSTUP_LINE="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile default"

# rustup installs its programs here. A shell that was started before the installation lacks this
# directory in its PATH.
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
export PATH

say() { printf 'setup: %s\n' "$*" >&2; }

has() { command -v "$1" >/dev/null 2>&1; }

# at_least VERSION OLDEST: succeeds if VERSION is OLDEST or newer. Both are dotted numbers.
at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# rust_version PROGRAM: prints the version of a Rust program, or nothing if it does not run.
rust_version() {
    has "$1" || return 0
    { "$1" --version </dev/null 2>/dev/null || true; } | sed -n 's/^[^ ]* \([0-9][0-9.]*\).*/\1/p'
}

rust_is_there() {
    version=$(rust_version cargo)
    [ -n "$version" ] && at_least "$version" "$RUST_OLDEST" || return 1
    cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1
}

# Searches the JDK in JAVA_HOME, or else by the javac on the PATH. The test programs require javac,
# and the listing of JDK modules requires jimage.
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

# packaged PACKAGE: succeeds if apt-get could install a version of this package.
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

# one_line PACKAGES NEED_RUST: prints a command line that installs the packages and, if NEED_RUST is
# `yes`, Rust.
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

# The package lists are updated only now, because updating takes long.
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
    # shellcheck disable=SC2086 # $packages is a list of words
    install_packages $packages
fi
if [ "$need_rust" = yes ]; then
    if has rustup; then
        say "installing the stable Rust toolchain"
        rustup toolchain install stable --profile default </dev/null >&2
        rustup default stable </dev/null >&2
    else
        # Debian 12 and older have no rustup package, and their Rust is too old.
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
