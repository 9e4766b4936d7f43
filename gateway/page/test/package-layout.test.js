// Folded call graphs and their layout: invariants on random graphs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readProfile } from "../lib/call-profile.js";
import { foldPackages, greatestGroups } from "../lib/package-folding.js";
import { layoutGraph, nodeOrder } from "../lib/package-layout.js";
import { randomDocument, randomNumbers } from "./random-profile.js";

/** @param {number} seed */
function profile(seed) {
  return randomDocument(seed, { contexts: 50 + ((seed * 31) % 400), methods: 5 + (seed % 60) });
}

/** @param {number} seed @param {number} count */
function randomLinks(seed, count) {
  const random = randomNumbers(seed);
  const links = new Map();
  for (let number = 0; number < count * 2; number++) {
    const [from, to] = [Math.floor(random() * count), Math.floor(random() * count)];
    if (from !== to) {
      links.set(`${from}>${to}`, { from, to, calls: 1 + Math.floor(random() * 100) });
    }
  }
  return [...links.values()];
}

test("folding keeps all calls", () => {
  for (let seed = 0; seed < 60; seed++) {
    const document = profile(seed);
    for (const expanded of [new Set(), new Set(["shop.part1", "shop.part3"])]) {
      const { groups, links } = foldPackages(readProfile(document), expanded);
      /** @type {Map<string, number>} */
      const expected = new Map();
      const nameOf = (/** @type {number} */ method) => {
        const { class: className } = document.methods[method];
        const packageName = className.slice(0, className.lastIndexOf("."));
        return expanded.has(packageName) ? className : packageName;
      };
      for (const { caller, callee, count } of document.edges) {
        const key = `${nameOf(caller)} ${nameOf(callee)}`;
        expected.set(key, (expected.get(key) ?? 0) + count);
      }
      const found = new Map();
      links.forEach(({ from, to, calls }) => found.set(`${groups[from].name} ${groups[to].name}`, calls));
      groups.forEach(({ name, inside }) => (inside > 0 ? found.set(`${name} ${name}`, inside) : null));
      assert.deepEqual([...found].sort(), [...expected].sort());
      const entries = document.methods.reduce((sum, method) => sum + method.entries, 0);
      assert.equal(groups.reduce((sum, { calls }) => sum + calls, 0), entries);
    }
  }
});

test("the greatest groups keep the links between them", () => {
  const graph = foldPackages(readProfile(profile(40)), new Set());
  const part = greatestGroups(graph, 3);
  assert.equal(part.groups.length, 3);
  const name = (/** @type {any} */ { groups }, /** @type {number} */ at) => groups[at].name;
  for (const { from, to, calls } of part.links) {
    const [a, b] = [name(part, from), name(part, to)];
    const found = graph.links.find((link) => name(graph, link.from) === a && name(graph, link.to) === b);
    assert.equal(found?.calls, calls);
  }
  assert.deepEqual(greatestGroups(graph, 1000), graph);
});

test("forward links lead to a later layer, and places of a layer do not overlap", () => {
  for (let seed = 0; seed < 200; seed++) {
    const count = 1 + (seed % 40);
    const links = randomLinks(seed, count);
    const { nodes, links: placed, layers, top, bottom } = layoutGraph(count, links);
    assert.equal(nodes.length, count);
    const seen = new Set(nodes.map(({ layer, row }) => `${layer} ${row}`));
    assert.equal(seen.size, count);
    for (const { from, to, isBackward, points } of placed) {
      assert.deepEqual(points[0], nodes[from]);
      assert.deepEqual(points.at(-1), nodes[to]);
      points.slice(1).forEach((point, at) => {
        assert.equal(point.layer, points[at].layer + (isBackward ? -1 : 1));
        assert.ok(point.layer >= 0 && point.layer < layers && point.row >= top && point.row <= bottom);
      });
    }
  }
});

test("a graph without cycles has no backward link", () => {
  for (let seed = 0; seed < 100; seed++) {
    const links = randomLinks(seed, 20).filter(({ from, to }) => from < to);
    assert.ok(layoutGraph(20, links).links.every(({ isBackward }) => !isBackward));
  }
});

test("at most half of the calls are against the order", () => {
  for (let seed = 0; seed < 200; seed++) {
    const links = randomLinks(seed, 15);
    const order = nodeOrder(15, links);
    const sum = (/** @type {typeof links} */ some) => some.reduce((all, { calls }) => all + calls, 0);
    assert.deepEqual([...order].sort((a, b) => a - b), order.map((_, node) => node));
    assert.ok(sum(links.filter(({ from, to }) => order[from] > order[to])) <= sum(links) / 2);
  }
});
