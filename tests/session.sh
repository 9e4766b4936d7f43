#!/bin/sh
# Prints the terminal session that README.md shows: a running program, a few commands on it, and the
# removal of everything that they attached. The output is copied between the two marks in README.md.
# A test runs this script and compares everything except the numbers.
set -eu
cd "$(dirname "$0")/.."
veneer=${VENEER:-target/release/veneer}
work=$(mktemp -d)
program=
trap 'kill $program 2>/dev/null || true; rm -rf "$work"' EXIT

javac -g -d "$work" tests/java/control/Desk.java
mkfifo "$work/orders"
"$veneer" run -- java -Xmx64m -cp "$work" Desk < "$work/orders" > "$work/out" &
# Sends a thousand orders, repeatedly.
(while [ -e "$work/orders" ] && echo 'run 1000' && sleep 0.01; do :; done) > "$work/orders" 2> "$work/end" &
while ! grep -q sum "$work/out"; do sleep 0.1; done
program=$(sed -n 's/^pid //p' "$work/out")

# Prints a command and its output. The process id differs each time, so sed replaces it below.
say() {
    printf '$ veneer'
    for word in "$@"; do
        case $word in
            *[!a-zA-Z0-9:=,./-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$veneer" "$@"
    printf '\n'
}
{
    printf '$ veneer run -- java -cp classes Desk &\n\n'
    say ps --match Desk
    say count $program 'Desk::serve(..)' --by order.customer --if 'order.number % 2 == 0' --for 2
    say watch $program 'Desk::serve(..)' order.number order.customer 'thread_name()' --if 'order.number == 998 && one_in(40)' --for 2
    say count $program 'Desk::round()' --at loops --for 1
    say exec $program -e 'let h = methods("Desk::serve(..)").around(timer()); h'
    say patches $program
    say detach $program --unload
    say ps --match Desk
} 2>&1 | sed "s/\\b$program\\b/4711/g"
