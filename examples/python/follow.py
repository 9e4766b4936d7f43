#!/usr/bin/env python3
"""Attaches a plan to a JVM and prints a line for each count that changes and for each logged event.

    python3 examples/python/follow.py 4711 scripts/plans/hot.rhai --set methods='com.shop..*' --seconds 10
    python3 examples/python/follow.py 127.0.0.1:4712 plan.rhai --token-file t

The agent detaches the plan when this program ends, even if it is killed.

Exit codes: 0 success, 1 the plan was refused, 2 the JVM could not be reached.
"""

import argparse
import contextlib
import sys
import time

from veneer import Agent, Ended, Refused


def counts(point):
    """Returns the counts of a point as text."""
    if "hits" in point:
        return f"{point['hits']} hits"
    if "events" in point:
        return f"{point['events']} events"
    return f"{point['count']} calls, {point['total_ns'] / 1e6:.3f} ms"


def show(update, others):
    """Prints the counts and events of an update, except those of the instruments in `others`."""
    for instrument in update["instruments"]:
        if instrument["id"] in others:
            continue
        for point in instrument["points"]:
            fragment = f" f{point['fragment']}" if "fragment" in point else ""
            print(f"{instrument['name']}: {point['class']}.{point['method']}{fragment}: {counts(point)}")
    for event in update.get("events", []):
        if event["instrument"] in others:
            continue
        values = ", ".join(f"{name} = {value!r}" for name, value in event["values"].items())
        print(f"{event['time_ns'] / 1e6:.3f} ms, thread {event['thread']}: {values}")
    if update.get("events_lost"):
        print(f"{update['events_lost']} logged values were lost")
    sys.stdout.flush()


def connect(arguments):
    """Opens a connection by process id, or by address if there is a token file."""
    if arguments.token_file:
        host, _, port = arguments.jvm.rpartition(":")
        return Agent.at(host, int(port), arguments.token_file)
    return Agent.of(int(arguments.jvm))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jvm", help="a process id, or HOST:PORT with --token-file")
    parser.add_argument("plan", help="a plan (Rhai)")
    parser.add_argument("--token-file", help="the file with the token of the control port")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="the value of param(NAME) in the plan")
    parser.add_argument("--every", type=float, default=1.0, metavar="SECONDS", help="the period of the updates")
    parser.add_argument("--seconds", type=float, metavar="SECONDS", help="end after this time [default: at Ctrl-C or when the JVM ends]")
    arguments = parser.parse_args()
    settings = dict(setting.split("=", 1) for setting in arguments.set)
    with open(arguments.plan, encoding="utf-8") as file:
        source = file.read()
    try:
        # One connection runs and holds the plan; the other one receives the updates.
        with contextlib.closing(connect(arguments)) as holding, contextlib.closing(connect(arguments)) as watching:
            # Instruments that were attached before belong to other clients and are not printed.
            others = {instrument["id"] for instrument in watching.report()["instruments"]}
            value = holding.hold(arguments.plan, source, settings)
            if value:
                print(value)
            end = time.monotonic() + arguments.seconds if arguments.seconds else None
            for update in watching.updates(arguments.every):
                show(update, others)
                if end and time.monotonic() >= end:
                    break
    except Refused as error:
        print(f"follow.py: {error}", file=sys.stderr)
        return 1
    except Ended:
        return 0
    except (OSError, ValueError) as error:
        print(f"follow.py: {arguments.jvm} cannot be reached: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
