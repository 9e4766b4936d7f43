// Source lines and the blocks on them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { nextBlock, sourceLines } from "../lib/source-lines.js";

const SOURCE = {
  file: "A.java",
  place: "src",
  first: 10,
  lines: ["void a() {", "  while (b()) {", "    c();", "  }", "}"],
  blocks: { 0: [11], 1: [11], 2: [12], 3: [14, 99] },
};

test("a line has the count of its busiest block", () => {
  const counts = {
    blocks: new Map([[0, 1], [1, 50], [2, 49]]),
    edges: new Map(),
    blockRates: new Map([[1, 5]]),
    edgeRates: new Map(),
    millis: 0,
  };
  const lines = sourceLines(SOURCE, counts);
  assert.deepEqual(lines.map(({ number }) => number), [10, 11, 12, 13, 14]);
  assert.deepEqual(lines.map(({ count }) => count), [undefined, 50, 49, undefined, undefined]);
  assert.deepEqual(lines[1], { number: 11, text: "  while (b()) {", blocks: [0, 1], count: 50, rate: 5 });
});

test("clicks on a line select its blocks one after the other", () => {
  assert.equal(nextBlock([2, 5, 7], null), 2);
  assert.equal(nextBlock([2, 5, 7], 5), 7);
  assert.equal(nextBlock([2, 5, 7], 7), 2);
  assert.equal(nextBlock([2, 5, 7], 1), 2);
  assert.equal(nextBlock([], 1), undefined);
});
