// Searches the frames of a tree.
//
// A query is a text, or a regular expression between slashes. Names are tested once for each frame of
// the table, not for each node: a million nodes have some thousand names.

import { plainText } from "./call-names.js";

/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */

/**
 * @typedef {object} Query
 * @property {boolean} isEmpty whether nothing is searched
 * @property {string | null} problem why the query cannot be used, for people
 * @property {(label: string) => boolean} matches
 */

/**
 * @typedef {object} SearchResult
 * @property {Uint8Array} frames 1 for each frame that matches
 * @property {Int32Array} levelCounts of each position of `levelNodes`, the matching nodes before it
 * @property {string | null} problem
 */

const MAX_QUERY_LENGTH = 500;
/** A regular expression can need exponential time, so a search ends after this time. */
const MAX_SEARCH_MS = 500;
/** Names are tested up to this length, which also limits the time of one test. */
const MAX_TESTED_LENGTH = 1000;
const FRAMES_BETWEEN_CLOCKS = 64;

/**
 * Reads a query: `cart`, in any case, or `/Cart::(add|remove)/`, with `i` behind it in any case.
 * @param {string} text
 * @returns {Query}
 */
export function readQuery(text) {
  if (text === "") {
    return { isEmpty: true, problem: null, matches: () => false };
  }
  if (text.length > MAX_QUERY_LENGTH) {
    return unusable(`The search has more than ${MAX_QUERY_LENGTH} characters.`);
  }
  const expression = /^\/(.+)\/([iu]*)$/s.exec(text);
  if (expression === null) {
    const wanted = text.toLowerCase();
    const matches = (/** @type {string} */ label) => label.toLowerCase().includes(wanted);
    return { isEmpty: false, problem: null, matches };
  }
  try {
    const compiled = new RegExp(expression[1], expression[2]);
    return { isEmpty: false, problem: null, matches: (label) => compiled.test(label) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return unusable(plainText(reason));
  }
}

/**
 * @param {string} problem
 * @returns {Query}
 */
function unusable(problem) {
  return { isEmpty: false, problem, matches: () => false };
}

/**
 * Searches a tree; null if the query is empty.
 * @param {ContextTree} tree
 * @param {string} text
 * @param {() => number} [clock] milliseconds
 * @returns {SearchResult | null}
 */
export function searchTree(tree, text, clock = () => performance.now()) {
  const query = readQuery(text);
  if (query.isEmpty) {
    return null;
  }
  let { problem } = query;
  const frames = new Uint8Array(tree.frames.length);
  const latest = clock() + MAX_SEARCH_MS;
  // The root stands for all frames and has no name of its own.
  for (let frame = 1; frame < frames.length; frame++) {
    const label = tree.frames[frame].label.slice(0, MAX_TESTED_LENGTH);
    frames[frame] = query.matches(label) ? 1 : 0;
    if (frame % FRAMES_BETWEEN_CLOCKS === 0 && clock() > latest) {
      problem = `The search took too long. It ended after ${frame} of ${frames.length - 1} names.`;
      break;
    }
  }
  return { frames, levelCounts: countByLevel(tree, frames), problem };
}

/**
 * @param {ContextTree} tree
 * @param {Uint8Array} frames
 */
function countByLevel(tree, frames) {
  const counts = new Int32Array(tree.count + 1);
  for (let at = 0; at < tree.count; at++) {
    counts[at + 1] = counts[at] + frames[tree.frame[tree.levelNodes[at]]];
  }
  return counts;
}

/**
 * The weight of the frames that match, at and below a node, and their number. A match below another
 * match adds no weight, because the outer one contains it. If a frame above the node matches, the
 * whole node is part of a match.
 * @param {ContextTree} tree
 * @param {SearchResult} result
 * @param {number} root
 * @returns {{nodes: number, weight: number}}
 */
export function matchedWeight(tree, { frames }, root) {
  let isInside = false;
  for (let node = tree.parent[root]; node >= 0; node = tree.parent[node]) {
    isInside ||= frames[tree.frame[node]] === 1;
  }
  let nodes = 0;
  let weight = isInside ? tree.total[root] : 0;
  let covered = isInside ? tree.end[root] : root;
  for (let node = root; node < tree.end[root]; node++) {
    if (frames[tree.frame[node]] === 1) {
      nodes++;
      if (node >= covered) {
        weight += tree.total[node];
        covered = tree.end[node];
      }
    }
  }
  return { nodes, weight };
}
