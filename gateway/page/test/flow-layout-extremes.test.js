// Methods of 10,000 blocks: the layout needs no recursion, and its time does not grow with the square.
//
// The limits are far above the usual times, which are printed, because machines of tests are slow
// and shared.

import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutFlowGraph } from "../lib/flow-layout.js";
import { graphOf, randomGraph, structuredGraph } from "./flow-oracles.js";

/** @typedef {[number, number][]} Edges */

const BLOCKS = 10_000;

/** @param {number} count */
const numbers = (count) => Array.from({ length: count }, (_, i) => i);

/** @param {Edges} edges */
const graphOfEdges = (edges) => graphOf(numbers(1 + edges.reduce((most, edge) => Math.max(most, ...edge), 0)), edges);

function chain() {
  return graphOfEdges(numbers(BLOCKS - 1).map((i) => [i, i + 1]));
}

function switchOf5000() {
  const cases = numbers(5000).map((i) => i + 1);
  return graphOfEdges(cases.flatMap((i) => /** @type {Edges} */ ([[0, i], [i, i + 5000], [i + 5000, 10_001]])));
}

/** A chain of branches that all lead to one exit. */
function commonExit() {
  return graphOfEdges(numbers(BLOCKS - 1).flatMap((i) => /** @type {Edges} */ ([[i, i + 1], [i, BLOCKS - 1]])));
}

/**
 * Sequences of nested loops: `depth` headers in a chain, then `depth` latches.
 * @param {number} depth
 */
function nests(depth) {
  /** @type {Edges} */
  const edges = [];
  for (let start = 0; start < BLOCKS - 2 * depth; start += 2 * depth) {
    for (let i = 0; i < 2 * depth; i += 1) edges.push([start + i, start + i + 1]);
    for (let i = 0; i < depth; i += 1) edges.push([start + 2 * depth - 1 - i, start + i]);
  }
  return graphOfEdges(edges);
}

const graphs = {
  chain: chain(),
  "switch of 5,000 cases": switchOf5000(),
  "branches to one exit": commonExit(),
  "nests of 100 loops": nests(100),
  "nest of 2,500 loops": nests(2500),
  structured: structuredGraph(1, 15_000),
  "random, local": randomGraph(2, BLOCKS, 6),
  random: randomGraph(4, BLOCKS),
};

for (const [name, graph] of Object.entries(graphs)) {
  test(name, { timeout: 60_000 }, (context) => {
    const start = performance.now();
    const layout = layoutFlowGraph(graph, ({ number: n }) => ({ width: 120 + (n % 90), height: 40 + (n % 150) }));
    const time = performance.now() - start;
    context.diagnostic(`${graph.blocks.length} blocks, ${layout.edges.length} edges: ${time.toFixed(0)} ms`);
    assert.equal(layout.blocks.size, graph.blocks.length);
    assert.ok(time < 30_000);
    for (const { from, to, kind } of layout.edges) {
      const [source, target] = [layout.blocks.get(from), layout.blocks.get(to)];
      if (!source || !target) assert.fail();
      if (kind === "forward") assert.ok(source.y + source.height < target.y);
    }
    if (name === "nest of 2,500 loops") assert.equal(Math.max(...layout.loops.map((loop) => loop.depth)), 2500);
  });
}
