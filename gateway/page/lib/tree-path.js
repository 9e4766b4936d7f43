// Names of nodes for the address of the page.
//
// A node is named by its path of frames, so the name is valid for another order of siblings, another
// measure, and another recording of the same methods.

import { pairHash } from "./tree-builder.js";

/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */

const CHARACTER_FACTOR = 0x85ebca6b;

/**
 * A number for a text. It is the same in every session.
 * @param {string} text
 * @returns {number}
 */
export function textHash(text) {
  let mixed = 7;
  for (let at = 0; at < text.length; at++) {
    mixed = Math.imul(mixed ^ text.charCodeAt(at), CHARACTER_FACTOR);
    mixed ^= mixed >>> 13;
  }
  return mixed;
}

/**
 * Two numbers for the path from the root to each node. Equal paths of frames have equal numbers in all
 * trees.
 * @param {ContextTree} tree
 * @returns {{high: Int32Array, low: Int32Array}}
 */
function pathHashes(tree) {
  const names = tree.frames.map(({ identity }) => textHash(identity));
  const high = new Int32Array(tree.count);
  const low = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const above = tree.parent[node];
    high[node] = pairHash(high[above] + 1, names[tree.frame[node]]);
    low[node] = pairHash(names[tree.frame[node]], low[above] + 7);
  }
  return { high, low };
}

/**
 * A short text that names the path to a node; empty for the root.
 * @param {ContextTree} tree
 * @param {number} node
 * @returns {string}
 */
export function pathKey(tree, node) {
  if (node <= 0 || node >= tree.count) {
    return "";
  }
  const { high, low } = pathHashes(tree);
  return `${(high[node] >>> 0).toString(36)}-${(low[node] >>> 0).toString(36)}`;
}

/**
 * The node that a key names; the root if the tree has no such path.
 * @param {ContextTree} tree
 * @param {string} key
 * @returns {number}
 */
export function nodeOfPath(tree, key) {
  const match = /^([0-9a-z]{1,7})-([0-9a-z]{1,7})$/.exec(key);
  if (match === null) {
    return 0;
  }
  const { high, low } = pathHashes(tree);
  const [wantedHigh, wantedLow] = [parseInt(match[1], 36) | 0, parseInt(match[2], 36) | 0];
  for (let node = 1; node < tree.count; node++) {
    if (high[node] === wantedHigh && low[node] === wantedLow) {
      return node;
    }
  }
  return 0;
}
