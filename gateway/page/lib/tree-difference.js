// The difference of two trees.
//
// Nodes are the same if their paths of frames are the same, and frames are the same if their loader,
// class, name and descriptor are. The weight of a node is the mean of both trees. So the tree contains
// what only one of them has, an unchanged part keeps its width, and the frames below a frame fit into
// it.

import { ALL_FRAME, TreeBuilder, permuted } from "./tree-builder.js";

/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */
/** @typedef {import("./tree-builder.js").Frame} Frame */

/**
 * The totals of each node in both trees.
 * @typedef {object} TreeDifference
 * @property {ContextTree} tree
 * @property {Float64Array} before
 * @property {Float64Array} after
 * @property {Float64Array} callsBefore
 * @property {Float64Array} callsAfter
 */

/**
 * @param {ContextTree} before
 * @param {ContextTree} after
 * @param {{equalTotals?: boolean}} [options] with `equalTotals`, the weights and calls of `before` are
 *   multiplied so that both trees have the total of `after`; recordings of different length can then
 *   be compared
 * @returns {TreeDifference}
 */
export function differenceOfTrees(before, after, { equalTotals = false } = {}) {
  const { frames, ofBefore, ofAfter } = commonFrames(before.frames, after.frames);
  const isScaled = equalTotals && before.total[0] > 0 && after.total[0] > 0;
  const scale = isScaled ? after.total[0] / before.total[0] : 1;
  const builder = new TreeBuilder(before.count + after.count);
  const nodesAfter = addNodes(builder, after, ofAfter);
  const nodesBefore = addNodes(builder, before, ofBefore);

  const { count } = builder;
  const sums = {
    before: new Float64Array(count),
    after: new Float64Array(count),
    callsBefore: new Float64Array(count),
    callsAfter: new Float64Array(count),
  };
  for (let node = 0; node < after.count; node++) {
    sums.after[nodesAfter[node]] += after.own[node];
    sums.callsAfter[nodesAfter[node]] += after.calls[node];
  }
  for (let node = 0; node < before.count; node++) {
    sums.before[nodesBefore[node]] += before.own[node] * scale;
    sums.callsBefore[nodesBefore[node]] += before.calls[node] * scale;
  }
  for (let node = 0; node < count; node++) {
    builder.own[node] = (sums.before[node] + sums.after[node]) / 2;
    builder.calls[node] = (sums.callsBefore[node] + sums.callsAfter[node]) / 2;
  }
  for (let node = count - 1; node > 0; node--) {
    sums.before[builder.parent[node]] += sums.before[node];
    sums.after[builder.parent[node]] += sums.after[node];
  }
  const { measure, inverted } = after;
  const cutDepth = Math.max(before.cutDepth, after.cutDepth);
  const { tree, place } = builder.finish({ frames, measure, inverted, cutDepth });
  return {
    tree,
    before: permuted(sums.before, place, new Float64Array(count)),
    after: permuted(sums.after, place, new Float64Array(count)),
    callsBefore: permuted(sums.callsBefore, place, new Float64Array(count)),
    callsAfter: permuted(sums.callsAfter, place, new Float64Array(count)),
  };
}

/**
 * Adds the nodes of a tree. Returns the node of the builder for each of them.
 * @param {TreeBuilder} builder
 * @param {ContextTree} tree
 * @param {Int32Array} frames for each frame of the tree, the common one
 */
function addNodes(builder, tree, frames) {
  const nodes = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    nodes[node] = builder.child(nodes[tree.parent[node]], frames[tree.frame[node]]);
  }
  return nodes;
}

/**
 * One table of frames for both trees. The positions of methods are those of the profile of `after`.
 * @param {Frame[]} before
 * @param {Frame[]} after
 */
function commonFrames(before, after) {
  const frames = [ALL_FRAME];
  const positions = new Map([[ALL_FRAME.identity, 0]]);
  const add = (/** @type {Frame} */ frame, /** @type {boolean} */ isAfter) => {
    let position = positions.get(frame.identity);
    if (position === undefined) {
      position = frames.push(isAfter ? frame : { ...frame, method: -1 }) - 1;
      positions.set(frame.identity, position);
    }
    return position;
  };
  const ofAfter = Int32Array.from(after, (frame) => add(frame, true));
  const ofBefore = Int32Array.from(before, (frame) => add(frame, false));
  return { frames, ofBefore, ofAfter };
}
