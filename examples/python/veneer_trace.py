#!/usr/bin/env python3
"""Reads a trace of Veneer (docs/traces.md) without any other package.

    python3 veneer_trace.py DIRECTORY      prints one line per node, in the order of their ends

The fields are: thread, number, parent or -, depth, kind, id, start and end in ticks, self ticks, processor
time in nanoseconds or -, and the ending.
"""

import os
import re
import struct
import sys
import zlib

HEADER = struct.Struct("<8sHHIQQQI12sI4s")
VERSION = 1
MAX_DECLARED_DEPTH = 1 << 16


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


class Tree:
    """Builds the nodes of one thread."""

    def __init__(self, rate):
        self.rate, self.open, self.number, self.now, self.reading = rate, [], 0, 0, None
        self.nodes = []

    def cpu(self):
        if self.reading is None:
            return None
        since = max(self.now - self.reading[0], 0)
        return self.reading[1] + since * self.rate[0] // self.rate[1]

    def begin(self, kind, id_):
        self.open.append([self.number, kind, id_, self.now, 0, self.cpu() if kind else None])
        self.number += 1

    def end(self, ending):
        if not self.open:
            return
        number, kind, id_, start, inside, cpu = self.open.pop()
        ticks = max(self.now - start, 0)
        if self.open:
            self.open[-1][4] += ticks
        now = self.cpu()
        cpu = None if cpu is None or now is None else max(now - cpu, 0)
        self.add(number, kind, id_, start, max(ticks - inside, 0), cpu, ending)

    def add(self, number, kind, id_, start, self_ticks, cpu, ending):
        parent = self.open[-1][0] if self.open else None
        self.nodes.append((number, parent, len(self.open), kind, id_, start, self.now, self_ticks, cpu, ending))

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
        elif kind in (0x2A, 0x2B):
            pass
        elif kind == 0x2C:
            counts = [value for kind_, value in arguments if kind_ == 0x81] + [0, 0, 0]
            self.lose_down_to(min(counts[1], MAX_DECLARED_DEPTH))
            self.open_unknown(min(counts[2], MAX_DECLARED_DEPTH))
        elif 0x41 <= kind <= 0x4F:
            self.end("throw" if kind == 0x42 else "exit")
        else:
            self.add(self.number, kind, id_, self.now, 0, None, "exit")
            self.number += 1


def read_thread(path, thread, rate):
    """The nodes of a thread."""
    with open(path, "rb") as file:
        data = file.read()
    tree, before = Tree(rate), None
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
    rate = clock_rate(read_names(directory))
    numbers = [re.fullmatch(r"thread-(\d+)\.events", name) for name in os.listdir(directory)]
    for thread in sorted(int(match.group(1)) for match in numbers if match):
        for node in read_thread(os.path.join(directory, f"thread-{thread}.events"), thread, rate):
            fields = (thread,) + node
            print(" ".join("-" if field is None else str(field) for field in fields))


if __name__ == "__main__":
    main(sys.argv[1])
