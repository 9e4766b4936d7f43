// Arrow keys in a graph.

import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutFlowGraph } from "../lib/flow-layout.js";
import { neighbour, nextEdge } from "../lib/flow-walk.js";
import { graphOf, randomGraph } from "./flow-oracles.js";

const sizeOf = () => ({ width: 160, height: 80 });

test("a branch in a loop", () => {
  /** @type {[number, number][]} */
  const edges = [[0, 1], [1, 2], [1, 3], [2, 4], [3, 4], [4, 1], [4, 5], [5, 5]];
  const layout = layoutFlowGraph(graphOf([0, 1, 2, 3, 4, 5], edges), sizeOf);
  assert.equal(neighbour(layout, 0, "down"), 1);
  assert.equal(neighbour(layout, 2, "right"), 3);
  assert.equal(neighbour(layout, 3, "left"), 2);
  assert.equal(neighbour(layout, 2, "left"), null);
  assert.equal(neighbour(layout, 4, "down"), 5, "the edge forward comes before the back edge");
  assert.equal(neighbour(layout, 1, "up"), 0);
  assert.equal(neighbour(layout, 5, "down"), null, "a self edge leads nowhere");
  assert.equal(neighbour(layout, 0, "up"), null);
  assert.equal(neighbour(layout, 99, "up"), null);
  assert.deepEqual(nextEdge(layout, 4, null, 1), [4, 1]);
  assert.deepEqual(nextEdge(layout, 4, 1, 1), [4, 5]);
  assert.deepEqual(nextEdge(layout, 4, 5, 1), [4, 1]);
  assert.deepEqual(nextEdge(layout, 4, null, -1), [4, 5]);
});

test("down and up follow edges, left and right stay at the same height", () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const graph = randomGraph(seed, 20);
    const layout = layoutFlowGraph(graph, sizeOf);
    for (const block of layout.blocks.values()) {
      const down = neighbour(layout, block.number, "down");
      const successors = graph.edges.filter(([from, to]) => from === block.number && to !== from).map(([, to]) => to);
      assert.equal(down === null, successors.length === 0);
      if (down !== null) assert.ok(successors.includes(down));
      const right = layout.blocks.get(neighbour(layout, block.number, "right") ?? -1);
      if (right) assert.ok(right.x > block.x && right.y < block.y + block.height && block.y < right.y + right.height);
    }
  }
});
