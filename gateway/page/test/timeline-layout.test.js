import assert from "node:assert/strict";
import { test } from "node:test";

import { at, contentionLines, lanes, ROW_HEIGHT, shade, TITLE_HEIGHT } from "../lib/timeline-layout.js";

const threads = [{ number: 1 }, { number: 2 }];
/** @type {import("../lib/timeline-layout.js").Picture} */
const picture = {
  names: ["a.B::m", "contended java.lang.Object"],
  threads: [
    {
      number: 1,
      boxes: [
        { depth: 0, from: 0, to: 100, name: 0, kind: "call", calls: 1 },
        { depth: 1, from: 20, to: 40, name: 1, kind: "contended", calls: 1, owner: 2 },
      ],
    },
    { number: 2, parts: [{ from: 0, to: 50, events: 9, depth: 3, name: 0 }] },
  ],
};

test("lanes follow each other and never shrink", () => {
  const rows = new Map();
  const all = lanes(threads, picture, rows);
  assert.equal(all[1].top, all[0].top + all[0].height);
  const later = lanes(threads, { names: [], threads: [] }, rows);
  assert.deepEqual(later, all);
});

test("the call below the pointer is found", () => {
  const all = lanes(threads, picture, new Map());
  const y = all[0].top + TITLE_HEIGHT + ROW_HEIGHT * 1.5;
  assert.equal(at(all, picture, 30, y, 0)?.box?.kind, "contended");
  assert.equal(at(all, picture, 50, y, 0)?.box, null);
  assert.equal(at(all, picture, 42, y, 3)?.box?.kind, "contended");
  assert.equal(at(all, picture, 10, all[1].top + TITLE_HEIGHT + 1, 0)?.part?.events, 9);
  assert.equal(at(all, picture, 10, 1e6, 0), null);
});

test("a wait for a monitor leads to its owner", () => {
  const all = lanes(threads, picture, new Map());
  const [line, ...more] = contentionLines(all, picture);
  assert.equal(more.length, 0);
  assert.equal(line.time, 20);
  assert.ok(line.from < line.to);
});

test("the colour belongs to the class", () => {
  assert.equal(shade("a.B::m"), shade("a.B::other"));
  assert.ok([..."abcdefgh"].every((name) => shade(name) >= 1 && shade(name) <= 5));
});
