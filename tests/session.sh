#!/bin/sh
# Prints one of the terminal sessions that the documents show: a program that runs, questions to it, and no instrument left in it.
#
#   session.sh NAME      readme, tutorial, lock, variable, loop, callers, edit or plan
#
# The output of a session belongs between `<!-- session NAME -->` and `<!-- end of session -->` in a document. A test
# (tests/tests/readme.rs) runs each session that a document names, and compares everything but the numbers.
set -eu
cd "$(dirname "$0")/.."
veneer=${VENEER:-$(pwd)/target/release/veneer}
name=${1:-readme}
work=$(mktemp -d)
trap 'kill $program 2>/dev/null || true; rm -rf "$work"' EXIT

# Starts the shop. `$program` is its process id from then on.
program=
shop() {
    javac -g -d "$work" examples/shop/Shop.java
    "$veneer" run -- java -Xmx64m -cp "$work" shop.Shop 120 > "$work/out" &
    program=$!
    while ! grep -q pid "$work/out" 2>/dev/null; do
        kill -0 $program 2>/dev/null || { printf 'session.sh: %s run has ended\n' "$veneer" >&2; exit 1; }
        sleep 0.1
    done
    program=$(sed -n 's/^pid //p' "$work/out")
    # The session begins when the program is warm.
    sleep 1
}

# Prints a command as a person types it, runs it, and prints its output.
say() {
    printf '$ veneer'
    for word in "$@"; do
        case $word in
            *[!a-zA-Z0-9_:=,./-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$veneer" "$@"
    printf '\n'
}

readme() {
    printf '$ veneer run -- java -cp classes shop.Shop &\n\n'
    say ps --match shop.Shop
    say time $program 'shop..*' --at monitor_enters --for 2
    say watch $program 'shop.Desk::serve(..)' order.customer total discount --at line:64 --if 'order.number % 200 == 2' --for 2
    say count $program 'shop.Shop::audit()' --at loops --for 1
    say detach $program --unload
}

tutorial() {
    say ps --match shop.Shop
    say time $program 'shop..*' --for 2 --rows 2
    say time $program 'shop..*' --at monitor_enters --for 2
    say count $program 'shop.Desk::serve(..)' --by order.customer --by discount --at line:64 --for 1
    say count $program 'shop.Shop::audit()' --at blocks --for 1
    say time $program 'shop.Desk::hasTwice(..)' --for 1
    say exec $program -e 'methods("shop.Desk::hasTwice(..)").redirect(1, 2, 7)'
    say time $program 'shop.Desk::hasTwice(..)' --for 1
    say patches $program
    say detach $program p1
    say detach $program --unload
}

lock() {
    say time $program 'shop..*' --at monitor_enters --for 2
    say time $program 'shop.Prices::discount(..)' --for 2
    say count $program 'shop.Prices::discount(..)' --by 'stack()' --for 1
}

variable() {
    say list $program 'shop.Desk::serve(..)'
    say watch $program 'shop.Desk::serve(..)' order.number order.customer total discount --at line:64 --if 'order.number % 200 == 2' --for 2
    say count $program 'shop.Desk::serve(..)' --by order.customer --by discount --at line:64 --for 1
}

loop() {
    say count $program 'shop.Shop::audit()' --at loops --for 1
    say count $program 'shop.Shop::audit()' --at blocks --for 1
    say count $program 'shop.Shop::audit()' --at edges --for 1
}

callers() {
    say count $program 'shop.Prices::discount(..)' --by 'stack()' --for 1
}

edit() {
    say fragments "$work" 'shop.Desk::hasTwice' | sed "s|$work|classes|"
    # Refused, because f4 reads a variable that has no value at the end of f0.
    say exec $program -e 'methods("shop.Desk::hasTwice(..)").redirect(0, 1, 4)' || true
    say exec $program -e 'methods("shop.Desk::hasTwice(..)").redirect(1, 2, 7)'
    say patches $program
    say detach $program p1
}

plan() {
    javac -g -d "$work/classes" tests/java/route/*.java
    cat > "$work/first.rhai" <<'END'
let hits = methods("route.Finder::*(..)").blocks().before(counter());
let took = methods("route.Finder::find(..)").around(timer());
let ticker = every(0.5, || print(`${hits.hits()} blocks passed`));
after(1.2, || { ticker.cancel(); hits.detach(); print(hits.table(1)); });
at_exit(|| print(took.table()));
END
    cd "$work"
    printf '$ cat first.rhai\n'
    cat first.rhai
    printf '\n$ veneer run --plan first.rhai -- java -cp classes route.Main 1000 10 > out.txt\n'
    "$veneer" run --plan first.rhai -- java -cp classes route.Main 1000 10 > out.txt
    printf '\n$ java -cp classes route.Main 1000 10 | cmp - out.txt && echo same\n'
    java -cp classes route.Main 1000 10 | cmp - out.txt && echo same
}

case $name in
    readme | tutorial | lock | variable | loop | callers | edit) shop ;;
    plan) ;;
    *) printf 'session.sh: there is no session %s\n' "$name" >&2; exit 2 ;;
esac
# The process id is another one each time, and so is the width of its column.
"$name" 2>&1 | sed "s/\\b${program:-none}\\b/4711/g; s/^pid  *main/pid   main/"
