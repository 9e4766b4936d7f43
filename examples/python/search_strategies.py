#!/usr/bin/env python3
"""How long each strategy of the bottleneck search needs until it has found the bottlenecks of a program.

Reads the results of replays of one or more records, one file for each strategy and record:

    veneer search 4711 --record 1.search
    veneer search --replay 1.search --strategy top-down --json > top-down-1.json
    veneer search --replay 1.search --strategy hybrid --json > hybrid-1.json
    python3 search_strategies.py *.json --svg strategies.svg

The bottlenecks of a record are the methods that any strategy has found in it. The picture has the record with
the number 1.
"""

import argparse
import html
import json
import pathlib
import statistics
import sys

COLOURS = ["#2f6fb3", "#c8553d", "#3a8f5c", "#8a5fb0"]


def found(result):
    """The seconds until each method was found, by class and method."""
    times = {}
    for finding in result["findings"]:
        steps = {step["kind"]: step["name"] for step in finding["path"] if step["axis"] == "where"}
        method = f"{steps.get('class', '')}::{steps.get('method', '')}"
        times[method] = min(times.get(method, finding["found"]), finding["found"])
    return times


def read(paths):
    """The seconds by record, strategy and method. The file name is STRATEGY-RECORD.json."""
    records = {}
    for path in paths:
        strategy, _, record = pathlib.Path(path).stem.rpartition("-")
        with open(path, encoding="utf-8") as file:
            records.setdefault(record, {})[strategy] = found(json.load(file))
    return records


def seconds_until(times, count):
    """The seconds until this number of methods was found."""
    return sorted(times.values())[count - 1] if 0 < count <= len(times) else None


def shown(values):
    """The median, or a dash if any record has no value."""
    return f"{statistics.median(values):.1f}" if values and None not in values else "-"


def table(records, out):
    out.write(f"{'strategy':12} {'found':>9} {'first, s':>9} {'half, s':>9} {'all, s':>9}  not found\n")
    for strategy in sorted({name for results in records.values() for name in results}):
        counts, first, half, every, missed = [], [], [], [], set()
        for results in records.values():
            bottlenecks = {method for times in results.values() for method in times}
            times = results.get(strategy, {})
            counts.append((len(times), len(bottlenecks)))
            missed |= bottlenecks - set(times)
            first.append(seconds_until(times, 1))
            half.append(seconds_until(times, (len(bottlenecks) + 1) // 2))
            every.append(seconds_until(times, len(bottlenecks)))
        number = f"{sum(n for n, _ in counts)} of {sum(of for _, of in counts)}"
        names = ", ".join(sorted(missed))
        out.write(f"{strategy:12} {number:>9} {shown(first):>9} {shown(half):>9} {shown(every):>9}  {names}\n")


def picture(results, out):
    """The number of methods found over time: a line of steps for each strategy."""
    width, height, left, bottom = 720, 300, 50, 40
    last = max((time for times in results.values() for time in times.values()), default=1.0) * 1.05
    most = max((len(times) for times in results.values()), default=1)
    across = lambda time: left + time / last * (width - left - 130)
    up = lambda count: height - bottom - count / most * (height - bottom - 20)
    out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">\n')
    out.write(f'<rect width="{width}" height="{height}" fill="#fff"/>\n')
    for count in range(most + 1):
        out.write(f'<path d="M{left} {up(count):.1f}H{width - 130}" stroke="#ddd"/>\n')
        out.write(f'<text x="{left - 8}" y="{up(count) + 4:.1f}" text-anchor="end">{count}</text>\n')
    for second in range(int(last) + 1):
        out.write(f'<text x="{across(second):.1f}" y="{height - bottom + 16}" text-anchor="middle">{second}</text>\n')
    out.write(f'<text x="{left}" y="{height - 6}">seconds until a method is found; number of methods found</text>\n')
    for number, (strategy, times) in enumerate(sorted(results.items())):
        colour = COLOURS[number % len(COLOURS)]
        path = f"M{across(0):.1f} {up(0):.1f}"
        for count, time in enumerate(sorted(times.values()), 1):
            path += f"H{across(time):.1f}V{up(count):.1f}"
        path += f"H{width - 130}"
        # Lines that run over each other stay visible.
        shift = (number - 1) * 2
        out.write(f'<path d="{path}" transform="translate(0 {shift})" fill="none" stroke="{colour}" stroke-width="2"/>\n')
        out.write(f'<text x="{width - 120}" y="{30 + 18 * number}" fill="{colour}">{html.escape(strategy)}</text>\n')
    out.write("</svg>\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", nargs="+", help="STRATEGY-RECORD.json")
    arguments.add_argument("--svg", metavar="FILE", help="also draw the record with the number 1")
    arguments = arguments.parse_args()
    records = read(arguments.results)
    table(records, sys.stdout)
    if arguments.svg and "1" in records:
        with open(arguments.svg, "w", encoding="utf-8") as out:
            picture(records["1"], out)


if __name__ == "__main__":
    main()
