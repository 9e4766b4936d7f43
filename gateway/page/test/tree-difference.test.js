// The difference of two trees, compared with maps from paths to totals.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readProfile } from "../lib/call-profile.js";
import { buildTree } from "../lib/context-tree.js";
import { differenceOfTrees } from "../lib/tree-difference.js";
import { randomDocument } from "./random-profile.js";

/** @typedef {import("../lib/tree-builder.js").ContextTree} ContextTree */

/**
 * @param {ContextTree} tree
 * @param {Float64Array} values
 */
function valuesByPath(tree, values) {
  const paths = [""];
  for (let node = 1; node < tree.count; node++) {
    paths[node] = `${paths[tree.parent[node]]} > ${tree.frames[tree.frame[node]].identity}`;
  }
  return new Map(paths.map((path, node) => [path, values[node]]));
}

/**
 * @param {number} seed
 * @param {number} methods
 */
function tree(seed, methods) {
  const document = randomDocument(seed, { contexts: 20 + ((seed * 13) % 200), methods });
  // The ids of the methods differ between two recordings.
  document.methods.reverse();
  return /** @type {ContextTree} */ (buildTree(readProfile(document), { measure: "self" }));
}

test("each path has its totals in both trees", () => {
  for (let seed = 0; seed < 60; seed++) {
    const [before, after] = [tree(seed, 4 + (seed % 5)), tree(seed + 1000, 6)];
    const difference = differenceOfTrees(before, after);
    const expected = [valuesByPath(before, before.total), valuesByPath(after, after.total)];
    const calls = [valuesByPath(before, before.calls), valuesByPath(after, after.calls)];
    const found = [difference.before, difference.after].map((values) => valuesByPath(difference.tree, values));
    const foundCalls = [difference.callsBefore, difference.callsAfter].map((values) =>
      valuesByPath(difference.tree, values),
    );
    const paths = new Set([...expected[0].keys(), ...expected[1].keys()]);
    assert.equal(difference.tree.count, paths.size);
    for (const path of paths) {
      for (const side of [0, 1]) {
        assert.equal(found[side].get(path), expected[side].get(path) ?? 0);
        assert.equal(foundCalls[side].get(path), calls[side].get(path) ?? 0);
      }
    }
    difference.tree.total.forEach((total, node) => {
      assert.equal(total, (difference.before[node] + difference.after[node]) / 2);
    });
  }
});

test("a tree does not differ from itself", () => {
  const one = tree(7, 5);
  const difference = differenceOfTrees(one, tree(7, 5));
  assert.deepEqual(difference.before, difference.after);
  assert.deepEqual(difference.tree.total, one.total);
});

test("with equal totals, a longer recording of the same work does not differ", () => {
  const document = randomDocument(8, { contexts: 100, methods: 5 });
  const longer = structuredClone(document);
  longer.contexts.forEach((context) => {
    context.self_ns *= 4;
    context.calls *= 4;
  });
  const [before, after] = [longer, document].map((one) =>
    /** @type {ContextTree} */ (buildTree(readProfile(one), { measure: "self" })),
  );
  const difference = differenceOfTrees(before, after, { equalTotals: true });
  assert.deepEqual(difference.before, difference.after);
  assert.deepEqual(difference.callsBefore, difference.callsAfter);
});

test("frames that only the earlier recording has are methods of no profile", () => {
  const name = (/** @type {string} */ method) => ({ class: "A", method, descriptor: "()V" });
  const document = (/** @type {string} */ method) => ({
    methods: [{ id: 0, ...name(method) }],
    contexts: [{ id: 0, method: 0, calls: 1, wall_ns: 5, self_ns: 5 }],
  });
  const [before, after] = ["gone", "new"].map((method) =>
    /** @type {ContextTree} */ (buildTree(readProfile(document(method)), { measure: "self" })),
  );
  const { tree: both, before: was, after: is } = differenceOfTrees(before, after);
  const node = (/** @type {string} */ label) =>
    [...both.frame].findIndex((frame) => both.frames[frame].label === label);
  const [gone, added] = [node("A::gone()"), node("A::new()")];
  assert.deepEqual([was[gone], is[gone], both.frames[both.frame[gone]].method], [5, 0, -1]);
  assert.deepEqual([was[added], is[added], both.frames[both.frame[added]].method], [0, 5, 0]);
});

test("two trees of a million nodes are compared in some seconds", (context) => {
  const [before, after] = [1, 2].map((seed) => {
    const document = randomDocument(seed, { contexts: 1_000_000, methods: 5_000, depth: 40 });
    return /** @type {ContextTree} */ (buildTree(readProfile(document), { measure: "self" }));
  });
  const begin = process.cpuUsage();
  const { tree: both } = differenceOfTrees(before, after);
  const { user, system } = process.cpuUsage(begin);
  context.diagnostic(`${both.count} nodes: ${((user + system) / 1000).toFixed()} ms of processor time`);
});
