#!/bin/sh
# Asks the ten questions of docs/howto/ten-questions.md about a running service, and measures the service meanwhile.
#
#   measure.sh H2.jar [OUT]      prints a table in Markdown; the outputs of the commands go to the folder OUT
#
# VENEER is the command (default: veneer), JAVA_HOME the JDK. WARM is the time in seconds before the first question, and
# QUIET that of the undisturbed interval before each question.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
jar=$1
work=$(mktemp -d)
out=${2:-$work}
mkdir -p "$out"
veneer=${VENEER:-veneer}
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
trap 'exec 3>&-; wait; rm -rf "$work"' EXIT

# Waits for the line of the service that begins with these words, and prints the rest.
line() {
    while ! grep -q "^$1 " "$work/out"; do sleep 0.1; done
    sed -n "s/^$1 //p" "$work/out"
}

# Ends an interval with this name, and prints its requests, requests per second, median and 99th percentile.
interval() {
    echo "$1" >&3
    line "interval $1" | sed 's/[a-z0-9_]*=//g'
}

"$java"c -g -d "$work" "$here"/*.java
mkfifo "$work/in"
"$java" -Xmx128m -cp "$work:$jar" shop.Service jdbc:h2:mem:shop < "$work/in" > "$work/out" &
exec 3> "$work/in"
pid=$(line pid)
sleep "${WARM:-10}"
interval warm > /dev/null

echo '| question | time of the command, s | requests, undisturbed | per second | 99 %, ms | requests, during | per second | 99 %, ms |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
n=0
sed -n 's/^\$ //p' "$here/../../docs/howto/ten-questions.md" | while read -r asked; do
    n=$((n + 1))
    sleep "${QUIET:-5}"
    before=$(interval "before-$n")
    began=$(date +%s.%N)
    code=0
    # The process id in the page is 4711.
    echo "${asked#veneer }" | sed "s/4711/$pid/" | xargs "$veneer" > "$out/$n" 2>&1 || code=$?
    took=$(echo "$(date +%s.%N) - $began" | bc)
    during=$(interval "during-$n")
    [ $code = 0 ] || echo "measure.sh: question $n ended with $code: $asked" >&2
    echo "$n $took $before $during" |
        awk '{ printf "| %d | %.1f | %d | %.1f | %.0f | %d | %.1f | %.0f |\n", $1, $2, $3, $4, $6 / 1000, $7, $8, $10 / 1000 }'
done
