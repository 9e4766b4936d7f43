// The visible rectangles of a flame graph.
//
// The nodes of a level are ordered by their left edges, and those below a node are a range of them. So
// the first visible node of a row is found by binary search. Neighbours that are narrower than half a
// pixel become one rectangle, and the next rectangle is again found by binary search. The time of a
// picture therefore depends on the pixels, not on the size of the tree.

import { levelPosition, levelRange } from "./tree-builder.js";

/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */

/**
 * The visible part of the picture of a node.
 * @typedef {object} FlameView
 * @property {number} root the node that fills the width
 * @property {number} from the left end of the visible part, from 0 to 1
 * @property {number} to the right end
 * @property {number} width in pixels
 * @property {number} firstRow rows are counted from that of the root
 * @property {number} rows the number of rows
 */

/** Narrower rectangles are merged, in pixels. */
export const MIN_WIDTH = 0.5;

/** A pointer within this distance of the left edge of a rectangle is in it, in pixels. */
const MIN_TARGET = 1;

/** The greatest enlargement of a part of the root. */
const MAX_ZOOM = 1e7;

const INITIAL_CAPACITY = 4096;

/** The rectangles of a picture, row by row and from left to right. The arrays are reused. */
export class Rectangles {
  /** @param {number} [capacity] the expected number of rectangles */
  constructor(capacity = INITIAL_CAPACITY) {
    this.count = 0;
    this.node = new Int32Array(capacity);
    this.x = new Float32Array(capacity);
    this.width = new Float32Array(capacity);
    /** The number of nodes that the rectangle stands for. */
    this.merged = new Int32Array(capacity);
    /** The position of the first of these nodes in `levelNodes`. */
    this.position = new Int32Array(capacity);
    /** The rectangles of row R are those from `rowStart[R]` to `rowStart[R + 1]`. */
    this.rowStart = new Int32Array(1);
  }

  /**
   * @param {number} node
   * @param {number} x
   * @param {number} width
   * @param {number} position
   * @param {number} merged
   */
  push(node, x, width, position, merged) {
    if (this.count === this.node.length) {
      this.grow();
    }
    const at = this.count++;
    this.node[at] = node;
    this.x[at] = x;
    this.width[at] = width;
    this.position[at] = position;
    this.merged[at] = merged;
  }

  grow() {
    const capacity = 2 * this.node.length;
    for (const name of /** @type {const} */ (["node", "merged", "position"])) {
      const column = new Int32Array(capacity);
      column.set(this[name]);
      this[name] = column;
    }
    for (const name of /** @type {const} */ (["x", "width"])) {
      const column = new Float32Array(capacity);
      column.set(this[name]);
      this[name] = column;
    }
  }
}

/**
 * @param {ContextTree} tree
 * @param {FlameView} view
 * @param {Rectangles} [rectangles] are overwritten
 * @returns {Rectangles}
 */
export function layoutFlame(tree, view, rectangles = new Rectangles()) {
  const { firstRow, rows } = view;
  rectangles.count = 0;
  if (rectangles.rowStart.length < rows + 1) {
    rectangles.rowStart = new Int32Array(rows + 1);
  }
  for (let row = 0; row < rows; row++) {
    rectangles.rowStart[row] = rectangles.count;
    const level = tree.depth[view.root] + firstRow + row;
    if (firstRow + row === 0 && tree.total[view.root] === 0) {
      rectangles.push(view.root, 0, view.width, levelPosition(tree, view.root), 1);
    } else if (level < tree.levelStart.length - 1 && view.to > view.from) {
      layoutRow(tree, view, level, rectangles);
    }
  }
  rectangles.rowStart[rows] = rectangles.count;
  return rectangles;
}

/**
 * @param {ContextTree} tree
 * @param {FlameView} view
 * @param {number} level
 * @param {Rectangles} rectangles
 */
function layoutRow(tree, { root, from, to, width }, level, rectangles) {
  const { levelNodes, levelLeft, levelRight, left, total } = tree;
  const range = levelRange(tree, root, level);
  const begin = left[root] + from * total[root];
  const end = left[root] + to * total[root];
  const scale = width / (end - begin);
  if (!Number.isFinite(scale)) {
    return;
  }
  const minWeight = MIN_WIDTH / scale;
  let at = firstReaching(tree, range.first, range.last, begin);
  while (at < range.last && levelLeft[at] < end) {
    const isWide = levelRight[at] - levelLeft[at] >= minWeight;
    const next = isWide ? at + 1 : sliverEnd(tree, at, range.last, minWeight);
    const size = (levelRight[next - 1] - levelLeft[at]) * scale;
    if (size > 0) {
      rectangles.push(levelNodes[at], (levelLeft[at] - begin) * scale, size, at, next - at);
    }
    at = next;
  }
}

/**
 * The position after the sliver that begins at `at`. Its nodes begin within half a pixel. A wide node
 * that begins there ends the sliver, because it ends behind this half pixel.
 * @param {ContextTree} tree
 * @param {number} at
 * @param {number} last
 * @param {number} minWeight the weight of half a pixel
 */
function sliverEnd(tree, at, last, minWeight) {
  const { levelLeft, levelRight } = tree;
  const limit = levelLeft[at] + minWeight;
  const next = firstReaching(tree, at + 1, last, limit);
  const isPart = next < last && levelLeft[next] < limit && levelRight[next] - levelLeft[next] < minWeight;
  return isPart ? next + 1 : next;
}

/**
 * The first position whose node ends behind `weight`. The steps of the search double, because the
 * node is often near.
 * @param {ContextTree} tree
 * @param {number} from
 * @param {number} to
 * @param {number} weight
 */
function firstReaching({ levelRight }, from, to, weight) {
  let low = from;
  let step = 1;
  while (low + step <= to && levelRight[low + step - 1] <= weight) {
    low += step;
    step *= 2;
  }
  let high = Math.min(to, low + step - 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (levelRight[middle] > weight) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/**
 * The rectangle at a place of the picture; -1 if there is none.
 * @param {Rectangles} rectangles
 * @param {number} x
 * @param {number} row
 * @returns {number}
 */
export function rectangleAt(rectangles, x, row) {
  if (row < 0 || row + 1 >= rectangles.rowStart.length) {
    return -1;
  }
  let low = rectangles.rowStart[row];
  let high = rectangles.rowStart[row + 1];
  const first = low;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rectangles.x[middle] <= x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const found = low - 1;
  const width = Math.max(MIN_TARGET, rectangles.width[found]);
  return found >= first && x < rectangles.x[found] + width ? found : -1;
}

/**
 * The number of rows of a node and those below it.
 * @param {ContextTree} tree
 * @param {number} root
 * @returns {number}
 */
export function rowCount(tree, root) {
  let low = tree.depth[root];
  let high = tree.levelStart.length - 2;
  // If a level has no node below the root, deeper levels have none.
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    const { first, last } = levelRange(tree, root, middle);
    if (first < last) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low - tree.depth[root] + 1;
}

/**
 * The node to which a key moves the focus, at or below the root.
 * @param {ContextTree} tree
 * @param {number} root
 * @param {number} node
 * @param {string} key a value of `KeyboardEvent.key`
 * @returns {number}
 */
export function nodeAfterKey(tree, root, node, key) {
  const { first, last } = levelRange(tree, root, tree.depth[node]);
  const position = levelPosition(tree, node);
  switch (key) {
    case "ArrowDown":
      return node + 1 < tree.end[node] ? node + 1 : node;
    case "ArrowUp":
      return node === root ? node : tree.parent[node];
    case "ArrowRight":
      return tree.levelNodes[Math.min(last - 1, position + 1)];
    case "ArrowLeft":
      return tree.levelNodes[Math.max(first, position - 1)];
    case "Home":
      return root;
    default:
      return node;
  }
}

/**
 * Enlarges (factor below 1) or reduces the visible part around a place of it.
 * @param {{from: number, to: number}} part
 * @param {number} factor
 * @param {number} place from 0, the left end of the part, to 1
 */
export function zoomedPart({ from, to }, factor, place) {
  const span = Math.min(1, Math.max(1 / MAX_ZOOM, (to - from) * factor));
  const centre = from + (to - from) * place;
  return partFrom(centre - span * place, span);
}

/**
 * Moves the visible part by a share of its width.
 * @param {{from: number, to: number}} part
 * @param {number} share
 */
export function movedPart({ from, to }, share) {
  return partFrom(from + (to - from) * share, to - from);
}

/**
 * @param {number} from
 * @param {number} span
 */
function partFrom(from, span) {
  const begin = Math.min(1 - span, Math.max(0, from));
  return { from: begin, to: begin + span };
}

/**
 * The visible part after it was moved and enlarged so little that a node is visible.
 * @param {ContextTree} tree
 * @param {number} root
 * @param {{from: number, to: number}} part
 * @param {number} node
 */
export function partWithNode(tree, root, part, node) {
  const whole = tree.total[root];
  if (!(whole > 0)) {
    return part;
  }
  const begin = (tree.left[node] - tree.left[root]) / whole;
  const end = begin + tree.total[node] / whole;
  const span = part.to - part.from;
  if (end > part.from && begin < part.to) {
    return part;
  }
  return partFrom((begin + end) / 2 - span / 2, span);
}
