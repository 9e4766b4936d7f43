// What is below the pointer, and which lines a frame draws.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hitTest, indexFlowLayout } from "../lib/flow-index.js";
import { layoutFlowGraph } from "../lib/flow-layout.js";
import { collectLines } from "../lib/flow-strokes.js";
import { graphOf, randomGraph, randomNumbers, structuredGraph } from "./flow-oracles.js";

const sizeOf = () => ({ width: 160, height: 80 });

test("every block and every edge is found at its own places", () => {
  for (let seed = 0; seed < 40; seed += 1) {
    const layout = layoutFlowGraph(randomGraph(seed, 25), sizeOf);
    const index = indexFlowLayout(layout);
    for (const block of layout.blocks.values()) {
      const found = hitTest(index, block.x + block.width / 3, block.y + block.height / 2, 4);
      assert.deepEqual(found, { block: block.number });
    }
    for (const { points } of layout.edges) {
      for (let i = 1; i < points.length; i += 1) {
        const [x, y] = [(points[i - 1][0] + points[i][0]) / 2, (points[i - 1][1] + points[i][1]) / 2];
        const found = hitTest(index, x, y, 4);
        assert.ok(found && "edge" in found, `seed ${seed}`);
      }
    }
    assert.equal(hitTest(index, -100, -100, 4), null);
  }
});

/**
 * The segments of all edges on the screen, without joining.
 * @param {ReturnType<typeof indexFlowLayout>} index
 * @param {import("../lib/flow-view.js").View} view
 */
const onScreen = (index, view) =>
  Array.from({ length: index.edgeOf.length }, (_, i) => ({
    edge: index.edgeOf[i],
    left: (index.segments[4 * i] - view.x) * view.zoom,
    top: (index.segments[4 * i + 1] - view.y) * view.zoom,
    right: (index.segments[4 * i + 2] - view.x) * view.zoom,
    bottom: (index.segments[4 * i + 3] - view.y) * view.zoom,
  }));

test("joined lines cover the visible segments of the same heat, and nothing else", () => {
  const window = { width: 700, height: 500 };
  for (let seed = 0; seed < 30; seed += 1) {
    const random = randomNumbers(seed);
    const index = indexFlowLayout(layoutFlowGraph(structuredGraph(seed, 60), sizeOf));
    const steps = Uint8Array.from(index.edges, () => Math.floor(random() * 7));
    const view = { x: random() * 300, y: random() * 3000, zoom: 0.1 + random() };
    const lines = collectLines(index, view, window, steps);
    const segments = onScreen(index, view);
    /** @param {number} step @param {number} x @param {number} y */
    const drawn = (step, x, y) => {
      for (let i = 0; i < lines[step].length; i += 4) {
        const [x0, y0, x1, y1] = lines[step].slice(i, i + 4);
        if (x0 - 0.6 <= x && x <= x1 + 0.6 && y0 - 0.6 <= y && y <= y1 + 0.6) return true;
      }
      return false;
    };
    for (const { edge, left, top, right, bottom } of segments) {
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      const visible = x >= 0 && x <= window.width && y >= 0 && y <= window.height;
      if (visible && right - left + bottom - top > 1) assert.ok(drawn(steps[edge], x, y), `seed ${seed}`);
    }
    lines.forEach((line, step) => {
      for (let i = 0; i < line.length; i += 4) {
        const [x, y] = [(line[i] + line[i + 2]) / 2, (line[i + 1] + line[i + 3]) / 2];
        const covered = segments.some(
          (segment) =>
            steps[segment.edge] === step &&
            segment.left - 0.6 <= x && x <= segment.right + 0.6 && segment.top - 0.6 <= y && y <= segment.bottom + 0.6,
        );
        assert.ok(covered, `seed ${seed}`);
      }
    });
  }
});

test("the lines of 5,000 edges to a common exit are few", () => {
  /** @type {[number, number][]} */
  const edges = [];
  for (let i = 0; i < 5000; i += 1) edges.push([i, i + 1], [i, 5001]);
  const graph = graphOf(Array.from({ length: 5002 }, (_, i) => i), edges);
  const layout = layoutFlowGraph(graph, sizeOf);
  const index = indexFlowLayout(layout);
  const view = { x: 0, y: layout.height - 2000, zoom: 0.5 };
  const lines = collectLines(index, view, { width: 800, height: 600 }, new Uint8Array(index.edges.length));
  assert.ok(lines[0].length / 4 < 200, `${lines[0].length / 4} lines`);
});
