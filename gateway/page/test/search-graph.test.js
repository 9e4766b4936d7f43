// Which nodes of a coloured call graph are shown, and how.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  greatestNodes,
  heatStep,
  layoutKey,
  layoutNodes,
  nodeName,
  nodePattern,
  shareText,
  sortedNodes,
} from "../lib/search-graph.js";

/** @typedef {import("../lib/search-graph.js").GraphNode} GraphNode */

/**
 * @param {string} id
 * @param {Partial<GraphNode>} more
 * @returns {GraphNode}
 */
function node(id, more = {}) {
  return {
    id,
    class: "shop.Desk",
    method: id,
    file: "Desk.java",
    line: null,
    state: "holds",
    share: 0.5,
    low: 0.4,
    high: 0.6,
    ...more,
  };
}

test("names and shares are as users read them", () => {
  assert.equal(nodeName(node("serve")), "Desk.serve");
  assert.equal(nodeName(node("serve", { line: 41 })), "loop at Desk.java:41");
  assert.equal(nodeName(node("method 7", { class: "", method: "method 7" })), "method 7");
  assert.equal(nodePattern(node("serve")), "shop.Desk::serve(..)");
  assert.equal(nodePattern(node("method 7", { class: "" })), null);
  assert.equal(shareText(node("a")), "50.0 %");
  assert.equal(shareText(node("a", { state: "ruled_out", share: 0.02 })), "ruled out, 2.0 %");
  assert.equal(shareText(node("a", { state: "undecided" })), "undecided, 40.0 % to 60.0 %");
});

test("only nodes above the threshold are coloured, the stronger the larger their share", () => {
  const steps = [0.05, 0.2, 0.4, 0.6, 0.8, 1].map((share) => heatStep(node("a", { share })));
  assert.deepEqual(steps, [1, 2, 3, 4, 5, 6]);
  assert.equal(heatStep(node("a", { state: "ruled_out" })), 0);
  assert.equal(heatStep(node("a", { state: "undecided", share: 1 })), 0);
});

test("a picture has the greatest nodes, and the links between them", () => {
  const nodes = [
    node("run", { share: 0.9 }),
    node("idle", { state: "ruled_out", share: 0.01 }),
    node("serve", { share: 0.6 }),
    node("open", { state: "undecided", share: 0.04 }),
  ];
  /** @type {import("../lib/search-graph.js").GraphLink[]} */
  const links = [
    { from: 0, to: 1, kind: "call", samples: 2 },
    { from: 0, to: 2, kind: "call", samples: 9 },
    { from: 2, to: 2, kind: "call", samples: 9 },
    { from: 2, to: 3, kind: "call", samples: 1 },
  ];
  const graph = { seconds: 1, threshold: 0.05, nodes, links };
  assert.deepEqual(
    sortedNodes(nodes).map(({ id }) => id),
    ["run", "serve", "open", "idle"],
  );
  const shown = greatestNodes(graph, 3);
  assert.deepEqual(
    shown.nodes.map(({ id }) => id),
    ["run", "serve", "open"],
  );
  assert.deepEqual(
    shown.links.map(({ from, to }) => [from, to]),
    [
      [0, 1],
      [1, 2],
    ],
  );
  const layout = layoutNodes(shown);
  assert.deepEqual(
    layout.nodes.map(({ layer }) => layer),
    [0, 1, 2],
  );
  // New shares and samples move nothing.
  const later = { ...shown, nodes: shown.nodes.map((one) => ({ ...one, share: 0.1 })) };
  assert.equal(layoutKey(later), layoutKey(shown));
});

test("recursion and large graphs have a layout", () => {
  const nodes = Array.from({ length: 300 }, (_, n) => node(`m${n}`, { share: 1 / (n + 1) }));
  const links = nodes.map((_, n) => ({
    from: n,
    to: (n * 7 + 1) % nodes.length,
    kind: /** @type {"call"} */ ("call"),
    samples: 1,
  }));
  const shown = greatestNodes({ seconds: 1, threshold: 0.05, nodes, links }, 40);
  const layout = layoutNodes(shown);
  assert.equal(layout.nodes.length, 40);
  assert.ok(layout.links.every(({ points }) => points.length >= 2));
});
