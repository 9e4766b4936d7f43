// Visible rows of long tables and of trees.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readProfile } from "../lib/call-profile.js";
import { buildTree } from "../lib/context-tree.js";
import { MAX_HEIGHT, rowAfterKey, scrolledHeight, scrollToRow, visibleRows } from "../lib/row-window.js";
import { expandHeaviestPath, siblingPosition, visibleNodes } from "../lib/tree-rows.js";
import { randomDocument, randomNumbers } from "./random-profile.js";

/** @typedef {import("../lib/tree-builder.js").ContextTree} ContextTree */

test("the visible rows cover the visible height", () => {
  const random = randomNumbers(5);
  for (let round = 0; round < 3000; round++) {
    const count = Math.floor(10 ** (6.5 * random()));
    const scale = { count, rowHeight: 24, height: 50 + Math.floor(random() * 600) };
    const scrollTop = random() * Math.max(0, scrolledHeight(scale) - scale.height);
    const { first, last, offset } = visibleRows(scale, scrollTop);
    assert.ok(offset <= 0 && offset > -24);
    assert.ok(last === count || offset + (last - first) * 24 >= scale.height - 1e-3);
    assert.ok(first >= 0 && last <= count && last - first <= scale.height / 24 + 2);
    assert.ok(scrolledHeight(scale) <= MAX_HEIGHT);
  }
});

test("both ends of a long table can be reached", () => {
  for (const count of [0, 1, 100, 3_000_000]) {
    const scale = { count, rowHeight: 24, height: 500 };
    assert.equal(visibleRows(scale, 0).first, 0);
    assert.equal(visibleRows(scale, scrolledHeight(scale) - 500).last, count);
  }
});

test("a row is fully visible after the table was scrolled to it", () => {
  const random = randomNumbers(6);
  for (let round = 0; round < 3000; round++) {
    const count = 1 + Math.floor(10 ** (6.5 * random()));
    const scale = { count, rowHeight: 24, height: 300 };
    const row = Math.floor(random() * count);
    const before = random() * Math.max(0, scrolledHeight(scale) - 300);
    const { first, offset } = visibleRows(scale, scrollToRow(scale, before, row));
    const top = offset + (row - first) * 24;
    assert.ok(top >= -0.01 && top + 24 <= 300.01, `row ${row} of ${count} at ${top}`);
  }
});

test("keys move within the table", () => {
  assert.equal(rowAfterKey("ArrowDown", 4, 5, 10), 4);
  assert.equal(rowAfterKey("ArrowUp", 0, 5, 10), 0);
  assert.equal(rowAfterKey("PageDown", 1, 50, 10), 11);
  assert.equal(rowAfterKey("PageUp", 15, 50, 10), 5);
  assert.equal(rowAfterKey("Home", 15, 50, 10), 0);
  assert.equal(rowAfterKey("End", 15, 50, 10), 49);
  assert.equal(rowAfterKey("a", 15, 50, 10), 15);
});

/** @param {number} seed */
function tree(seed) {
  const document = randomDocument(seed, { contexts: 1 + ((seed * 19) % 200), methods: 8 });
  return /** @type {ContextTree} */ (buildTree(readProfile(document), { measure: "self" }));
}

test("a node is visible if all nodes above it are expanded", () => {
  for (let seed = 0; seed < 60; seed++) {
    const one = tree(seed);
    const random = randomNumbers(seed);
    const expanded = Uint8Array.from({ length: one.count }, () => (random() < 0.6 ? 1 : 0));
    const root = seed % 3 === 0 ? Math.floor(random() * one.count) : 0;
    const expected = [];
    for (let node = root; node < one.end[root]; node++) {
      let at = node;
      while (at !== root && expanded[one.parent[at]] === 1) {
        at = one.parent[at];
      }
      if (at === root) {
        expected.push(node);
      }
    }
    assert.deepEqual([...visibleNodes(one, expanded, root)], expected);
  }
});

test("siblings are counted from 1", () => {
  for (let seed = 0; seed < 40; seed++) {
    const one = tree(seed);
    const seen = new Int32Array(one.count);
    for (let node = 1; node < one.count; node++) {
      seen[one.parent[node]]++;
      assert.equal(siblingPosition(one, node).position, seen[one.parent[node]]);
    }
    for (let node = 1; node < one.count; node++) {
      assert.equal(siblingPosition(one, node).siblings, seen[one.parent[node]]);
    }
    assert.deepEqual(siblingPosition(one, 0), { position: 1, siblings: 1 });
  }
});

test("the heaviest path is expanded as long as one child has most of the weight", () => {
  for (let seed = 0; seed < 40; seed++) {
    const one = tree(seed);
    const expanded = new Uint8Array(one.count);
    expandHeaviestPath(one, expanded, 0);
    for (let node = 0; node < one.count; node++) {
      const isHeavy = node === 0 || (expanded[one.parent[node]] === 1 && one.parent[node] === node - 1);
      assert.ok(expanded[node] === 0 || isHeavy);
    }
  }
});
