// The visible rectangles, compared with those of all nodes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readProfile } from "../lib/call-profile.js";
import { buildTree } from "../lib/context-tree.js";
import * as flame from "../lib/flame-layout.js";
import { randomDocument, randomNumbers } from "./random-profile.js";

/** @typedef {import("../lib/tree-builder.js").ContextTree} ContextTree */
/** @typedef {import("../lib/flame-layout.js").FlameView} FlameView */

/** The columns of x and width have single precision. */
const TOLERANCE = 0.01;

/**
 * @param {number} seed
 * @param {number} contexts
 */
function tree(seed, contexts) {
  const document = randomDocument(seed, { contexts, methods: 40, depth: 20 });
  return /** @type {ContextTree} */ (buildTree(readProfile(document), { measure: "self" }));
}

/**
 * All visible nodes of a row with their places.
 * @param {ContextTree} one
 * @param {FlameView} view
 * @param {number} row
 */
function visibleNodes(one, { root, from, to, width, firstRow }, row) {
  const nodes = [];
  const begin = one.left[root] + from * one.total[root];
  const scale = width / ((to - from) * one.total[root]);
  for (let node = root; node < one.end[root]; node++) {
    const x = (one.left[node] - begin) * scale;
    const size = one.total[node] * scale;
    const isInRow = one.depth[node] - one.depth[root] - firstRow === row;
    if (isInRow && x < width - TOLERANCE && x + size > TOLERANCE && size > 0) {
      nodes.push({ node, x, size });
    }
  }
  return nodes;
}

/** @param {number} seed @param {ContextTree} one @returns {FlameView} */
function randomView(seed, one) {
  const random = randomNumbers(seed);
  const [a, b] = [random(), random()].sort();
  const isWhole = seed % 3 === 0;
  return {
    root: seed % 2 === 0 ? 0 : Math.floor(random() * one.count),
    from: isWhole ? 0 : a,
    to: isWhole ? 1 : b,
    width: 30 + Math.floor(random() * 400),
    firstRow: Math.floor(random() * 4),
    rows: 1 + Math.floor(random() * 20),
  };
}

test("wide frames are rectangles, and each narrow one is in a sliver", () => {
  const rectangles = new flame.Rectangles();
  for (let seed = 0; seed < 200; seed++) {
    const one = tree(seed, 30 + ((seed * 53) % 1500));
    const view = randomView(seed, one);
    if (one.total[view.root] === 0) {
      continue;
    }
    flame.layoutFlame(one, view, rectangles);
    for (let row = 0; row < view.rows; row++) {
      const [start, end] = [rectangles.rowStart[row], rectangles.rowStart[row + 1]];
      assert.ok(end - start <= 4 * view.width + 4);
      for (const { node, x, size } of visibleNodes(one, view, row)) {
        let found = -1;
        for (let at = start; at < end; at++) {
          const first = rectangles.position[at];
          const nodes = one.levelNodes.subarray(first, first + rectangles.merged[at]);
          found = nodes.includes(node) ? at : found;
        }
        assert.ok(found >= 0, `node ${node} is in a rectangle`);
        if (size >= flame.MIN_WIDTH + TOLERANCE) {
          assert.equal(rectangles.merged[found], 1);
          assert.ok(Math.abs(rectangles.x[found] - x) < TOLERANCE);
          assert.ok(Math.abs(rectangles.width[found] - size) < TOLERANCE);
          const hit = flame.rectangleAt(rectangles, Math.max(0, x) + TOLERANCE, row);
          assert.equal(rectangles.node[hit], node);
        } else {
          assert.ok(rectangles.width[found] <= 2 * flame.MIN_WIDTH + TOLERANCE);
        }
      }
    }
  }
});

test("no rectangle is outside of the visible part, and none overlaps the next one", () => {
  for (let seed = 0; seed < 200; seed++) {
    const one = tree(seed, 200);
    const view = randomView(seed, one);
    const { node, x, width, rowStart } = flame.layoutFlame(one, view);
    for (let row = 0; row < view.rows; row++) {
      for (let at = rowStart[row]; at < rowStart[row + 1]; at++) {
        assert.ok(node[at] >= view.root && node[at] < one.end[view.root]);
        assert.equal(one.depth[node[at]], one.depth[view.root] + view.firstRow + row);
        assert.ok(x[at] < view.width && x[at] + width[at] > -TOLERANCE);
        assert.ok(at + 1 === rowStart[row + 1] || x[at] + width[at] <= x[at + 1] + TOLERANCE);
      }
    }
  }
});

test("a root without weight is a rectangle over the whole width", () => {
  const document = randomDocument(1, { contexts: 10, methods: 3 });
  document.contexts.forEach((context) => (context.self_ns = 0));
  const one = /** @type {ContextTree} */ (buildTree(readProfile(document), { measure: "self" }));
  const view = { root: 0, from: 0, to: 1, width: 100, firstRow: 0, rows: 5 };
  const { count, width } = flame.layoutFlame(one, view);
  assert.deepEqual([count, width[0]], [1, 100]);
});

test("the number of rows is that of the deepest node", () => {
  for (let seed = 0; seed < 50; seed++) {
    const one = tree(seed, 120);
    for (let root = 0; root < one.count; root++) {
      const deepest = Math.max(...one.depth.subarray(root, one.end[root]));
      assert.equal(flame.rowCount(one, root), deepest - one.depth[root] + 1);
    }
  }
});

test("keys move to neighbours at or below the root", () => {
  const one = tree(9, 300);
  const after = (/** @type {number} */ root, /** @type {number} */ node, /** @type {string} */ key) =>
    flame.nodeAfterKey(one, root, node, key);
  for (let root = 0; root < one.count; root += 5) {
    for (let node = root; node < one.end[root]; node++) {
      for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "x"]) {
        const next = after(root, node, key);
        assert.ok(next >= root && next < one.end[root]);
      }
      const right = after(root, node, "ArrowRight");
      assert.equal(one.depth[right], one.depth[node]);
      assert.ok(right === node || after(root, right, "ArrowLeft") === node);
      assert.equal(after(root, node, "ArrowUp"), node === root ? root : one.parent[node]);
      assert.equal(after(root, node, "Home"), root);
      const down = after(root, node, "ArrowDown");
      assert.ok(down === node ? one.end[node] === node + 1 : one.parent[down] === node);
    }
  }
});

test("enlarged and moved parts stay within the root", () => {
  const random = randomNumbers(17);
  let part = { from: 0, to: 1 };
  for (let round = 0; round < 5000; round++) {
    const isZoom = random() < 0.5;
    const place = random();
    const next = isZoom
      ? flame.zoomedPart(part, 0.2 + 2 * random(), place)
      : flame.movedPart(part, random() - 0.5);
    assert.ok(next.from >= 0 && next.to <= 1 + 1e-12 && next.to > next.from);
    part = next;
  }
  const fixed = flame.zoomedPart({ from: 0.2, to: 0.6 }, 0.5, 0.25);
  assert.ok(Math.abs(fixed.from - 0.25) < 1e-12 && Math.abs(fixed.to - 0.45) < 1e-12);
});

test("the part moves to a node that it does not show", () => {
  const one = tree(21, 300);
  for (let node = 1; node < one.count; node++) {
    for (const from of [0, 0.3, 0.85]) {
      const part = { from, to: from + 0.1 };
      const shown = flame.partWithNode(one, 0, part, node);
      const begin = one.left[node] / one.total[0];
      const end = begin + one.total[node] / one.total[0];
      assert.ok(end >= shown.from - 1e-9 && begin <= shown.to + 1e-9);
      assert.ok(Math.abs(shown.to - shown.from - 0.1) < 1e-9);
    }
  }
});

test("a frame of a million nodes takes less than a frame time", (context) => {
  const one = tree(1, 1_000_000);
  const rectangles = new flame.Rectangles();
  const times = { whole: 0, zoomed: 0 };
  let most = 0;
  for (const [name, part] of Object.entries({ whole: { from: 0, to: 1 }, zoomed: { from: 0.4, to: 0.41 } })) {
    const view = { root: 0, ...part, width: 1600, firstRow: 0, rows: 45 };
    flame.layoutFlame(one, view, rectangles);
    const begin = process.cpuUsage();
    for (let round = 0; round < 50; round++) {
      flame.layoutFlame(one, view, rectangles);
    }
    const { user, system } = process.cpuUsage(begin);
    times[/** @type {"whole" | "zoomed"} */ (name)] = (user + system) / 50_000;
    most = Math.max(most, rectangles.count);
  }
  context.diagnostic(
    `${one.count} nodes, ${one.levelStart.length - 1} levels, at most ${most} rectangles: ` +
      `${times.whole.toFixed(2)} ms for the whole tree, ${times.zoomed.toFixed(2)} ms for a part, of processor time`,
  );
  assert.ok(times.whole < 16 && times.zoomed < 16);
});
