// The texts of blocks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blockLines, blockSize, countTexts, describeBlock, describeEdge, lineText } from "../lib/flow-text.js";
import { graphOf } from "./flow-oracles.js";

/** @param {number} instructions */
const block = (instructions) => ({
  ...graphOf([3], []).blocks[0],
  instructions: Array.from({ length: instructions }, (_, i) => `iload ${i}`),
});
const counts = {
  blocks: new Map([[3, 12_345]]),
  edges: new Map([["3>4", 5]]),
  blockRates: new Map([[3, 99]]),
  edgeRates: new Map(),
};

test("more than nine instructions are folded after eight", () => {
  assert.deepEqual(blockLines(block(9), false), { lines: block(9).instructions, fold: null });
  const folded = blockLines(block(20), false);
  assert.equal(folded.lines.length, 8);
  assert.equal(folded.fold, "+ 12 more instructions");
  assert.deepEqual(blockLines(block(20), true), { lines: block(20).instructions, fold: "− fold" });
});

test("a block grows with its text, up to a limit", () => {
  const small = blockSize(block(0), false, 7);
  const folded = blockSize(block(20), false, 7);
  assert.ok(blockSize(block(1), false, 7).height > small.height);
  assert.ok(blockSize(block(20), true, 7).height > folded.height);
  const long = { ...block(1), instructions: ["x".repeat(5000)] };
  assert.ok(blockSize(long, false, 7).width < 500);
});

test("figures, and what is said when they are missing", () => {
  assert.deepEqual(countTexts(block(1), counts).map((text) => text.replaceAll("\u00a0", " ")), ["12.3 k", "99/s"]);
  const unknown = { ...block(1), number: 8, line: null };
  assert.deepEqual(countTexts(unknown, counts), ["–", "–"]);
  assert.deepEqual(countTexts({ ...unknown, reachable: false }, counts), ["not countable", ""]);
  assert.equal(lineText(block(1)), "line 13");
  assert.equal(lineText(unknown), "");
  assert.equal(
    describeBlock(block(1), counts, [[3, 4], [3, 5], [3, 4], [4, 3]], true),
    "block 3, line 13, 12,345 times, 99 per second, successors: 4, 5",
  );
  assert.equal(describeBlock(unknown, counts, [], false), "block 8, no edge leads here, not counted, no successors");
  assert.equal(describeEdge([3, 4], counts), "edge from block 3 to block 4, 5 times, 0 per second");
  assert.equal(describeEdge([3, 9], counts), "edge from block 3 to block 9, not counted");
});
