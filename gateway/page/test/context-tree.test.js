// Trees of contexts, compared with trees of maps that are built in the simplest way.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readProfile } from "../lib/call-profile.js";
import { buildTree, callersTree, frameOfMethod, invertTree, knownTree } from "../lib/context-tree.js";
import { nodeOfPath, pathKey } from "../lib/tree-path.js";
import { levelPosition } from "../lib/tree-builder.js";
import { randomDocument } from "./random-profile.js";

/** @typedef {import("../lib/tree-builder.js").ContextTree} ContextTree */
/** @typedef {Map<string, {calls: number, own: number, total: number}>} Paths */

const SEEDS = 60;

/**
 * Adds a weight to a path and to the totals of all its beginnings.
 * @param {Paths} paths
 * @param {string[]} path
 * @param {{calls: number, own: number}} weight
 */
function addPath(paths, path, { calls, own }) {
  for (let length = 0; length <= path.length; length++) {
    const key = path.slice(0, length).join(" > ");
    const found = paths.get(key) ?? { calls: 0, own: 0, total: 0 };
    paths.set(key, found);
    found.total += own;
    if (length === path.length) {
      found.own += own;
      found.calls += calls;
    }
  }
}

/** @param {ContextTree} tree */
function pathsOf(tree) {
  /** @type {Paths} */
  const paths = new Map();
  for (let node = 0; node < tree.count; node++) {
    const path = pathOf(tree, node).join(" > ");
    assert.ok(!paths.has(path), `${path} occurs once`);
    paths.set(path, { calls: tree.calls[node], own: tree.own[node], total: tree.total[node] });
  }
  return paths;
}

/**
 * @param {ContextTree} tree
 * @param {number} node
 */
function pathOf(tree, node) {
  const path = [];
  for (let at = node; at > 0; at = tree.parent[at]) {
    path.unshift(tree.frames[tree.frame[at]].label);
  }
  return path;
}

/**
 * The path of a context, by the definition.
 * @param {any} document
 * @param {number} id
 * @returns {string[]}
 */
function contextPath(document, id) {
  const { parent, method } = document.contexts[id];
  const label = labelOf(document, method);
  return parent === undefined ? [label] : [...contextPath(document, parent), label];
}

/**
 * @param {any} document
 * @param {number} method
 */
function labelOf(document, method) {
  const { class: className, method: name } = document.methods[method];
  return `${className}::${name}(int, java.lang.String)`;
}

/**
 * @param {any} context
 * @param {import("../lib/call-figures.js").Measure} measure
 */
function ownOf(context, measure) {
  const { calls, self_ns, self_cpu_ns, allocations } = context;
  return { calls, wall: self_ns, self: self_ns, cpu: self_cpu_ns, allocations }[measure];
}

/** @param {ContextTree} tree */
function assertOrder(tree) {
  const { count, parent, end, depth, left, total, own, levelStart, levelNodes } = tree;
  assert.equal(end[0], count);
  const sums = own.slice();
  for (let node = count - 1; node > 0; node--) {
    sums[parent[node]] += sums[node];
  }
  assert.deepEqual(sums, total);
  for (let node = 1; node < count; node++) {
    const above = parent[node];
    assert.ok(above < node && end[node] <= end[above] && end[node] > node);
    assert.equal(depth[node], depth[above] + 1);
    assert.ok(left[node] >= left[above] && left[node] + total[node] <= left[above] + total[above]);
    if (end[node] < end[above]) {
      assert.equal(left[end[node]], left[node] + total[node], "siblings are adjacent");
      assert.ok(total[node] >= total[end[node]], "the heaviest sibling is first");
    }
    assert.equal(levelNodes[levelPosition(tree, node)], node);
  }
  assert.equal(levelStart.at(-1), count);
}

/** @param {number} seed */
function document(seed) {
  return randomDocument(seed, { contexts: 1 + (seed * 7) % 150, methods: 1 + (seed % 9), threads: seed % 3 });
}

test("a tree has the paths of its contexts", () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const input = document(seed);
    const profile = readProfile(input);
    for (const measure of /** @type {const} */ (["calls", "wall", "self", "cpu", "allocations"])) {
      const tree = /** @type {ContextTree} */ (buildTree(profile, { measure }));
      /** @type {Paths} */
      const expected = new Map();
      input.contexts.forEach((context, id) => {
        addPath(expected, contextPath(input, id), { calls: context.calls, own: ownOf(context, measure) });
      });
      assert.deepEqual(pathsOf(tree), sorted(tree, expected));
      assertOrder(tree);
    }
  }
});

/**
 * The expected paths in the order of the tree, because maps are compared with their order.
 * @param {ContextTree} tree
 * @param {Paths} expected
 */
function sorted(tree, expected) {
  assert.equal(tree.count, expected.size);
  return new Map([...pathsOf(tree).keys()].map((key) => [key, expected.get(key)]));
}

test("threads are the first level if they are asked for", () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const input = document(seed);
    const tree = /** @type {ContextTree} */ (buildTree(readProfile(input), { measure: "self", byThread: true }));
    /** @type {Paths} */
    const expected = new Map();
    input.contexts.forEach(({ calls, self_ns: own }, id) => {
      let root = id;
      while (input.contexts[root].parent !== undefined) {
        root = input.contexts[root].parent;
      }
      const { thread } = input.contexts[root];
      const path = contextPath(input, id);
      addPath(expected, thread === undefined ? path : [`thread worker-${thread}`, ...path], { calls, own });
    });
    assert.deepEqual(pathsOf(tree), sorted(tree, expected));
  }
});

/**
 * Folds a path: a method that is already on it ends at its first occurrence.
 * @param {string[]} path
 */
function foldedPath(path) {
  /** @type {string[]} */
  const folded = [];
  for (const method of path) {
    const found = folded.lastIndexOf(method);
    folded.length = found < 0 ? folded.length : found + 1;
    if (found < 0) {
      folded.push(method);
    }
  }
  return folded;
}

test("folding moves the weights of recursive calls to the outer call", () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const input = document(seed);
    const tree = /** @type {ContextTree} */ (buildTree(readProfile(input), { measure: "wall", folded: true }));
    /** @type {Paths} */
    const expected = new Map();
    input.contexts.forEach(({ calls, self_ns: own }, id) => {
      addPath(expected, foldedPath(contextPath(input, id)), { calls, own });
    });
    assert.deepEqual(pathsOf(tree), sorted(tree, expected));
    assertOrder(tree);
  }
});

test("an inverted tree has the reversed paths, with calls at each of their frames", () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const input = document(seed);
    const tree = /** @type {ContextTree} */ (buildTree(readProfile(input), { measure: "self" }));
    const inverted = invertTree(tree);
    /** @type {Paths} */
    const expected = new Map();
    input.contexts.forEach(({ calls, self_ns: own }, id) => {
      const path = contextPath(input, id).reverse();
      addPath(expected, path, { calls: 0, own });
      for (let length = 0; length <= path.length; length++) {
        addPath(expected, path.slice(0, length), { calls, own: 0 });
      }
    });
    assert.deepEqual(pathsOf(inverted), sorted(inverted, expected));
    assert.equal(inverted.total[0], tree.total[0]);
    assertOrder(inverted);
  }
});

test("the callers of a method have the totals of its outermost calls", () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const input = document(seed);
    const tree = /** @type {ContextTree} */ (buildTree(readProfile(input), { measure: "self" }));
    const method = seed % input.methods.length;
    const callers = callersTree(tree, frameOfMethod(tree, method));
    const label = labelOf(input, method);
    /** @type {Map<string, number>} */
    const expected = new Map();
    input.contexts.forEach(({ self_ns: own }, id) => {
      const path = contextPath(input, id);
      const outermost = path.indexOf(label);
      if (outermost >= 0) {
        const key = path.slice(0, outermost + 1).reverse().join(" > ");
        expected.set(key, (expected.get(key) ?? 0) + own);
      }
    });
    const paths = pathsOf(callers);
    for (const [path, own] of expected) {
      assert.equal(paths.get(path)?.own, own);
    }
    const whole = [...expected.values()].reduce((sum, own) => sum + own, 0);
    assert.equal(callers.total[0], whole);
    assert.ok([...paths.keys()].every((path) => path === "" || path.startsWith(label)));
  }
});

test("a profile without contexts has no tree", () => {
  const input = document(3);
  assert.equal(buildTree(readProfile({ ...input, contexts: [] }), { measure: "calls" }), null);
  assert.equal(buildTree(readProfile({}), { measure: "calls" }), null);
});

test("the latest trees of a profile are kept", () => {
  const profile = readProfile(document(20));
  const first = knownTree(profile, { measure: "wall" });
  assert.equal(knownTree(profile, { measure: "wall", folded: false }), first);
  assert.deepEqual(first, buildTree(profile, { measure: "wall" }));
  assert.notEqual(knownTree(profile, { measure: "wall", folded: true }), first);
  assert.equal(knownTree(profile, { measure: "wall" }), first);
  knownTree(profile, { measure: "calls" });
  knownTree(profile, { measure: "self" });
  assert.notEqual(knownTree(profile, { measure: "wall" }), first);
});

test("contexts of a damaged file become roots, and unknown methods have a name", () => {
  const input = {
    methods: [{ id: 4, class: "A", method: "m", descriptor: "()V", entries: 1 }],
    contexts: [
      { id: 7, parent: 9, method: 4, calls: 1, wall_ns: 3, self_ns: 3 },
      { id: 9, parent: 7, method: 5, calls: 1, wall_ns: 2, self_ns: 2 },
      { id: 9, parent: 9, method: 6, calls: 1, wall_ns: 1, self_ns: 1 },
    ],
  };
  const tree = /** @type {ContextTree} */ (buildTree(readProfile(input), { measure: "self" }));
  assert.equal(tree.total[0], 6);
  assertOrder(tree);
});

test("wall time that the callees exceed is that of the callees", () => {
  const input = {
    methods: ["a", "b"].map((method, id) => ({ id, class: "A", method, descriptor: "()V" })),
    contexts: [
      { id: 0, method: 0, calls: 1, wall_ns: 10, self_ns: 0 },
      { id: 1, parent: 0, method: 1, calls: 1, wall_ns: 12, self_ns: 12 },
    ],
  };
  const tree = /** @type {ContextTree} */ (buildTree(readProfile(input), { measure: "wall" }));
  assert.deepEqual([...tree.total], [12, 12, 12]);
  assert.deepEqual([...tree.own], [0, 0, 12]);
});

test("the key of a path names the same path in another tree", () => {
  const profile = readProfile(randomDocument(5, { contexts: 400, methods: 12 }));
  const [one, other] = /** @type {const} */ (["calls", "wall"]).map((measure) =>
    /** @type {ContextTree} */ (buildTree(profile, { measure })),
  );
  const keys = new Set();
  for (let node = 0; node < one.count; node++) {
    const key = pathKey(one, node);
    keys.add(key);
    assert.deepEqual(pathOf(other, nodeOfPath(other, key)), pathOf(one, node));
  }
  assert.equal(keys.size, one.count);
  for (const wrong of ["x", "0-0", "zzzzzzz-zzzzzzz", "../a", "1-"]) {
    assert.equal(nodeOfPath(one, wrong), 0);
  }
});

test("a million contexts are read and arranged in about a second", (context) => {
  const input = randomDocument(1, { contexts: 1_000_000, methods: 5_000, depth: 40 });
  const begin = performance.now();
  const profile = readProfile(input);
  const read = performance.now();
  const tree = /** @type {ContextTree} */ (buildTree(profile, { measure: "wall" }));
  const built = performance.now();
  const folded = /** @type {ContextTree} */ (buildTree(profile, { measure: "wall", folded: true }));
  const foldedAt = performance.now();
  const inverted = invertTree(tree);
  const invertedAt = performance.now();
  context.diagnostic(
    `read ${(read - begin).toFixed()} ms, tree of ${tree.count} nodes ${(built - read).toFixed()} ms, ` +
      `folded ${folded.count} nodes ${(foldedAt - built).toFixed()} ms, ` +
      `inverted ${inverted.count} nodes, cut at ${inverted.cutDepth}, ${(invertedAt - foldedAt).toFixed()} ms`,
  );
  assert.ok(tree.count > 900_000);
  // The limit is loose, because a busy machine must not fail the test.
  assert.ok(built - begin < 15_000);
});
