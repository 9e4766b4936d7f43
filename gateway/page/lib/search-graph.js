// The coloured call graph of a search (`veneer search --graph OUT.json`): which nodes a picture shows, and
// their colours and texts. Pure.

import { shareText as percent } from "./share.js";
import { layoutGraph } from "./package-layout.js";

/**
 * @typedef {"holds" | "ruled_out" | "undecided"} Decision
 * @typedef {{id: string, class: string, method: string, file: string, line: number | null, state: Decision,
 *   share: number, low: number, high: number}} GraphNode
 * @typedef {{from: number, to: number, kind: "call" | "loop", samples: number}} GraphLink
 * @typedef {{seconds: number, threshold: number, nodes: GraphNode[], links: GraphLink[]}} SearchGraph
 */

/** The steps of heat above 0. */
const STEPS = 6;

/**
 * The name of a node without its package: `Desk.serve`, or the place of a loop.
 *
 * @param {GraphNode} node
 */
export function nodeName({ class: className, method, file, line }) {
  if (line !== null) {
    return `loop at ${file}:${line}`;
  }
  const short = className.slice(className.lastIndexOf(".") + 1);
  return short === "" ? method : `${short}.${method}`;
}

/**
 * The pattern that selects the method of a node, or null if its class is unknown.
 *
 * @param {GraphNode} node
 */
export function nodePattern({ class: className, method }) {
  return className === "" ? null : `${className}::${method}(..)`;
}

/**
 * The share of a node in words.
 *
 * @param {GraphNode} node
 */
export function shareText({ state, share, low, high }) {
  if (state === "undecided") {
    return `undecided, ${percent(low)} to ${percent(high)}`;
  }
  return state === "holds" ? percent(share) : `ruled out, ${percent(share)}`;
}

/**
 * The colour of a node: a step of heat that grows with the share, or 0 for a node that is not above the
 * threshold.
 *
 * @param {GraphNode} node
 * @returns {number} 0 to 6
 */
export function heatStep({ state, share }) {
  return state === "holds" ? Math.min(STEPS, Math.max(1, Math.ceil(share * STEPS))) : 0;
}

/**
 * The nodes by decision and share, those above the threshold first.
 *
 * @param {GraphNode[]} nodes
 * @returns {GraphNode[]}
 */
export function sortedNodes(nodes) {
  const rank = { holds: 2, undecided: 1, ruled_out: 0 };
  return [...nodes].sort(
    (a, b) => rank[b.state] - rank[a.state] || b.share - a.share || (a.id < b.id ? -1 : 1),
  );
}

/**
 * The part of a graph with the most important nodes. Nodes keep their order, so that the layout of a growing
 * graph changes little.
 *
 * @param {SearchGraph} graph
 * @param {number} most
 * @returns {{nodes: GraphNode[], links: GraphLink[]}}
 */
export function greatestNodes({ nodes, links }, most) {
  const kept = new Set(sortedNodes(nodes).slice(0, most));
  const shown = nodes.filter((node) => kept.has(node));
  const positions = new Map(shown.map((node, position) => [node, position]));
  const between = links.flatMap((link) => {
    const [from, to] = [positions.get(nodes[link.from]), positions.get(nodes[link.to])];
    return from === undefined || to === undefined || from === to ? [] : [{ ...link, from, to }];
  });
  return { nodes: shown, links: between };
}

/**
 * The layout of a picture. Samples do not influence it, because they change all the time.
 *
 * @param {{nodes: GraphNode[], links: GraphLink[]}} shown
 */
export function layoutNodes({ nodes, links }) {
  return layoutGraph(
    nodes.length,
    links.map(({ from, to }) => ({ from, to, calls: 1 })),
  );
}

/**
 * A text that is equal for graphs with the same layout.
 *
 * @param {{nodes: GraphNode[], links: GraphLink[]}} shown
 */
export function layoutKey({ nodes, links }) {
  return `${nodes.map(({ id }) => id).join(" ")}|${links.map(({ from, to }) => `${from}>${to}`).join(" ")}`;
}
