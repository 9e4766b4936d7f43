// What the flame graph says about a frame, as text.

import { changeText, countOf, countText, measureText } from "./call-figures.js";
import { shareText } from "./share.js";
import { levelRange } from "./tree-builder.js";

/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */

/**
 * The totals of each node in two recordings.
 * @typedef {Omit<import("./tree-difference.js").TreeDifference, "tree">} Difference
 */

/** @typedef {{term: string, value: string}} Fact */

/**
 * @param {ContextTree} tree
 * @param {number} node
 * @param {number} root the frame that has the whole width
 * @param {Difference | null} difference
 * @returns {Fact[]}
 */
export function frameFacts(tree, node, root, difference) {
  const { measure, total, own, calls, inverted } = tree;
  /** @type {Fact[]} */
  const facts = [];
  if (difference !== null) {
    const { before, after, callsBefore, callsAfter } = difference;
    facts.push(
      { term: "before", value: measureText(measure, before[node]) },
      { term: "after", value: measureText(measure, after[node]) },
      { term: "change", value: changeText(measure, before[node], after[node]) },
    );
    if (measure !== "calls" && node !== 0) {
      facts.push({ term: "calls", value: changeText("calls", callsBefore[node], callsAfter[node]) });
    }
  } else {
    if (node !== 0) {
      facts.push({ term: "calls", value: countText(calls[node]) });
    }
    facts.push({ term: "total", value: measureText(measure, total[node]) });
    // In an inverted tree, the weights of a node belong to the method above it.
    if (!inverted) {
      facts.push({ term: "self", value: measureText(measure, own[node]) });
    }
  }
  if (root !== 0 && node !== root) {
    facts.push({ term: "of the shown frame", value: shareText(total[node], total[root]) });
  }
  facts.push({ term: "of all", value: shareText(total[node], total[0]) });
  return facts;
}

/**
 * A sentence for assistive technology.
 * @param {ContextTree} tree
 * @param {number} node
 * @param {number} root
 * @param {Difference | null} difference
 * @returns {string}
 */
export function frameSentence(tree, node, root, difference) {
  const facts = frameFacts(tree, node, root, difference);
  const isShare = (/** @type {Fact} */ { term }) => term.startsWith("of ");
  const texts = facts.map((fact) =>
    isShare(fact) ? `${fact.value} ${fact.term}` : `${fact.term} ${fact.value}`,
  );
  const noun = tree.inverted ? "caller" : "frame";
  const end = `${countOf(directBelow(tree, node), noun, `${noun}s`)} below`;
  const level = tree.depth[node] - tree.depth[root] + 1;
  return `${tree.frames[tree.frame[node]].label}, level ${level}, ${texts.join(", ")}, ${end}`;
}

/**
 * The number of children.
 * @param {ContextTree} tree
 * @param {number} node
 */
function directBelow(tree, node) {
  if (tree.end[node] === node + 1) {
    return 0;
  }
  const { first, last } = levelRange(tree, node, tree.depth[node] + 1);
  return last - first;
}

/**
 * What a sliver stands for.
 * @param {ContextTree} tree
 * @param {number} position the first of its nodes in `levelNodes`
 * @param {number} merged the number of its nodes
 * @returns {string}
 */
export function sliverText(tree, position, merged) {
  let weight = 0;
  for (let at = position; at < position + merged; at++) {
    weight += tree.total[tree.levelNodes[at]];
  }
  const frames = countOf(merged, "frame", "frames");
  return `${frames} narrower than half a pixel, together ${measureText(tree.measure, weight)}. Click to enlarge.`;
}

/**
 * The result of a search for people.
 * @param {ContextTree} tree
 * @param {number} root
 * @param {{nodes: number, weight: number}} matched
 * @returns {string}
 */
export function matchText(tree, root, { nodes, weight }) {
  const frames = countOf(nodes, "frame", "frames");
  const share = shareText(weight, tree.total[root]);
  return `Found in ${frames}: ${share} of ${root === 0 ? "all" : "the shown frame"}`;
}

/**
 * The nodes from the root of the tree to a node; the middle ones are left out if there are more than
 * `most`.
 * @param {ContextTree} tree
 * @param {number} node
 * @param {number} most
 * @returns {{nodes: number[], omitted: number}} the omitted ones are after the first one
 */
export function pathToNode(tree, node, most) {
  const nodes = [];
  for (let at = node; at >= 0; at = tree.parent[at]) {
    nodes.unshift(at);
  }
  const omitted = Math.max(0, nodes.length - most);
  nodes.splice(1, omitted);
  return { nodes, omitted };
}
