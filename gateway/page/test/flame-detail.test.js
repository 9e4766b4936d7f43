// Texts about the frames of a flame graph.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readProfile } from "../lib/call-profile.js";
import { buildTree, invertTree } from "../lib/context-tree.js";
import { frameFacts, frameSentence, matchText, pathToNode, sliverText } from "../lib/flame-detail.js";
import { differenceOfTrees } from "../lib/tree-difference.js";

/** @typedef {import("../lib/tree-builder.js").ContextTree} ContextTree */

const document = {
  methods: ["main", "serve", "add"].map((method, id) => ({ id, class: "shop.Desk", method, descriptor: "()V" })),
  contexts: [
    { id: 0, method: 0, calls: 1, wall_ns: 4000, self_ns: 500 },
    { id: 1, parent: 0, method: 1, calls: 10, wall_ns: 3500, self_ns: 2500 },
    { id: 2, parent: 1, method: 2, calls: 1200, wall_ns: 1000, self_ns: 1000 },
  ],
};
const tree = /** @type {ContextTree} */ (buildTree(readProfile(document), { measure: "wall" }));

/** @param {import("../lib/flame-detail.js").Fact[]} facts */
const text = (facts) => facts.map(({ term, value }) => `${term}: ${value}`).join("; ");

test("a frame has its calls, total, self and shares", () => {
  assert.equal(text(frameFacts(tree, 0, 0, null)), "total: 4.00 µs; self: 0 ns; of all: 100.0 %");
  assert.equal(text(frameFacts(tree, 2, 0, null)), "calls: 10; total: 3.50 µs; self: 2.50 µs; of all: 87.5 %");
  assert.equal(
    text(frameFacts(tree, 3, 2, null)),
    "calls: 1,200; total: 1.00 µs; self: 1.00 µs; of the shown frame: 28.6 %; of all: 25.0 %",
  );
});

test("an inverted frame has no time of its own", () => {
  assert.ok(!text(frameFacts(invertTree(tree), 1, 0, null)).includes("self"));
});

test("a compared frame has both totals and the change", () => {
  const difference = differenceOfTrees(tree, tree);
  assert.equal(
    text(frameFacts(difference.tree, 1, 0, difference)),
    "before: 4.00 µs; after: 4.00 µs; change: none; calls: none; of all: 100.0 %",
  );
});

test("the sentence for assistive technology names frame, level and children", () => {
  assert.equal(
    frameSentence(tree, 2, 0, null),
    "shop.Desk::serve(), level 3, calls 10, total 3.50 µs, self 2.50 µs, 87.5 % of all, 1 frame below",
  );
  assert.match(frameSentence(tree, 3, 0, null), /0 frames below$/);
  assert.match(frameSentence(invertTree(tree), 0, 0, null), /3 callers below$/);
});

test("slivers and matches are counted", () => {
  assert.match(sliverText(tree, 1, 2), /^2 frames narrower than half a pixel, together 7.50 µs\./);
  assert.match(sliverText(tree, 1, 1), /^1 frame narrower/);
  assert.equal(matchText(tree, 0, { nodes: 1, weight: 1000 }), "Found in 1 frame: 25.0 % of all");
  assert.equal(matchText(tree, 2, { nodes: 0, weight: 0 }), "Found in 0 frames: 0.0 % of the shown frame");
});

test("long paths keep their first and their last nodes", () => {
  assert.deepEqual(pathToNode(tree, 3, 9), { nodes: [0, 1, 2, 3], omitted: 0 });
  assert.deepEqual(pathToNode(tree, 3, 3), { nodes: [0, 2, 3], omitted: 1 });
  assert.deepEqual(pathToNode(tree, 0, 3), { nodes: [0], omitted: 0 });
});
