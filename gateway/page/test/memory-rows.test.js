// The rows of memory profiles.

import assert from "node:assert/strict";
import { test } from "node:test";

import { figureOf, figuresOf, figureText, mainFigure, sortedRows } from "../lib/memory-rows.js";

/** @typedef {import("../lib/memory-rows.js").LevelCount} LevelCount */

/**
 * @param {string} name
 * @param {number} reads
 * @param {LevelCount[]} levels
 */
function row(name, reads, levels) {
  const counts = { levels, instructions: [], tlbs: [{ lookups: reads, misses: 1, margin: 0 }] };
  return { name, reads, writes: 1, fetches: 0, bytes_read: 0, bytes_written: 0, caches: [counts] };
}

/**
 * @param {number} lookups
 * @param {number} misses
 * @param {number | null} [margin]
 */
function level(lookups, misses, margin = 0) {
  return { lookups, misses, margin };
}

const ROWS = [
  row("b", 10, [level(11, 5), level(5, 1)]),
  row("a", 20, [level(21, 2), level(2, 2, 7)]),
  row("c", 30, [level(31, 2), level(0, 0, null)]),
];

test("the figures are those of the description, and the last level of data is first", () => {
  const figures = figuresOf(ROWS[0], 0);
  assert.deepEqual(figures.map(({ key }) => key), ["accesses", "L1", "L2", "TLB"]);
  assert.equal(mainFigure(ROWS[0], 0), "L2");
  // A profile without caches has accesses only.
  assert.deepEqual(figuresOf(ROWS[0], 3).map(({ key }) => key), ["accesses"]);
  assert.equal(mainFigure(ROWS[0], 3), "accesses");
});

test("figures are written as the command writes them", () => {
  assert.equal(figureText(ROWS[0], 0, "L1"), "5 (45.5 %)");
  assert.equal(figureText(ROWS[1], 0, "L2"), "2 ± 7 (100.0 %)");
  assert.equal(figureText(ROWS[2], 0, "L2"), "0 ± ?");
  assert.equal(figureText(ROWS[2], 0, "accesses"), "31");
  assert.equal(figureOf(ROWS[1], 0, "accesses"), 21);
});

test("rows are sorted by a figure or by name, equal ones by name", () => {
  const names = (/** @type {string} */ key, /** @type {boolean} */ isDescending) =>
    sortedRows(ROWS, 0, { key, isDescending }).map(({ name }) => name);
  assert.deepEqual(names("L1", true), ["b", "a", "c"]);
  assert.deepEqual(names("accesses", true), ["c", "a", "b"]);
  assert.deepEqual(names("accesses", false), ["b", "a", "c"]);
  assert.deepEqual(names("name", false), ["a", "b", "c"]);
});
