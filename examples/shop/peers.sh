#!/bin/sh
# Asks Arthas, BTrace, async-profiler and JDK Flight Recorder the ten questions of docs/howto/ten-questions.md, as far
# as they can answer, about a running service.
#
#   peers.sh H2.jar ARTHAS BTRACE LIBRARY [OUT]     prints the time of each command and the first lines of its answer;
#                                                   the whole answers go to the folder OUT
#
# ARTHAS is the folder with arthas-boot.jar and arthas-client.jar, BTRACE a folder with libs/btrace-agent.jar,
# libs/btrace-boot.jar and libs/btrace-client.jar, LIBRARY the path of libasyncProfiler.so. JAVA_HOME is the JDK,
# which BTrace needs. WARM is the time in seconds before the first question, FOR the length of a recording, LINES the
# number of lines that are printed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
jar=$1
arthas=$2
btrace=$3
library=$4
work=$(mktemp -d)
out=${5:-$work}
mkdir -p "$out"
bin=${JAVA_HOME:+$JAVA_HOME/bin/}
trap 'exec 3>&-; wait; rm -rf "$work"' EXIT

# Runs a command for a question, and prints its time and the first lines of its answer.
ask() {
    question=$1
    tool=$2
    shift 2
    began=$(date +%s.%N)
    "$@" > "$out/$question-$tool" 2>&1 || echo "ended with $?" >> "$out/$question-$tool"
    took=$(echo "$(date +%s.%N) - $began" | bc)
    printf '== %s, %s, %.1f s\n' "$question" "$tool" "$took"
    # Before each answer, the client of Arthas prints its banner and the command.
    sed '/^\[arthas@/,$!{/,---\./,/^time /d;}; /^\[arthas@/d' "$out/$question-$tool" | grep . |
        head -n "${LINES:-12}" | cut -c1-160
}

arthas_ask() {
    ask "$1" arthas timeout 60 "${bin}java" -jar "$arthas/arthas-client.jar" 127.0.0.1 3658 -c "$2"
}

# Runs a script of the folder btrace, which ends by itself.
btrace_ask() {
    ask "$1" btrace env BTRACE_HOME="$btrace" timeout 60 "${bin}java" \
        --add-opens=jdk.attach/sun.tools.attach=ALL-UNNAMED -cp "$btrace/libs/btrace-client.jar" \
        org.openjdk.btrace.client.Main "$pid" "$here/btrace/$2.java"
}

# Records an event of async-profiler, and prints the frames and stacks with the most samples.
profiled() {
    "${bin}jcmd" "$pid" JVMTI.agent_load "$library" "\"start,event=$1\"" > "$work/said"
    sleep "${FOR:-5}"
    "${bin}jcmd" "$pid" JVMTI.agent_load "$library" "\"stop,file=$work/profile,flat=5,traces=2\"" >> "$work/said"
    cat "$work/profile" 2> "$work/none" || cat "$work/said"
}

# Prints how often each class and method is the innermost frame of an event of the recording.
top_frames() {
    "${bin}jfr" print --events "$1" --stack-depth 1 "$work/r.jfr" | grep -A1 'stackTrace = \[' |
        grep -v 'stackTrace\|^--' | sed 's/^ *//; s/line:.*//' | sort | uniq -c | sort -rn
}

recorded() {
    "${bin}jfr" print --events "$1" "$work/r.jfr"
}

"${bin}javac" -g -d "$work" "$here"/*.java
mkfifo "$work/in"
"${bin}java" -Xmx128m -cp "$work:$jar" shop.Service jdbc:h2:mem:shop < "$work/in" > "$work/out" &
exec 3> "$work/in"
while ! grep -q '^pid ' "$work/out"; do sleep 0.1; done
pid=$(sed -n 's/^pid //p' "$work/out")
sleep "${WARM:-10}"

ask attach arthas timeout 60 "${bin}java" -jar "$arthas/arthas-boot.jar" --attach-only "$pid"
arthas_ask 1 'trace shop.Service request -n 1'
arthas_ask 2 'watch shop.Desk serve {params[0].customer,#cost} #cost>5 -n 3'
arthas_ask 3 'watch java.sql.Connection prepareStatement params[0] -n 1'
arthas_ask 4 'thread -b'
arthas_ask 5 'stack shop.Prices discount -n 1'
arthas_ask 9 'options unsafe true'
arthas_ask 9 'watch java.lang.NumberFormatException <init> params[0] -n 1'
arthas_ask 10 'stop'

btrace_ask 1 Slow
btrace_ask 2 Customer
btrace_ask 3 Sql
btrace_ask 4 Lock
btrace_ask 5 Callers
btrace_ask 8 Allocations
btrace_ask 9 Caught

ask 1 async-profiler profiled cpu
ask 4 async-profiler profiled lock
ask 5 async-profiler profiled shop.Prices.discount
ask 8 async-profiler profiled alloc
ask 9 async-profiler profiled 'java.lang.Throwable.<init>'

"${bin}jcmd" "$pid" JFR.start name=r settings=profile > "$work/said"
sleep "$((3 * ${FOR:-5}))"
ask 10 jfr "${bin}jcmd" "$pid" JFR.stop name=r filename="$work/r.jfr"
ask 1 jfr top_frames jdk.ExecutionSample
ask 4 jfr recorded jdk.JavaMonitorEnter
ask 8 jfr top_frames jdk.ObjectAllocationSample
ask 9 jfr recorded jdk.JavaExceptionThrow
