// Builds a compact tree: nodes that are found or added by their parent and their frame, and then
// arranged in depth-first order.
//
// The order makes all later questions cheap. The nodes below a node are the numbers up to `end`, so a
// part of the tree is a range. The nodes of one level are in the order of their left edges, so the
// visible ones are found by binary search.

/**
 * @typedef {object} Frame
 * @property {string} label
 * @property {string} shortLabel
 * @property {string} packageName
 * @property {string} className
 * @property {number} method the method's position in the profile; -1 if this is no method of it
 * @property {string} identity the same in every profile
 */

/**
 * A tree of frames. Node 0 is the root with the frame `all`. Siblings are ordered by their totals.
 * @typedef {object} ContextTree
 * @property {number} count
 * @property {Frame[]} frames
 * @property {Int32Array} frame of each node, its position in `frames`
 * @property {Int32Array} parent -1 for the root
 * @property {Int32Array} end the first node after the nodes below
 * @property {Int32Array} depth
 * @property {Float64Array} calls
 * @property {Float64Array} own the weight of the node without those below
 * @property {Float64Array} total the weight of the node with those below
 * @property {Float64Array} left the weights to the left of the node
 * @property {Int32Array} levelStart the nodes of level L are `levelNodes[levelStart[L]]` and the
 *   following ones, before `levelNodes[levelStart[L + 1]]`
 * @property {Int32Array} levelNodes
 * @property {Float64Array} levelLeft the left edge of each node of `levelNodes`. The layout reads edges in
 *   this order, which is several times faster than through the numbers of the nodes.
 * @property {Float64Array} levelRight the right edge of each node of `levelNodes`
 * @property {import("./call-figures.js").Measure} measure the measure of the weights
 * @property {boolean} inverted whether the nodes below a node are its callers
 * @property {number} cutDepth if positive, deeper callers were left out
 */

/** The frame of the root in every table of frames. */
export const ALL = 0;

/** @type {Frame} */
export const ALL_FRAME = {
  label: "all",
  shortLabel: "all",
  packageName: "",
  className: "",
  method: -1,
  identity: "all",
};

// Two odd numbers with well mixed bits, for the hash of (parent, frame).
const PARENT_FACTOR = 0x9e3779b1;
const FRAME_FACTOR = 0x85ebca6b;

const MIN_CAPACITY = 16;
const INSERTION_SORT_LIMIT = 12;

/** Collects the nodes of a tree. A parent has a smaller number than its children. */
export class TreeBuilder {
  /** @param {number} expectedNodes */
  constructor(expectedNodes) {
    const capacity = Math.max(MIN_CAPACITY, expectedNodes + 1);
    this.count = 1;
    this.parent = new Int32Array(capacity);
    this.frame = new Int32Array(capacity);
    this.calls = new Float64Array(capacity);
    this.own = new Float64Array(capacity);
    this.parent[0] = -1;
    this.frame[0] = ALL;
    /** The nodes by hash, plus 1; 0 is a free place. */
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * capacity)));
  }

  /**
   * The child with this frame. It is added if the parent has none.
   * @param {number} parent
   * @param {number} frame
   * @returns {number}
   */
  child(parent, frame) {
    const mask = this.slots.length - 1;
    let slot = pairHash(parent, frame) & mask;
    for (let entry = this.slots[slot]; entry !== 0; entry = this.slots[slot]) {
      if (this.parent[entry - 1] === parent && this.frame[entry - 1] === frame) {
        return entry - 1;
      }
      slot = (slot + 1) & mask;
    }
    if (this.count === this.parent.length) {
      this.grow();
      return this.child(parent, frame);
    }
    const node = this.count++;
    this.parent[node] = parent;
    this.frame[node] = frame;
    this.slots[slot] = node + 1;
    return node;
  }

  grow() {
    const capacity = 2 * this.parent.length;
    this.parent = extended(this.parent, new Int32Array(capacity));
    this.frame = extended(this.frame, new Int32Array(capacity));
    this.calls = extended(this.calls, new Float64Array(capacity));
    this.own = extended(this.own, new Float64Array(capacity));
    this.slots = new Int32Array(2 * this.slots.length);
    const mask = this.slots.length - 1;
    for (let node = 1; node < this.count; node++) {
      let slot = pairHash(this.parent[node], this.frame[node]) & mask;
      while (this.slots[slot] !== 0) {
        slot = (slot + 1) & mask;
      }
      this.slots[slot] = node + 1;
    }
  }

  /**
   * The tree, and the place in it of each node of the builder.
   * @param {Pick<ContextTree, "frames" | "measure"> & Partial<ContextTree>} facts
   * @returns {{tree: ContextTree, place: Int32Array}}
   */
  finish(facts) {
    const { count } = this;
    const total = this.own.slice(0, count);
    const size = new Int32Array(count).fill(1);
    for (let node = count - 1; node > 0; node--) {
      total[this.parent[node]] += total[node];
      size[this.parent[node]] += size[node];
    }
    const place = placeNodes(this.parent, this.frame, total, size);
    const tree = /** @type {ContextTree} */ ({
      count,
      frame: permuted(this.frame, place, new Int32Array(count)),
      parent: new Int32Array(count),
      end: new Int32Array(count),
      depth: new Int32Array(count),
      calls: permuted(this.calls, place, new Float64Array(count)),
      own: permuted(this.own, place, new Float64Array(count)),
      total: permuted(total, place, new Float64Array(count)),
      left: new Float64Array(count),
      inverted: false,
      cutDepth: 0,
      ...facts,
    });
    for (let node = 0; node < count; node++) {
      tree.parent[place[node]] = node === 0 ? -1 : place[this.parent[node]];
      tree.end[place[node]] = place[node] + size[node];
    }
    placeFrames(tree);
    return { tree, place };
  }
}

/**
 * A number with well mixed bits for two numbers.
 * @param {number} parent
 * @param {number} frame
 * @returns {number}
 */
export function pairHash(parent, frame) {
  let mixed = Math.imul(parent, PARENT_FACTOR) ^ Math.imul(frame, FRAME_FACTOR);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, FRAME_FACTOR);
  return mixed ^ (mixed >>> 13);
}

/**
 * @template {Int32Array | Float64Array} T
 * @param {T} from
 * @param {T} to
 * @returns {T}
 */
function extended(from, to) {
  to.set(from);
  return to;
}

/**
 * Moves each value to its place.
 * @template {Int32Array | Float64Array} T
 * @param {T} from
 * @param {Int32Array} place
 * @param {T} to
 * @returns {T}
 */
export function permuted(from, place, to) {
  for (let node = 0; node < place.length; node++) {
    to[place[node]] = from[node];
  }
  return to;
}

/**
 * The places of the nodes in depth-first order, siblings by their totals.
 * @param {Int32Array} parent
 * @param {Int32Array} frame
 * @param {Float64Array} total
 * @param {Int32Array} size the number of nodes of each part of the tree
 */
function placeNodes(parent, frame, total, size) {
  const count = total.length;
  const start = new Int32Array(count + 1);
  for (let node = 1; node < count; node++) {
    start[parent[node] + 1]++;
  }
  for (let node = 0; node < count; node++) {
    start[node + 1] += start[node];
  }
  const children = new Int32Array(Math.max(0, count - 1));
  const next = start.slice(0, count);
  for (let node = 1; node < count; node++) {
    children[next[parent[node]]++] = node;
  }
  const place = new Int32Array(count);
  const compare = (/** @type {number} */ a, /** @type {number} */ b) =>
    total[b] - total[a] || frame[a] - frame[b];
  for (let node = 0; node < count; node++) {
    sortRange(children, start[node], start[node + 1], compare);
    let at = place[node] + 1;
    for (let child = start[node]; child < start[node + 1]; child++) {
      place[children[child]] = at;
      at += size[children[child]];
    }
  }
  return place;
}

/**
 * @param {Int32Array} values
 * @param {number} from
 * @param {number} to
 * @param {(a: number, b: number) => number} compare
 */
function sortRange(values, from, to, compare) {
  if (to - from > INSERTION_SORT_LIMIT) {
    values.subarray(from, to).sort(compare);
    return;
  }
  for (let at = from + 1; at < to; at++) {
    const value = values[at];
    let gap = at;
    while (gap > from && compare(values[gap - 1], value) > 0) {
      values[gap] = values[gap - 1];
      gap--;
    }
    values[gap] = value;
  }
}

/**
 * Sets depths, left edges and levels.
 * @param {ContextTree} tree
 */
function placeFrames(tree) {
  const { count, parent, depth, left, total } = tree;
  const nextLeft = new Float64Array(count);
  let deepest = 0;
  for (let node = 1; node < count; node++) {
    const above = parent[node];
    depth[node] = depth[above] + 1;
    deepest = Math.max(deepest, depth[node]);
    left[node] = nextLeft[node] = nextLeft[above];
    nextLeft[above] += total[node];
  }
  tree.levelStart = new Int32Array(deepest + 2);
  for (let node = 0; node < count; node++) {
    tree.levelStart[depth[node] + 1]++;
  }
  for (let level = 0; level <= deepest; level++) {
    tree.levelStart[level + 1] += tree.levelStart[level];
  }
  tree.levelNodes = new Int32Array(count);
  tree.levelLeft = new Float64Array(count);
  tree.levelRight = new Float64Array(count);
  const next = tree.levelStart.slice();
  for (let node = 0; node < count; node++) {
    const position = next[depth[node]]++;
    tree.levelNodes[position] = node;
    tree.levelLeft[position] = left[node];
    tree.levelRight[position] = left[node] + total[node];
  }
}

/**
 * The positions in `levelNodes` of the nodes of a level at or below a node.
 * @param {ContextTree} tree
 * @param {number} root
 * @param {number} level
 * @returns {{first: number, last: number}} `last` is not part of the range
 */
export function levelRange(tree, root, level) {
  const start = tree.levelStart[level];
  const end = tree.levelStart[level + 1];
  const first = lowerBound(tree.levelNodes, start, end, root);
  return { first, last: lowerBound(tree.levelNodes, first, end, tree.end[root]) };
}

/**
 * The position of a node in `levelNodes`.
 * @param {ContextTree} tree
 * @param {number} node
 * @returns {number}
 */
export function levelPosition(tree, node) {
  return levelRange(tree, node, tree.depth[node]).first;
}

/**
 * The first position whose value is at least `wanted`.
 * @param {Int32Array} values
 * @param {number} from
 * @param {number} to
 * @param {number} wanted
 */
function lowerBound(values, from, to, wanted) {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
