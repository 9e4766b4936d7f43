// Rows of the table: figures, order, and which are visible.

import assert from "node:assert/strict";
import { test } from "node:test";
import { flowOutlines, flowRow, rowRange, scrollToRow, shareBase, sortOutlines } from "../lib/flow-rows.js";
import { graphOf, randomNumbers } from "./flow-oracles.js";

const graph = graphOf([2, 0, 1], [[0, 1], [0, 2], [0, 2], [1, 1]]);
const counts = {
  blocks: new Map([[0, 10], [1, 30], [77, 1000]]),
  edges: new Map([["0>1", 3], ["0>2", 7]]),
  blockRates: new Map([[0, 1], [1, 3]]),
  edgeRates: new Map(),
};

/**
 * All rows, in the order of numbers.
 * @param {import("../lib/graph-types.js").Counts} counted
 */
function rowsOf(counted) {
  const outlines = flowOutlines(graph);
  return outlines.map((outline) => flowRow(outline, counted, shareBase(outlines, counted)));
}

/**
 * The numbers of blocks in the order of a column.
 * @param {import("../lib/flow-rows.js").Column} column
 * @param {boolean} descending
 * @param {import("../lib/graph-types.js").Counts} counted
 */
function orderOf(column, descending, counted) {
  const outlines = flowOutlines(graph);
  const sorted = sortOutlines(outlines, column, descending, counted, shareBase(outlines, counted));
  return sorted.map(({ block }) => block);
}

test("rows have the figures of blocks, and successors from hot to cold", () => {
  const rows = rowsOf(counts);
  assert.deepEqual(rows.map((row) => row.block), [0, 1, 2]);
  assert.deepEqual(rows.map((row) => row.share), [0.25, 0.75, 0]);
  assert.deepEqual(rows[0].successors.map(({ to, count }) => [to, count]), [[2, 7], [1, 3]]);
  assert.deepEqual(rows[1].successors, [{ to: 1, count: undefined, rate: undefined }]);
  const idle = rowsOf({ ...counts, blockRates: new Map() });
  assert.deepEqual(idle.map((row) => row.share), [0.25, 0.75, 0], "shares of totals while nothing runs");
});

test("sorting is stable, and unknown figures are least", () => {
  assert.deepEqual(orderOf("count", true, counts), [1, 0, 2]);
  assert.deepEqual(orderOf("count", false, counts), [2, 0, 1]);
  assert.deepEqual(orderOf("rate", true, counts), [1, 0, 2]);
  assert.deepEqual(orderOf("share", true, counts), [1, 0, 2]);
  assert.deepEqual(orderOf("successors", true, counts), [0, 1, 2]);
  assert.deepEqual(orderOf("line", true, counts), [2, 1, 0]);
  assert.deepEqual(orderOf("count", true, { ...counts, blocks: new Map() }), [0, 1, 2]);
});

test("the rendered rows cover the window, and their number does not depend on the table", () => {
  const random = randomNumbers(3);
  for (let i = 0; i < 500; i += 1) {
    const [top, height, count] = [random() * 300_000, random() * 1000, Math.floor(random() * 12_000)];
    const { first, end } = rowRange(top, height, 28, count);
    assert.ok(first >= 0 && end <= count && end - first <= height / 28 + 20);
    for (let row = 0; row < count; row += 1) {
      if (row * 28 < top + height && (row + 1) * 28 > top) assert.ok(row >= first && row < end);
    }
  }
});

test("scrolling shows a row with the least movement", () => {
  assert.equal(scrollToRow(100, 280, 28, 5), 100, "visible");
  assert.equal(scrollToRow(100, 280, 28, 0), 0);
  assert.equal(scrollToRow(0, 280, 28, 20), 21 * 28 - 280);
});
