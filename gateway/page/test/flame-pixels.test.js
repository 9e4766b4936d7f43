// The pixels of flame graphs, compared with the colour of each rectangle in its middle.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readProfile } from "../lib/call-profile.js";
import { buildTree } from "../lib/context-tree.js";
import { flamePaints } from "../lib/flame-colours.js";
import { layoutFlame, Rectangles } from "../lib/flame-layout.js";
import { fillPixels, nodePaints, ROW_HEIGHT } from "../lib/flame-pixels.js";
import { differenceOfTrees } from "../lib/tree-difference.js";
import { searchTree } from "../lib/tree-search.js";
import { randomDocument } from "./random-profile.js";

/** @typedef {import("../lib/tree-builder.js").ContextTree} ContextTree */

const grey = (/** @type {number} */ level) => [level, level, level];
const paints = flamePaints({
  ground: grey(255),
  surface: grey(240),
  line: grey(200),
  text: grey(10),
  textSoft: grey(80),
  accent: [0, 0, 200],
  good: [0, 120, 250],
  bad: [200, 0, 0],
  heat: [0, 1, 2, 3, 4, 5, 6].map((step) => [250, 250 - 30 * step, 30 * step]),
  heatText: [0, 1, 2, 3, 4, 5, 6].map(() => grey(0)),
});

/** @param {number} seed @param {number} contexts */
function tree(seed, contexts) {
  const document = randomDocument(seed, { contexts, methods: 30, depth: 15 });
  return /** @type {ContextTree} */ (buildTree(readProfile(document), { measure: "self" }));
}

test("each frame has its colour in each of its lines, and a gap below it", () => {
  for (let seed = 0; seed < 60; seed++) {
    const one = tree(seed, 40 + seed * 5);
    const difference = seed % 3 === 0 ? differenceOfTrees(one, tree(seed + 500, 100)) : null;
    const shown = difference?.tree ?? one;
    const search = seed % 3 === 1 ? searchTree(shown, "method1") : null;
    const painting = { tree: shown, paints, search, difference };
    const ratio = [1, 1.25, 2][seed % 3];
    const view = { root: 0, from: seed % 2 === 0 ? 0 : 0.2, to: 1, width: 300, firstRow: 0, rows: 8 };
    const offset = -(seed % ROW_HEIGHT);
    const [columns, lines] = [Math.round(view.width * ratio), Math.round(150 * ratio)];
    const pixels = new Uint32Array(columns * lines);
    const rectangles = layoutFlame(shown, view);
    fillPixels(pixels, columns, painting, rectangles, { rows: view.rows, offset, ratio });
    const pixel = (/** @type {number} */ x, /** @type {number} */ y) => pixels[Math.floor(y) * columns + Math.floor(x)];
    const paint = nodePaints(painting);
    for (let row = 0; row < view.rows; row++) {
      for (let at = rectangles.rowStart[row]; at < rectangles.rowStart[row + 1]; at++) {
        const [left, right] = [Math.max(0, rectangles.x[at]), Math.min(300, rectangles.x[at] + rectangles.width[at])];
        const x = ((left + right) / 2) * ratio;
        const top = (row * ROW_HEIGHT + offset) * ratio;
        const bottom = top + (ROW_HEIGHT - 1) * ratio;
        for (let y = Math.max(0, Math.ceil(top)); y < Math.min(lines, Math.floor(bottom)); y++) {
          assert.ok(right - left < 3 || pixel(x, y) === paint(rectangles.node[at]).pixel);
        }
        const below = Math.round(bottom);
        assert.ok(below < 0 || below >= lines || pixel(x, below) === paints.ground.pixel);
      }
    }
  }
});

test("a sliver has the colour of a match if one of its nodes matches", () => {
  const one = tree(3, 20_000);
  const search = searchTree(one, "method7");
  const view = { root: 0, from: 0, to: 1, width: 40, firstRow: 0, rows: 12 };
  const rectangles = layoutFlame(one, view);
  const pixels = new Uint32Array(40 * 240);
  const place = { rows: 12, offset: 0, ratio: 1 };
  fillPixels(pixels, 40, { tree: one, paints, search, difference: null }, rectangles, place);
  assert.ok(pixels.includes(paints.match.pixel));
  const none = searchTree(one, "no such name");
  fillPixels(pixels, 40, { tree: one, paints, search: none, difference: null }, rectangles, place);
  assert.ok(!pixels.includes(paints.match.pixel));
});

test("a picture of a million nodes takes less than a frame time", (context) => {
  const one = tree(1, 1_000_000);
  const painting = { tree: one, paints, search: null, difference: null };
  const view = { root: 0, from: 0, to: 1, width: 1600, firstRow: 0, rows: 45 };
  const rectangles = new Rectangles();
  const pixels = new Uint32Array(1600 * 900);
  const place = { rows: view.rows, offset: 0, ratio: 1 };
  const draw = () => fillPixels(pixels, 1600, painting, layoutFlame(one, view, rectangles), place);
  draw();
  const begin = process.cpuUsage();
  for (let round = 0; round < 30; round++) {
    draw();
  }
  const { user, system } = process.cpuUsage(begin);
  const milliseconds = (user + system) / 30_000;
  context.diagnostic(`${rectangles.count} rectangles: ${milliseconds.toFixed(2)} ms of processor time with the layout`);
});
