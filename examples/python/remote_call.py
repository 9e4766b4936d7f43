#!/usr/bin/env python3
"""How long each step of a remote call takes, by thread, and how long requests wait in the queue.

Reads the calls of `examples/remote/RemoteCall.java` from a trace:

    veneer run --arm 'sun.net.httpserver..*' --arm 'remote..*' --trace t -- java -cp classes remote.RemoteCall 200
    veneer trace query t 'calls().show("thread_name", "method", "start", "end", "cpu")' --format csv -o calls.csv
    python3 remote_call.py calls.csv --svg requests.svg

The dispatcher puts each request into the queue of the servant, which takes them in order. So the n-th call that puts a
request there belongs to the n-th call that answers one.
"""

import argparse
import csv
import html
import statistics
import sys

SERVER = "sun.net.httpserver.ServerImpl$"
PUT = SERVER + "Dispatcher::handle"
ANSWER = SERVER + "Exchange::run"
# The steps of a request by what the reader of the table wants to know.
STEPS = [
    ("the request is put into the queue", PUT),
    ("the servant answers it", ANSWER),
    ("  reads the request", "sun.net.httpserver.Request::<init>"),
    ("  pingWithWait", "remote.RemoteCall::pingWithWait"),
    ("    writes the head of the reply", "sun.net.httpserver.HttpExchangeImpl::sendResponseHeaders"),
    ("    writes the reply and ends", "sun.net.httpserver.HttpExchangeImpl::close"),
]


def read(lines):
    """The calls by method, in order: thread, start, end and processor time in nanoseconds."""
    calls = {}
    for row in csv.DictReader(lines):
        if row["end"]:
            times = int(row["start"]), int(row["end"]), int(row["cpu"] or 0)
            calls.setdefault(row["method"], []).append((row["thread_name"], *times))
    for some in calls.values():
        some.sort(key=lambda call: call[1])
    return calls


def requests(calls):
    """For each request: when it was put into the queue, when the servant began, and when it ended."""
    pairs = zip(calls.get(PUT, []), calls.get(ANSWER, []))
    return [(put[2], answer[1], answer[2]) for put, answer in pairs]


def micros(nanos):
    return f"{nanos / 1000:,.0f}"


def table(calls, out):
    out.write(f"{'step':36} {'thread':16} {'calls':>6} {'mean us':>9} {'p50 us':>9} {'cpu us':>8}\n")
    for name, method in STEPS:
        some = calls.get(method, [])
        if not some:
            continue
        walls = [end - start for _, start, end, _ in some]
        cpu = statistics.mean(call[3] for call in some)
        wall, middle = micros(statistics.mean(walls)), micros(statistics.median(walls))
        out.write(f"{name:36} {some[0][0]:16} {len(some):>6} {wall:>9} {middle:>9} {micros(cpu):>8}\n")
    waits = [begin - put for put, begin, _ in requests(calls)]
    if waits:
        mean, middle = micros(statistics.mean(waits)), micros(statistics.median(waits))
        out.write(f"{'waits in the queue':36} {'':16} {len(waits):>6} {mean:>9} {middle:>9}\n")


def picture(calls, out, count):
    """A row for each request: grey while it waits in the queue, blue while the servant answers it."""
    shown = requests(calls)[:count]
    if not shown:
        return
    first, last = shown[0][0], max(end for _, _, end in shown)
    width, row = 900, 14
    across = lambda time: 40 + (time - first) * (width - 60) / (last - first)
    height = 40 + row * len(shown)
    out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="10">\n')
    out.write(f'<rect width="{width}" height="{height}" fill="#fff"/>\n')
    title = f"{len(shown)} requests in {(last - first) / 1e6:.0f} ms: waiting (grey), answered (blue)"
    out.write(f'<text x="8" y="16" font-size="12">{html.escape(title)}</text>\n')
    for number, (put, begin, end) in enumerate(shown):
        top = 26 + number * row
        out.write(f'<text x="8" y="{top + 9}">{number + 1}</text>\n')
        for start, stop, colour in [(put, begin, "#bbb"), (begin, end, "#2f6fb3")]:
            left, size = across(start), max(across(stop) - across(start), 0.5)
            out.write(f'<rect x="{left:.1f}" y="{top}" width="{size:.1f}" height="{row - 3}" fill="{colour}"/>\n')
    out.write("</svg>\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("calls", help="the calls, as CSV")
    arguments.add_argument("--svg", metavar="FILE", help="also draw the first requests")
    arguments.add_argument("--count", type=int, default=40, help="the number of drawn requests")
    arguments = arguments.parse_args()
    with open(arguments.calls, encoding="utf-8", newline="") as lines:
        calls = read(lines)
    table(calls, sys.stdout)
    if arguments.svg:
        with open(arguments.svg, "w", encoding="utf-8") as out:
            picture(calls, out, arguments.count)


if __name__ == "__main__":
    main()
