// Invariants of the layout, on random, structured and extreme graphs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutFlowGraph } from "../lib/flow-layout.js";
import { graphOf, naturalLoops, randomGraph, randomNumbers, reachedFrom, structuredGraph } from "./flow-oracles.js";

/** @typedef {import("../lib/graph-types.js").Graph} Graph */
/** @typedef {import("../lib/flow-layout.js").FlowLayout} FlowLayout */
/** @typedef {{x: number, y: number, width: number, height: number}} Rectangle */

/** @param {{number: number}} block */
const sizeOf = ({ number }) => ({ width: 40 + ((number * 37) % 161), height: 20 + ((number * 53) % 97) });

/** @param {Rectangle} a @param {Rectangle} b */
const overlap = (a, b) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** @param {Rectangle} outer @param {Rectangle} inner */
const contains = (outer, inner) =>
  outer.x <= inner.x &&
  outer.y <= inner.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

/**
 * The rectangle around a segment, without its ends and made thin enough to touch borders.
 * @param {[number, number]} a
 * @param {[number, number]} b
 */
const thin = ([ax, ay], [bx, by]) => ({
  x: Math.min(ax, bx) + (ay === by ? 0.001 : 0),
  y: Math.min(ay, by) + (ay === by ? 0 : 0.001),
  width: Math.max(0, Math.abs(ax - bx) - 0.002),
  height: Math.max(0, Math.abs(ay - by) - 0.002),
});

/**
 * @param {Graph} graph
 * @param {FlowLayout} layout
 * @param {string} name
 */
function checkLayout(graph, layout, name) {
  const blocks = [...layout.blocks.values()];
  assert.equal(blocks.length, new Set(graph.blocks.map((block) => block.number)).size, name);
  const picture = { x: 0, y: 0, width: layout.width, height: layout.height };
  blocks.forEach((block, i) => {
    assert.ok(contains(picture, block), `${name}: block ${block.number} is in the picture`);
    for (let k = 0; k < i; k += 1) {
      assert.ok(!overlap(block, blocks[k]), `${name}: ${block.number} and ${blocks[k].number} overlap`);
    }
  });
  checkEdges(graph, layout, name);
  for (const loop of layout.loops) {
    const inside = blocks.filter((block) => contains(loop, block)).map((block) => block.number);
    assert.deepEqual(inside.sort((a, b) => a - b), loop.blocks, `${name}: the loop of ${loop.header}`);
    for (const block of blocks) {
      assert.ok(overlap(loop, block) === loop.blocks.includes(block.number), `${name}: ${loop.header}`);
    }
  }
}

/**
 * @param {Graph} graph
 * @param {FlowLayout} layout
 * @param {string} name
 */
function checkEdges(graph, layout, name) {
  const pairs = new Set(graph.edges.map(([from, to]) => `${from}>${to}`));
  assert.deepEqual(new Set(layout.edges.map(({ from, to }) => `${from}>${to}`)), pairs, name);
  assert.equal(layout.edges.length, pairs.size, name);
  for (const { from, to, kind, points } of layout.edges) {
    const source = /** @type {Rectangle} */ (layout.blocks.get(from));
    const target = /** @type {Rectangle} */ (layout.blocks.get(to));
    const edge = `${name}: ${from}>${to}`;
    const first = points[0];
    const last = points[points.length - 1];
    assert.equal(first[1], source.y + source.height, edge);
    assert.equal(last[1], target.y, edge);
    assert.ok(source.x <= first[0] && first[0] <= source.x + source.width, edge);
    assert.ok(target.x <= last[0] && last[0] <= target.x + target.width, edge);
    assert.equal(kind === "self", from === to, edge);
    if (kind === "forward") assert.ok(source.y + source.height < target.y, `${edge} goes down`);
    else assert.ok(layout.loops.some((loop) => loop.header === to && loop.blocks.includes(from)), edge);
    for (let i = 1; i < points.length; i += 1) {
      const [[ax, ay], [bx, by]] = [points[i - 1], points[i]];
      assert.ok(Math.abs(ax - bx) < 0.01 || ay === by, `${edge} has right angles`);
      if (kind === "forward") assert.ok(ay <= by, `${edge} never goes up`);
      const segment = thin(points[i - 1], points[i]);
      for (const block of layout.blocks.values()) {
        assert.ok(!overlap(segment, block), `${edge} passes through block ${block.number}`);
      }
    }
  }
}

test("random graphs", () => {
  for (let seed = 0; seed < 400; seed += 1) {
    const graph = randomGraph(seed, 1 + (seed % 40), seed % 3 === 0 ? 4 : undefined);
    checkLayout(graph, layoutFlowGraph(graph, sizeOf), `seed ${seed}`);
  }
});

test("structured graphs", () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const graph = structuredGraph(seed, 2 + (seed % 50));
    const layout = layoutFlowGraph(graph, sizeOf);
    checkLayout(graph, layout, `seed ${seed}`);
    const expected = [...naturalLoops(graph)].map(([header, blocks]) => [header, [...blocks].sort((a, b) => a - b)]);
    const actual = layout.loops.map((loop) => [loop.header, loop.blocks]);
    assert.deepEqual(new Map(/** @type {any} */ (actual)), new Map(/** @type {any} */ (expected)), `seed ${seed}`);
  }
});

test("larger graphs, with trunks and lanes", () => {
  for (let seed = 0; seed < 6; seed += 1) {
    const graph = seed % 2 === 0 ? randomGraph(seed, 220) : structuredGraph(seed, 300);
    checkLayout(graph, layoutFlowGraph(graph, sizeOf), `seed ${seed}`);
  }
  /** @type {[number, number][]} a chain of 150 branches to a common exit, which is too far for a trunk */
  const chain = [];
  for (let i = 0; i < 150; i += 1) chain.push([i, i + 1], [i, 151]);
  const graph = graphOf(Array.from({ length: 152 }, (_, i) => i), chain);
  checkLayout(graph, layoutFlowGraph(graph, sizeOf), "common exit");
});

test("the order of blocks and edges, and duplicates, do not matter", () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const graph = randomGraph(seed, 25);
    const random = randomNumbers(seed);
    const shuffled = { ...graph, blocks: [...graph.blocks], edges: [...graph.edges, ...graph.edges] };
    shuffled.blocks.sort(() => random() - 0.5);
    shuffled.edges.sort(() => random() - 0.5);
    const layout = layoutFlowGraph(graph, sizeOf);
    const other = layoutFlowGraph(shuffled, sizeOf);
    assert.deepEqual(other.edges, layout.edges);
    assert.deepEqual(other.loops.map((loop) => ({ ...loop })), layout.loops.map((loop) => ({ ...loop })));
    assert.deepEqual(new Map([...other.blocks]), new Map([...layout.blocks]));
  }
});

test("blocks that no edge reaches are marked and to the right of the reached blocks beside them", () => {
  for (let seed = 0; seed < 100; seed += 1) {
    const graph = randomGraph(seed, 30);
    const { blocks } = layoutFlowGraph(graph, sizeOf);
    const reached = reachedFrom(graph, 0);
    for (const block of blocks.values()) assert.equal(block.reached, reached.has(block.number));
    for (const a of blocks.values()) {
      for (const b of blocks.values()) {
        if (a.y === b.y && a.reached && !b.reached) assert.ok(a.x < b.x, `seed ${seed}`);
      }
    }
  }
});

test("a new block on an edge does not change which block is left of which", () => {
  for (let seed = 0; seed < 100; seed += 1) {
    const graph = structuredGraph(seed, 40);
    const before = layoutFlowGraph(graph, sizeOf);
    const [from, to] = graph.edges[(seed * 7) % graph.edges.length];
    const edges = graph.edges.filter(([a, b]) => a !== from || b !== to);
    const numbers = graph.blocks.map((block) => block.number);
    const after = layoutFlowGraph(graphOf([...numbers, 999], [...edges, [from, 999], [999, to]]), sizeOf);
    for (const a of numbers) {
      for (const b of numbers) {
        const [oldA, oldB] = [before.blocks.get(a), before.blocks.get(b)];
        const [newA, newB] = [after.blocks.get(a), after.blocks.get(b)];
        if (!oldA || !oldB || !newA || !newB) assert.fail();
        if (oldA.y !== oldB.y || newA.y !== newB.y) continue;
        assert.equal(newA.x < newB.x, oldA.x < oldB.x, `seed ${seed}: ${a} and ${b}`);
      }
    }
  }
});

test("a change inside a loop leaves everything above the loop where it is, relative to the header", () => {
  /** @type {[number, number][]} */
  const edges = [[0, 1], [0, 5], [1, 2], [2, 3], [3, 2], [2, 4], [4, 6], [5, 6]];
  const before = layoutFlowGraph(graphOf([0, 1, 2, 3, 4, 5, 6], edges), sizeOf);
  const added = /** @type {[number, number][]} */ ([...edges, [2, 7], [7, 3]]);
  const after = layoutFlowGraph(graphOf([0, 1, 2, 3, 4, 5, 6, 7], added), sizeOf);
  /** @param {FlowLayout} layout @param {number} number */
  const place = (layout, number) => {
    const block = layout.blocks.get(number);
    const header = layout.blocks.get(2);
    if (!block || !header) assert.fail();
    return [block.x - header.x, block.y - header.y];
  };
  assert.deepEqual(place(after, 1), place(before, 1));
});

test("one block, no block, a self edge, and a dead cycle", () => {
  assert.deepEqual([...layoutFlowGraph(graphOf([], []), sizeOf).blocks], []);
  const one = layoutFlowGraph(graphOf([0], []), sizeOf);
  assert.equal(one.blocks.size, 1);
  assert.ok(one.width < 80 && one.height < 60, "the picture is hardly larger than the block");
  const self = graphOf([0], [[0, 0], [0, 0]]);
  checkLayout(self, layoutFlowGraph(self, sizeOf), "self");
  const dead = graphOf([0, 1, 2], [[1, 2], [2, 1]]);
  checkLayout(dead, layoutFlowGraph(dead, sizeOf), "dead cycle");
});

test("a straight chain is one column of straight lines", () => {
  const graph = graphOf([0, 1, 2, 3], [[0, 1], [1, 2], [2, 3]]);
  const { edges } = layoutFlowGraph(graph, () => ({ width: 100, height: 40 }));
  assert.deepEqual(edges.map((edge) => edge.points.length), [2, 2, 2]);
});

test("branches without an alternative keep the blocks in one column", () => {
  const graph = graphOf([0, 1, 2, 3, 4], [[0, 1], [0, 2], [1, 2], [2, 3], [2, 4], [3, 4]]);
  const { blocks } = layoutFlowGraph(graph, () => ({ width: 100, height: 40 }));
  assert.equal(new Set([...blocks.values()].map((block) => block.x)).size, 1);
});
