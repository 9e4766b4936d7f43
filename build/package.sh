#!/bin/sh
# Builds the release packages: an archive for every Linux with a sufficiently new C library, and a
# package for Debian and derived systems.
#
#   package.sh [TARGET_DIR [OUT_DIR]]
#
# Input, the output of `make build`:
#
#   TARGET_DIR/release/{veneer,libveneer_agent.so}
#
# Output:
#
#   OUT_DIR/veneer-VERSION-ARCH-linux.tar.gz   bin, lib/veneer and
#                                              share/{man,doc,bash-completion,zsh,fish};
#                                              can be unpacked in any directory
#   OUT_DIR/veneer_VERSION_ARCH.deb            the same files below /usr
#   OUT_DIR/veneer-VERSION-ARCH-linux-debug.tar.gz, OUT_DIR/veneer-dbgsym_VERSION_ARCH.deb
#                                              function names and line numbers for debuggers
#
# DEBFULLNAME and DEBEMAIL are the name and the address of the maintainer in the Debian package.
#
# Builds are reproducible: files are sorted, belong to root and have the time of the last commit.
set -eu
cd "$(dirname "$0")/.."

built=${1:-${CARGO_TARGET_DIR:-target}}
out=${2:-$built/package}
# The compression level, from 1 (fast) to 9 (small).
level=${PACKAGE_LEVEL:-9}

say() { printf 'package: %s\n' "$*" >&2; }

for file in veneer libveneer_agent.so; do
    [ -f "$built/release/$file" ] || { say "$built/release/$file is missing; \`make build\` makes it"; exit 1; }
done

version=$("$built/release/veneer" --version | cut -d ' ' -f 2)
machine=$(uname -m)
mkdir -p "$out"
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The directory tree of both packages.
name=veneer-$version-$machine-linux
tree=$work/$name
install -D -m 755 "$built/release/veneer" "$tree/bin/veneer"
install -D -m 644 "$built/release/libveneer_agent.so" "$tree/lib/veneer/libveneer_agent.so"
# The debug archive has the same directories, so that it can be unpacked over the other archive. Each
# program has a link to its debug file, which debuggers and `perf` follow.
debug_name=$name-debug
debug=$work/debug/$name
split_debug() {
    install -d "$debug/$(dirname "$1")"
    objcopy --only-keep-debug "$tree/$1" "$debug/$1.debug"
    strip --strip-unneeded "$tree/$1"
    objcopy --add-gnu-debuglink="$debug/$1.debug" "$tree/$1"
}
split_debug bin/veneer
split_debug lib/veneer/libveneer_agent.so
veneer=$tree/bin/veneer
"$veneer" man "$tree/share/man/man1"
gzip -9n "$tree/share/man/man1/"*.1
completions() {
    mkdir -p "$tree/share/$(dirname "$2")"
    "$veneer" completions "$1" > "$tree/share/$2"
}
completions bash bash-completion/completions/veneer
completions zsh zsh/vendor-completions/_veneer
completions fish fish/vendor_completions.d/veneer.fish
doc=$tree/share/doc/veneer
mkdir -p "$doc/plans"
# The same tree as in the repository, so that links between the documents work.
install -m 644 README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md SECURITY.md CODE_OF_CONDUCT.md LICENSE \
    "$doc"
find docs -name '*.md' -o -name '*.svg' -o -name '*.schema.json' | while read -r page; do
    install -D -m 644 "$page" "$doc/$page"
done
# The tutorial and the how-to guides compile and start the examples.
find examples/shop -type f | while read -r file; do
    install -D -m 644 "$file" "$doc/$file"
done
chmod 755 "$doc/examples/shop/measure.sh" "$doc/examples/shop/peers.sh"
install -m 644 scripts/plans/*.rhai "$doc/plans"
install -m 644 -D -t "$doc/plans/lib" scripts/plans/lib/*.rhai
install -m 644 LICENSE "$doc/copyright"

time=$(git log -1 --format=%ct 2>/dev/null || date +%s)
find "$work" -exec touch -h -d "@$time" {} +

archive() {
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -C "$1" -cf - "$name" |
        gzip "-${level}n" > "$out/$2.tar.gz"
    say "$out/$2.tar.gz"
}
archive "$work" "$name"
archive "$work/debug" "$debug_name"

if ! command -v dpkg-deb >/dev/null 2>&1; then
    say "no .deb: there is no dpkg-deb here"
    exit 0
fi

# The newest version of the C library that a used symbol requires.
libc=$(objdump -T "$tree/bin/veneer" "$tree/lib/veneer/libveneer_agent.so" |
    sed -n 's/.*(\{0,1\}GLIBC_\([0-9.]*\)).*/\1/p' | sort -V | tail -n 1)
architecture=$(dpkg --print-architecture)
debian=$work/debian
# The variables that Debian's own tools use. There is no public address of the project; `.invalid` is
# a domain to which nobody can send a message.
maintainer="${DEBFULLNAME:-The Veneer developers} <${DEBEMAIL:-veneer@veneer.invalid}>"
mkdir -p "$debian/DEBIAN"
# The documents stay uncompressed, because they link to each other.
cp -a "$tree" "$debian/usr"
size=$(du -sk "$debian/usr" | cut -f 1)
cat > "$debian/DEBIAN/control" <<END
Package: veneer
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $size
Depends: libc6 (>= $libc), libgcc-s1
Recommends: default-jre-headless (>= 2:1.17) | java17-runtime-headless
Section: java
Priority: optional
Description: instruments for single fragments of running Java methods
 Veneer puts counters, timers, value logs and code of plans into basic blocks,
 loops and edges of methods in a running JVM (HotSpot 17 or newer), takes them
 out again, and edits control-flow graphs, without a restart.
END
build_deb() {
    chmod 755 "$1" "$1/DEBIAN"
    find "$1" -exec touch -h -d "@$time" {} +
    SOURCE_DATE_EPOCH=$time dpkg-deb --root-owner-group "-z$level" --build "$1" "$2" >&2
    say "$2"
}
build_deb "$debian" "$out/veneer_${version}_$architecture.deb"

# Debuggers look for the file of a link below /usr/lib/debug too.
symbols=$work/symbols
mkdir -p "$symbols/DEBIAN" "$symbols/usr/lib/debug"
cp -a "$debug" "$symbols/usr/lib/debug/usr"
cat > "$symbols/DEBIAN/control" <<END
Package: veneer-dbgsym
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk "$symbols/usr" | cut -f 1)
Depends: veneer (= $version)
Section: debug
Priority: optional
Description: function names and line numbers of veneer for debuggers
END
build_deb "$symbols" "$out/veneer-dbgsym_${version}_$architecture.deb"
