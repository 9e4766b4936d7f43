// The pixels of a flame graph without its texts.
//
// A picture can have fifty thousand rectangles, and a canvas needs about a microsecond for each. Here a
// rectangle is a run of pixels in one line, and the other lines of its row are copies of that line. So
// a picture costs hardly more than its number of pixels.

import { changePaint, packagePaint } from "./flame-colours.js";
import { MIN_WIDTH } from "./flame-layout.js";

/** @typedef {import("./flame-colours.js").FlamePaints} FlamePaints */
/** @typedef {import("./flame-colours.js").Paint} Paint */
/** @typedef {import("./flame-layout.js").Rectangles} Rectangles */
/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */
/** @typedef {import("./tree-builder.js").Frame} Frame */

/**
 * What the colour of a frame depends on.
 * @typedef {object} Painting
 * @property {ContextTree} tree
 * @property {FlamePaints} paints
 * @property {import("./tree-search.js").SearchResult | null} search
 * @property {import("./flame-detail.js").Difference | null} difference
 */

/** The height of a row, in pixels of the page; the last one of them is a gap. */
export const ROW_HEIGHT = 20;

/** Rectangles that are wider have a gap to the next one, in pixels of the page. */
const MIN_WIDTH_WITH_GAP = 3;

/** @type {WeakMap<Frame[], Int16Array>} */
const packagePaints = new WeakMap();

/**
 * The position of the paint of each frame of a table; -1 for frames without a package.
 * @param {Frame[]} frames
 * @param {number} count the number of paints
 */
function paintsOfFrames(frames, count) {
  const found = packagePaints.get(frames) ?? Int16Array.from(frames, (frame) => packagePaint(frame, count));
  packagePaints.set(frames, found);
  return found;
}

/**
 * A function from nodes to their paints.
 * @param {Painting} painting
 * @returns {(node: number) => Paint}
 */
export function nodePaints({ tree, paints, search, difference }) {
  if (search !== null) {
    return (node) => (search.frames[tree.frame[node]] === 1 ? paints.match : paints.dimmed);
  }
  if (difference !== null) {
    const { before, after } = difference;
    return (node) => paints.changes[changePaint(before[node], after[node])];
  }
  const positions = paintsOfFrames(tree.frames, paints.packages.length);
  return (node) => paints.packages[positions[tree.frame[node]]] ?? paints.plain;
}

/**
 * A function from slivers to their paints. A sliver matches a search if one of its nodes does.
 * @param {Painting} painting
 * @param {Rectangles} rectangles
 * @returns {(rectangle: number) => Paint}
 */
function sliverPaints({ paints, search }, { position, merged }) {
  if (search === null) {
    return () => paints.sliver;
  }
  const counts = search.levelCounts;
  return (rectangle) => {
    const first = position[rectangle];
    return counts[first + merged[rectangle]] > counts[first] ? paints.match : paints.dimmed;
  };
}

/**
 * @param {Uint32Array} pixels line by line
 * @param {number} columns the number of pixels of a line
 * @param {Painting} painting
 * @param {Rectangles} rectangles
 * @param {{rows: number, offset: number, ratio: number}} place `offset` is that of the first row in
 *   pixels of the page, and `ratio` the number of pixels of the screen for each of them
 */
export function fillPixels(pixels, columns, painting, rectangles, { rows, offset, ratio }) {
  const lines = Math.floor(pixels.length / columns);
  const nodePaint = nodePaints(painting);
  const sliverPaint = sliverPaints(painting, rectangles);
  const { x, width, node, rowStart } = rectangles;
  pixels.fill(painting.paints.ground.pixel);
  for (let row = 0; row < rows; row++) {
    const top = Math.max(0, Math.round((row * ROW_HEIGHT + offset) * ratio));
    const bottom = Math.min(lines, Math.round(((row + 1) * ROW_HEIGHT - 1 + offset) * ratio));
    if (top >= bottom) {
      continue;
    }
    const line = top * columns;
    for (let at = rowStart[row]; at < rowStart[row + 1]; at++) {
      const paint = width[at] < MIN_WIDTH ? sliverPaint(at) : nodePaint(node[at]);
      const gap = width[at] > MIN_WIDTH_WITH_GAP ? 1 : 0;
      const left = Math.max(0, Math.round(x[at] * ratio));
      const right = Math.max(left + 1, Math.round((x[at] + width[at] - gap) * ratio));
      const end = line + Math.min(columns, right);
      // Most rectangles have one or two pixels, for which a call of `fill` is slow.
      for (let pixel = line + left; pixel < end; pixel++) {
        pixels[pixel] = paint.pixel;
      }
    }
    for (let copy = top + 1; copy < bottom; copy++) {
      pixels.copyWithin(copy * columns, line, line + columns);
    }
  }
}
