// Trees of calling contexts: built from a profile, folded, and inverted.
//
// Contexts with the same path of methods are one node, whatever their call sites, and the threads are
// one tree unless they are asked for. Each node has a weight of its own. Its total is the sum of the
// weights at and below it, so the frames below a frame always fit into it:
//
//   measure       own weight of a context
//   calls         its calls
//   wall          its wall time without that of the contexts below it
//   self          its recorded self time
//   cpu           its processor time without callees
//   allocations   its objects
//
// A profile without contexts has no tree. Edges alone do not say on whose behalf a method called
// another one, so no tree is made from them.

import { ALL_FRAME, TreeBuilder } from "./tree-builder.js";

/** @typedef {import("./call-figures.js").Measure} Measure */
/** @typedef {import("./call-profile.js").CallProfile} CallProfile */
/** @typedef {import("./call-profile.js").Contexts} Contexts */
/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */
/** @typedef {import("./tree-builder.js").Frame} Frame */

/** The most steps to callers in one inverted tree: about a second. */
const MAX_INVERTED_STEPS = 10_000_000;
/** A level is added to an inverted tree if the tree has at most this many nodes. */
const MAX_INVERTED_NODES = 1_000_000;

/**
 * The tree of the contexts; null if the profile has none.
 * @param {CallProfile} profile
 * @param {{measure: Measure, byThread?: boolean, folded?: boolean}} options
 * @returns {ContextTree | null}
 */
export function buildTree(profile, { measure, byThread = false, folded = false }) {
  const { contexts } = profile;
  if (contexts.count === 0) {
    return null;
  }
  const weights = ownWeights(contexts, measure);
  const firstThread = profile.methods.length + 1;
  const threads = byThread ? profile.threads.length : 0;
  const builder = new TreeBuilder(contexts.count + threads);
  const nodes = new Int32Array(contexts.count);
  for (let context = 0; context < contexts.count; context++) {
    let above = 0;
    if (contexts.parent[context] >= 0) {
      above = nodes[contexts.parent[context]];
    } else if (byThread && contexts.thread[context] >= 0) {
      above = builder.child(0, firstThread + contexts.thread[context]);
    }
    const frame = contexts.method[context] + 1;
    const recursive = folded ? nodeOnPath(builder, above, frame) : -1;
    const node = recursive >= 0 ? recursive : builder.child(above, frame);
    nodes[context] = node;
    builder.calls[node] += contexts.calls[context];
    builder.own[node] += weights[context];
  }
  return builder.finish({ frames: framesOf(profile), measure }).tree;
}

/** @type {WeakMap<CallProfile, Map<string, ContextTree | null>>} */
const knownTrees = new WeakMap();
/** A tree of a million nodes needs a hundred megabytes. */
const MAX_KNOWN_TREES = 2;

/**
 * As `buildTree`, but the latest trees of a profile are kept, because several views show them.
 * @param {CallProfile} profile
 * @param {{measure: Measure, byThread?: boolean, folded?: boolean}} options
 * @returns {ContextTree | null}
 */
export function knownTree(profile, { measure, byThread = false, folded = false }) {
  const trees = knownTrees.get(profile) ?? new Map();
  knownTrees.set(profile, trees);
  const key = `${measure} ${byThread} ${folded}`;
  const tree = trees.get(key) ?? buildTree(profile, { measure, byThread, folded });
  // The latest one is the last one of the map.
  trees.delete(key);
  trees.set(key, tree);
  for (const oldest of [...trees.keys()].slice(0, -MAX_KNOWN_TREES)) {
    trees.delete(oldest);
  }
  return tree;
}

/**
 * The frames of a profile: the root, the methods, the threads.
 * @param {CallProfile} profile
 * @returns {Frame[]}
 */
export function framesOf({ methods, threads }) {
  const ofMethods = methods.map(({ label, shortLabel, packageName, className, identity }, method) => {
    return { label, shortLabel, packageName, className, identity, method };
  });
  const ofThreads = threads.map(({ label, identity }) => {
    return { label, shortLabel: label, packageName: "", className: "", identity, method: -1 };
  });
  return [ALL_FRAME, ...ofMethods, ...ofThreads];
}

/**
 * The weight of each context without those below it.
 * @param {Contexts} contexts
 * @param {Measure} measure
 * @returns {Float64Array}
 */
function ownWeights(contexts, measure) {
  switch (measure) {
    case "calls":
      return contexts.calls;
    case "self":
      return contexts.self;
    case "cpu":
      return contexts.selfCpu;
    case "allocations":
      return contexts.allocations;
    case "wall":
      return wallWithoutCallees(contexts);
  }
}

/**
 * The recorded wall times of the contexts below a context can exceed its own by the resolution of the
 * clock. Its own weight is then 0, and its total is that of the contexts below.
 * @param {Contexts} contexts
 */
function wallWithoutCallees(contexts) {
  const own = contexts.wall.slice();
  for (let context = 0; context < contexts.count; context++) {
    const parent = contexts.parent[context];
    if (parent >= 0 && contexts.ownThread[context] === 0) {
      own[parent] -= contexts.wall[context];
    }
  }
  for (let context = 0; context < own.length; context++) {
    own[context] = Math.max(0, own[context]);
  }
  return own;
}

/**
 * The nearest node with this frame on the path from `node` to the root; -1 if there is none.
 * @param {TreeBuilder} builder
 * @param {number} node
 * @param {number} frame
 */
function nodeOnPath(builder, node, frame) {
  let at = node;
  while (at > 0 && builder.frame[at] !== frame) {
    at = builder.parent[at];
  }
  return at > 0 ? at : -1;
}

/**
 * The inverted tree of all weights: below the root are the methods with their own weights, and below
 * each node its callers. The total of the tree does not change.
 * @param {ContextTree} tree
 * @returns {ContextTree}
 */
export function invertTree(tree) {
  const starts = [];
  for (let node = 1; node < tree.count; node++) {
    if (tree.own[node] > 0 || tree.calls[node] > 0) {
      starts.push(node);
    }
  }
  return invertFrom(tree, Int32Array.from(starts), tree.own);
}

/**
 * The callers of a method: below the root is the method with its total, and below each node its
 * callers. Only the outermost activations of a recursion are added, because their totals contain
 * those of the inner ones.
 * @param {ContextTree} tree
 * @param {number} frame
 * @returns {ContextTree}
 */
export function callersTree(tree, frame) {
  const starts = [];
  for (let node = 1; node < tree.count; ) {
    const isFound = tree.frame[node] === frame;
    if (isFound) {
      starts.push(node);
    }
    node = isFound ? tree.end[node] : node + 1;
  }
  return invertFrom(tree, Int32Array.from(starts), tree.total);
}

/**
 * Follows all starts to the root at the same time, a level at a time, so that a limit cuts all paths
 * at the same depth.
 * @param {ContextTree} tree
 * @param {Int32Array} starts
 * @param {Float64Array} weights
 */
function invertFrom(tree, starts, weights) {
  const builder = new TreeBuilder(starts.length);
  const current = starts.slice();
  const group = new Int32Array(starts.length);
  // The first `active` starts have callers that were not visited.
  let active = starts.length;
  const origin = Int32Array.from(starts.keys());
  let steps = 0;
  let cutDepth = 0;
  for (let depth = 0; active > 0; depth++) {
    steps += active;
    if (depth > 0 && (steps > MAX_INVERTED_STEPS || builder.count > MAX_INVERTED_NODES)) {
      cutDepth = depth;
      break;
    }
    let kept = 0;
    for (let at = 0; at < active; at++) {
      const start = origin[at];
      const node = current[start];
      group[start] = builder.child(group[start], tree.frame[node]);
      current[start] = tree.parent[node];
      if (current[start] > 0) {
        origin[kept++] = start;
      }
    }
    active = kept;
  }
  addWeights(builder, group, starts, weights, tree.calls);
  const facts = { frames: tree.frames, measure: tree.measure, inverted: true, cutDepth };
  return builder.finish(facts).tree;
}

/**
 * Adds the weight of each start to the node at which its path ended, and its calls to all nodes of
 * the path: a caller has the calls that it led to.
 * @param {TreeBuilder} builder
 * @param {Int32Array} group the last node of each path
 * @param {Int32Array} starts
 * @param {Float64Array} weights
 * @param {Float64Array} calls
 */
function addWeights(builder, group, starts, weights, calls) {
  for (let start = 0; start < starts.length; start++) {
    builder.own[group[start]] += weights[starts[start]];
    builder.calls[group[start]] += calls[starts[start]];
  }
  for (let node = builder.count - 1; node > 0; node--) {
    builder.calls[builder.parent[node]] += builder.calls[node];
  }
}

/**
 * The frame of a method, by its position in the profile; -1 if the tree does not have it.
 * @param {ContextTree} tree
 * @param {number} method
 * @returns {number}
 */
export function frameOfMethod(tree, method) {
  return tree.frames.findIndex((frame) => frame.method === method && method >= 0);
}
