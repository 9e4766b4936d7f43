// The rows of a tree table: which nodes are visible if some are expanded.

import { levelPosition, levelRange } from "./tree-builder.js";

/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */

/** A node is expanded at first if its heaviest child has at least this share of it. */
const PATH_SHARE = 0.5;
const MAX_PATH_LENGTH = 40;

/**
 * The visible nodes at and below a node, in the order of the table.
 * @param {ContextTree} tree
 * @param {Uint8Array} expanded 1 for each expanded node
 * @param {number} root
 * @returns {Int32Array}
 */
export function visibleNodes(tree, expanded, root) {
  let count = 0;
  for (let node = root; node < tree.end[root]; node = nextVisible(tree, expanded, node)) {
    count++;
  }
  const nodes = new Int32Array(count);
  let node = root;
  for (let row = 0; row < count; row++) {
    nodes[row] = node;
    node = nextVisible(tree, expanded, node);
  }
  return nodes;
}

/**
 * @param {ContextTree} tree
 * @param {Uint8Array} expanded
 * @param {number} node
 */
function nextVisible(tree, expanded, node) {
  return expanded[node] === 1 ? node + 1 : tree.end[node];
}

/**
 * Expands the path of the heaviest children, as long as one child has most of the weight.
 * @param {ContextTree} tree
 * @param {Uint8Array} expanded
 * @param {number} root
 */
export function expandHeaviestPath(tree, expanded, root) {
  let node = root;
  for (let depth = 0; depth < MAX_PATH_LENGTH && node + 1 < tree.end[node]; depth++) {
    expanded[node] = 1;
    const heaviest = node + 1;
    if (tree.total[heaviest] < PATH_SHARE * tree.total[node]) {
      return;
    }
    node = heaviest;
  }
}

/**
 * The position of a node among its siblings from 1, and their number, for assistive technology.
 * @param {ContextTree} tree
 * @param {number} node
 * @returns {{position: number, siblings: number}}
 */
export function siblingPosition(tree, node) {
  const parent = tree.parent[node];
  if (parent < 0) {
    return { position: 1, siblings: 1 };
  }
  // The nodes of this level below the parent are its children, in their order.
  const { first, last } = levelRange(tree, parent, tree.depth[node]);
  return { position: levelPosition(tree, node) - first + 1, siblings: last - first };
}

/**
 * Expands all nodes above a node.
 * @param {ContextTree} tree
 * @param {Uint8Array} expanded
 * @param {number} node
 */
export function expandTo(tree, expanded, node) {
  for (let at = tree.parent[node]; at >= 0; at = tree.parent[at]) {
    expanded[at] = 1;
  }
}

/**
 * The next node at or below `root` that matches a search, from the first one again after the last one.
 * @param {ContextTree} tree
 * @param {{frames: Uint8Array}} search
 * @param {number} root
 * @param {number} after
 * @returns {number} -1 if no node matches
 */
export function nextMatch(tree, { frames }, root, after) {
  const matches = (/** @type {number} */ node) => frames[tree.frame[node]] === 1;
  for (let node = Math.max(root, after + 1); node < tree.end[root]; node++) {
    if (matches(node)) {
      return node;
    }
  }
  for (let node = root; node <= Math.min(after, tree.end[root] - 1); node++) {
    if (matches(node)) {
      return node;
    }
  }
  return -1;
}
