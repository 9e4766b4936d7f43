#!/usr/bin/env python3
"""Reads a trace of Veneer (docs/traces.md) without any other package.

    python3 veneer_trace.py DIRECTORY      prints one line per node, in the order of their ends

The fields are: thread, number, parent or -, depth, kind, id, start and end in ticks, self ticks, processor
time in nanoseconds or -, the duration and the self time without the cost of observing, the unexplained time,
all three in nanoseconds, and the ending.
"""

import os
import re
import struct
import sys
import zlib

HEADER = struct.Struct("<8sHHIQQQI12sI4s")
VERSION = 1
MAX_DECLARED_DEPTH = 1 << 16
MAX_NUMBER = (1 << 64) - 1


def unescape(field):
    known = {"t": "\t", "n": "\n", "r": "\r"}
    return re.sub(r"\\(.)", lambda m: known.get(m.group(1), m.group(1)), field)


def read_names(directory):
    """The records of the names file, as lists of fields."""
    with open(os.path.join(directory, "names"), "rb") as file:
        lines = file.read().split(b"\n")
    records = []
    for line in lines:
        if len(line) > 9 and line[8:9] == b" ":
            try:
                matches = int(line[:8], 16) == zlib.crc32(line[9:])
                text = line[9:].decode()
            except ValueError:
                continue
            if matches:
                records.append([unescape(field) for field in text.split("\t")])
    if not records or records[0][0] != "trace" or int(records[0][1]) > VERSION:
        raise ValueError(f"{directory} is not a trace of version {VERSION}")
    return records


def clock_rate(records):
    """Numerator and denominator of the last clock record."""
    clocks = [record for record in records if record[0] == "clock"]
    return (int(clocks[-1][3]), int(clocks[-1][4])) if clocks else (1, 1)


class Costs:
    """The costs of observing in picoseconds: inside a call, outside it, and their uncertainty."""

    def __init__(self, records):
        self.probes = {int(record[1]): tuple(map(int, record[3:6])) for record in records if record[0] == "probe"}
        self.frames = {int(record[1]): int(record[7]) for record in records if record[0] == "frame"}

    def of_probe(self, probe):
        return self.probes.get(probe, (0, 0, 0))

    def of_node(self, kind, frame):
        return self.of_probe(self.frames.get(frame, 0)) if kind == 0x01 else (0, 0, 0)


def whole_numbers(arguments):
    """The whole numbers among the arguments; negative ones become 0."""
    high, numbers = None, []
    for kind, value in arguments:
        if kind == 0x81:
            number, sign = (value, 55) if high is None else (high | value, 63)
            numbers.append(0 if number >> sign else number)
        high = value << 56 & MAX_NUMBER if kind == 0x82 else None
    return numbers


def segments(data, thread):
    """The valid segments in order: (sequence, start, depth, words)."""
    found, offset, size = {}, 0, 1 << 20
    while offset < len(data):
        head = data[offset:offset + HEADER.size]
        if len(head) == HEADER.size and any(head):
            magic, major, _, bytes_, owner, sequence, start, depth, _, crc, _ = HEADER.unpack(head)
            is_valid = magic == b"veneer t" and crc == zlib.crc32(head[:56]) and major <= VERSION
            if is_valid and owner == thread:
                size = bytes_
                body = data[offset + HEADER.size:offset + size]
                words = struct.unpack(f"<{len(body) // 8}Q", body[:len(body) // 8 * 8])
                found[sequence] = (sequence, start, depth, words)
        offset += size
    return [found[sequence] for sequence in sorted(found)]


class OpenNode:
    """A node that has not ended."""

    def __init__(self, number, kind, id_, start, cpu):
        self.number, self.kind, self.id, self.start, self.cpu = number, kind, id_, start, cpu
        # The ticks of the children.
        self.inside = 0
        # Costs in picoseconds: of omitted calls, of the nodes below, around the children; the uncertainty.
        self.omitted, self.below, self.outside, self.spread = 0, 0, 0, 0


class Tree:
    """Builds the nodes of one thread."""

    def __init__(self, rate, costs):
        self.rate, self.costs = rate, costs
        self.open, self.number, self.now, self.reading = [], 0, 0, None
        self.nodes = []

    def nanoseconds(self, ticks):
        return min(ticks * self.rate[0] // self.rate[1], MAX_NUMBER)

    def cpu(self):
        if self.reading is None:
            return None
        since = max(self.now - self.reading[0], 0)
        return self.reading[1] + self.nanoseconds(since)

    def begin(self, kind, id_):
        self.open.append(OpenNode(self.number, kind, id_, self.now, self.cpu() if kind else None))
        self.number += 1

    def end(self, ending):
        if not self.open:
            return
        node = self.open.pop()
        ticks = max(self.now - node.start, 0)
        now = self.cpu()
        cpu = None if node.cpu is None or now is None else max(now - node.cpu, 0)
        inside, outside, spread = self.costs.of_node(node.kind, node.id)
        own = inside + node.omitted
        cost, self_cost, spread = own + node.below, own + node.outside, spread + node.spread
        if self.open:
            parent = self.open[-1]
            parent.inside += ticks
            parent.below += cost + outside
            parent.outside += outside
            parent.spread += spread
        self_ticks = max(ticks - node.inside, 0)
        times = (
            self.corrected(ticks, cost),
            self.corrected(self_ticks, self_cost),
            spread // 1000 + max(cost // 1000 - self.nanoseconds(ticks), 0),
        )
        self.add(node.number, node.kind, node.id, node.start, self_ticks, cpu, times, ending)

    def corrected(self, ticks, cost):
        return max(self.nanoseconds(ticks) - cost // 1000, 0)

    def add(self, number, kind, id_, start, self_ticks, cpu, times, ending):
        parent = self.open[-1].number if self.open else None
        place = (number, parent, len(self.open), kind, id_)
        self.nodes.append(place + (start, self.now, self_ticks, cpu) + times + (ending,))

    def omit(self, probe, arguments):
        if self.open:
            count = (whole_numbers(arguments) + [0])[0]
            inside, outside, _ = self.costs.of_probe(probe)
            self.open[-1].omitted += count * (inside + outside)

    def lose_down_to(self, depth):
        while len(self.open) > depth:
            self.end("lost")

    def open_unknown(self, depth):
        while len(self.open) < depth:
            self.begin(0, 0)

    def event(self, kind, id_, arguments):
        readings = [value for kind_, value in arguments if kind_ == 0x89]
        if readings:
            self.reading = (self.now, readings[-1])
        if kind < 0x20:
            self.begin(kind, id_)
        elif kind == 0x2A:
            pass
        elif kind == 0x2B:
            self.omit(id_, arguments)
        elif kind == 0x2C:
            counts = whole_numbers(arguments) + [0, 0, 0]
            self.lose_down_to(min(counts[1], MAX_DECLARED_DEPTH))
            self.open_unknown(min(counts[2], MAX_DECLARED_DEPTH))
        elif 0x41 <= kind <= 0x4F:
            self.end("throw" if kind == 0x42 else "exit")
        else:
            self.add(self.number, kind, id_, self.now, 0, None, (0, 0, 0), "exit")
            self.number += 1


def read_thread(path, thread, rate, costs):
    """The nodes of a thread."""
    with open(path, "rb") as file:
        data = file.read()
    tree, before = Tree(rate, costs), None
    for sequence, start, depth, words in segments(data, thread):
        if before is not None and sequence > before + 1:
            tree.lose_down_to(0)
        before, tree.now = sequence, start
        if depth != 0xFFFFFFFF:
            tree.lose_down_to(min(depth, MAX_DECLARED_DEPTH))
            tree.open_unknown(min(depth, MAX_DECLARED_DEPTH))
        at = 0
        while at < len(words) and words[at] & 0xFF:
            kind, word = words[at] & 0xFF, words[at]
            at += 1
            if kind >= 0x80:
                continue
            tree.now = min(tree.now + (word >> 32 if kind < 0x40 else word >> 8), (1 << 64) - 1)
            id_ = (word >> 8) & 0xFFFFFF if kind < 0x40 else 0
            arguments = []
            while at < len(words) and words[at] & 0xFF >= 0x80:
                argument = (words[at] & 0xFF, words[at] >> 8)
                if argument[0] == 0x80:
                    id_ = argument[1]
                else:
                    arguments.append(argument)
                at += 1
            if kind != 0x40:
                tree.event(kind, id_, arguments)
    while tree.open:
        tree.end("cut")
    return tree.nodes


def main(directory):
    records = read_names(directory)
    rate, costs = clock_rate(records), Costs(records)
    numbers = [re.fullmatch(r"thread-(\d+)\.events", name) for name in os.listdir(directory)]
    for thread in sorted(int(match.group(1)) for match in numbers if match):
        path = os.path.join(directory, f"thread-{thread}.events")
        for node in read_thread(path, thread, rate, costs):
            fields = (thread,) + node
            print(" ".join("-" if field is None else str(field) for field in fields))


if __name__ == "__main__":
    main(sys.argv[1])
