// Dominators and loops against their definitions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { analyseFlowGraph, isAncestor } from "../lib/flow-graph.js";
import { dominancePairs, graphOf, isAcyclic, naturalLoops, randomGraph, structuredGraph } from "./flow-oracles.js";

/** @typedef {import("../lib/flow-graph.js").FlowAnalysis} FlowAnalysis */

/**
 * Header → blocks of all loops, as block numbers.
 * @param {FlowAnalysis} analysis
 */
function loopBodies(analysis) {
  /** @type {Map<number, Set<number>>} */
  const bodies = new Map();
  for (let block = 0; block < analysis.count; block += 1) {
    for (let loop = analysis.loopOf[block]; loop >= 0; loop = analysis.loops[loop].parent) {
      const header = analysis.numbers[analysis.loops[loop].header];
      bodies.set(header, (bodies.get(header) ?? new Set()).add(analysis.numbers[block]));
    }
  }
  return bodies;
}

/** @param {Map<number, Set<number>>} bodies */
const sorted = (bodies) =>
  [...bodies]
    .sort((a, b) => a[0] - b[0])
    .map(([header, blocks]) => [header, [...blocks].sort((a, b) => a - b)]);

test("dominators agree with the definition on random graphs", () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const graph = randomGraph(seed, 2 + (seed % 17));
    const analysis = analyseFlowGraph(graph);
    const pairs = new Set();
    for (let block = 0; block < analysis.count; block += 1) {
      if (!analysis.reached[block]) continue;
      for (let above = block; above >= 0; above = analysis.dominators[above]) pairs.add(`${above} ${block}`);
    }
    // The oracle must not see edges out of unreached blocks either.
    assert.deepEqual([...pairs].sort(), [...dominancePairs(graph)].sort(), `seed ${seed}`);
  }
});

test("loops of reducible graphs are the natural loops", () => {
  let loops = 0;
  for (let seed = 0; seed < 200; seed += 1) {
    const graph = structuredGraph(seed, 3 + (seed % 25));
    const bodies = loopBodies(analyseFlowGraph(graph));
    loops += bodies.size;
    assert.deepEqual(sorted(bodies), sorted(naturalLoops(graph)), `seed ${seed}`);
  }
  assert.ok(loops > 200, "the graphs contain loops");
});

test("without edges to depth-first ancestors no cycle remains, and each such edge ends at the header of a loop", () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const analysis = analyseFlowGraph(randomGraph(seed, 2 + (seed % 20)));
    const forward = analysis.edges.filter(([from, to]) => !isAncestor(analysis, to, from));
    assert.ok(isAcyclic([...analysis.numbers.keys()], forward), `seed ${seed}`);
    for (const [from, to] of analysis.edges) {
      if (!isAncestor(analysis, to, from)) continue;
      let loop = analysis.loopOf[from];
      while (loop >= 0 && analysis.loops[loop].header !== to) loop = analysis.loops[loop].parent;
      assert.ok(loop >= 0, `seed ${seed}: ${from} → ${to}`);
    }
  }
});

test("inner loops precede outer loops, and depths count the nesting", () => {
  for (let seed = 0; seed < 100; seed += 1) {
    const { loops } = analyseFlowGraph(randomGraph(seed, 40));
    loops.forEach((loop, index) => {
      assert.ok(loop.parent === -1 || loop.parent > index);
      assert.equal(loop.depth, loop.parent < 0 ? 1 : loops[loop.parent].depth + 1);
    });
  }
});

test("an irreducible cycle is a loop whose header is its first entry", () => {
  const analysis = analyseFlowGraph(graphOf([0, 1, 2, 3], [[0, 1], [0, 2], [1, 2], [2, 1], [1, 3]]));
  assert.deepEqual(sorted(loopBodies(analysis)), [[1, [1, 2]]]);
});

test("reverse postorder puts blocks before their successors except along back edges", () => {
  for (let seed = 0; seed < 100; seed += 1) {
    const analysis = analyseFlowGraph(randomGraph(seed, 30));
    const position = new Map(Array.from(analysis.reversePostorder, (block, index) => [block, index]));
    for (const [from, to] of analysis.edges) {
      if (isAncestor(analysis, to, from)) continue;
      assert.ok(Number(position.get(from)) < Number(position.get(to)));
    }
  }
});

test("a new block on an edge does not change the order of its neighbours in the dominator tree", () => {
  for (let seed = 0; seed < 100; seed += 1) {
    const graph = structuredGraph(seed, 20);
    const before = analyseFlowGraph(graph);
    const [from, to] = graph.edges[seed % graph.edges.length];
    const edges = graph.edges.filter(([a, b]) => a !== from || b !== to);
    const changed = graphOf([...before.numbers, 999], [...edges, [from, 999], [999, to]]);
    const after = analyseFlowGraph(changed);
    /** @param {FlowAnalysis} analysis */
    const order = (analysis) =>
      analysis.numbers
        .filter((number) => number !== 999)
        .sort((a, b) => position(analysis, a) - position(analysis, b));
    /** @param {FlowAnalysis} analysis @param {number} number */
    const position = (analysis, number) => analysis.dominatorOrder[Number(analysis.indexes.get(number))];
    assert.deepEqual(order(after), order(before), `seed ${seed}`);
  }
});

test("empty graphs, graphs without block 0, and edges to missing blocks", () => {
  assert.equal(analyseFlowGraph(graphOf([], [])).count, 0);
  const analysis = analyseFlowGraph(graphOf([7, 3], [[3, 7], [3, 3], [3, 3], [3, 99]]));
  assert.deepEqual(analysis.numbers, [3, 7]);
  assert.deepEqual(analysis.edges, [[0, 0], [0, 1]]);
  assert.deepEqual([...analysis.reached], [1, 1]);
});
