#!/bin/sh
# Makes the pictures in docs/pictures from real runs of the command: target/release/veneer, or the path in VENEER.
#
#   session.svg   the session of README.md
#   top.svg       `veneer top`: the methods of a running program
#   inside.svg    `veneer top`: the fragments of one method, with a counter on one of them
#
# The full-screen pictures are screens of a pseudo-terminal (tmux). Each picture is an SVG file without scripts and fonts.
set -eu
cd "$(dirname "$0")/.."
veneer=${VENEER:-$(pwd)/target/release/veneer}
export VENEER="$veneer"
pictures=docs/pictures
[ -x "$veneer" ] || { printf 'pictures: %s is missing; `make build` makes it\n' "$veneer" >&2; exit 1; }
command -v tmux >/dev/null || { printf 'pictures: tmux is missing; install it with your package manager\n' >&2; exit 1; }
transcript=$(sh build/tool.sh term-transcript)
work=$(mktemp -d)
terminal="tmux -L veneer-pictures-$$"
program=
trap '$terminal kill-server 2>/dev/null || true; kill $program 2>/dev/null || true; rm -rf "$work"' EXIT

# picture FILE COLUMNS: draws standard input, which has escape sequences for colours and nothing else. Not all viewers know the
# style `white-space: pre` that the drawing has; all of them know `xml:space`.
picture() {
    "$transcript" capture --pure-svg --no-inputs --no-wrap --palette gjm8 --width "$(($2 * 8 + 24))" '-' |
        sed 's/\r$//; 0,/<svg /s//<svg xml:space="preserve" /' > "$pictures/$1"
}

# The commands are bold, and the one that is longer than 100 columns is broken as in a shell.
sh tests/session.sh readme | sed "s/ --at line:64 --if/ \\\\\\n      --at line:64 --if/" > "$work/session"
sed '$d' "$work/session" | sed 's/^\(\$ .*\|      --at.*\)$/\x1b[1m\1\x1b[0m/' | picture session.svg 100

javac -g -d "$work" examples/shop/Shop.java
"$veneer" run -- java -Xmx64m -cp "$work" shop.Shop 60 > "$work/out" &
program=$!
while ! grep -q pid "$work/out" 2>/dev/null; do sleep 0.1; done
program=$(sed -n 's/^pid //p' "$work/out")
sleep 1

# screen NAME: the screen of the terminal without the process id, which is another one each time.
screen() {
    $terminal capture-pane -e -p | sed "s/\\b$program\\b/4711/" | picture "$1" 100
}
keys() { $terminal send-keys "$@"; sleep 0.5; }

$terminal -f /dev/null new-session -d -x 100 -y 16 "$veneer top $program 'shop..*'"
sleep 5
screen top.svg
$terminal resize-window -x 100 -y 26
# Filter for the method, enter it, select its second fragment, and attach a counter there.
keys /serve
keys Enter
keys Enter
sleep 1
keys j
keys c
sleep 3
screen inside.svg
keys q
