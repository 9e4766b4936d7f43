// The lines that one frame of the picture draws: visible segments of edges, by heat.
//
// Edges with the same target share lines, and a lane may be shared by thousands of edges. Segments
// of the same heat that cover the same pixels are therefore joined before they are drawn. The
// number of strokes is then bounded by the pixels of the window, not by the edges of the method.

/** @typedef {import("./flow-index.js").FlowIndex} FlowIndex */
/** @typedef {import("./flow-view.js").View} View */
/** @typedef {import("./flow-view.js").Size} Size */

/** Segments are cut this far outside of the window, in pixels. */
const OUTSIDE = 8;

/** Two lines closer than this part of a pixel are the same line. */
const GRID = 2;

/** Shorter segments are invisible. */
const LEAST_LENGTH = 0.4;

const HEAT_STEPS = 7;

/** A new interval is compared with this many of the same line, which are neighbours in the search tree. */
const COMPARED = 4;

/**
 * @typedef {object} EdgeMarks
 * @property {number[]} ends edges whose last segment is visible, the hottest for each target
 * @property {number[]} labelled edges whose label may be visible
 */

/**
 * Calls `visit` with each segment that may be visible.
 * @param {FlowIndex} index
 * @param {View} view
 * @param {Size} window
 * @param {(segment: number) => void} visit
 */
function visibleSegments(index, view, window, visit) {
  const margin = OUTSIDE / view.zoom;
  const right = view.x + window.width / view.zoom + margin;
  const bottom = view.y + window.height / view.zoom + margin;
  index.segmentTree.search(view.x - margin, view.y - margin, right, bottom, visit);
}

/**
 * The lines to draw, for each heat step: four coordinates of each line.
 * @param {FlowIndex} index
 * @param {View} view
 * @param {Size} window
 * @param {Uint8Array} steps heat step of each edge
 * @returns {number[][]}
 */
export function collectLines(index, view, window, steps) {
  const { segments, edgeOf } = index;
  const { zoom } = view;
  const least = LEAST_LENGTH / zoom;
  /** @type {Map<number, number[]>} intervals on each line of the grid */
  const intervals = new Map();
  visibleSegments(index, view, window, (segment) => {
    const left = segments[4 * segment];
    const top = segments[4 * segment + 1];
    const right = segments[4 * segment + 2];
    const bottom = segments[4 * segment + 3];
    const step = steps[edgeOf[segment]];
    if (bottom - top > right - left) {
      if (bottom - top < least) return;
      const low = clip(top, view.y, zoom, window.height);
      const high = clip(bottom, view.y, zoom, window.height);
      addInterval(intervals, lineKey(step, true, (left - view.x) * zoom), low, high);
    } else {
      if (right - left < least) return;
      const low = clip(left, view.x, zoom, window.width);
      const high = clip(right, view.x, zoom, window.width);
      addInterval(intervals, lineKey(step, false, (top - view.y) * zoom), low, high);
    }
  });
  return linesOf(intervals);
}

/**
 * Where arrow heads and labels are to be drawn.
 * @param {FlowIndex} index
 * @param {View} view
 * @param {Size} window
 * @param {Uint8Array} steps heat step of each edge
 * @returns {EdgeMarks}
 */
export function collectMarks(index, view, window, steps) {
  const { edgeOf, firstSegment, edges } = index;
  /** @type {Map<number, number>} the hottest edge that ends at a place */
  const ends = new Map();
  /** @type {number[]} */
  const labelled = [];
  visibleSegments(index, view, window, (segment) => {
    const edge = edgeOf[segment];
    const { to, kind, label } = edges[edge];
    const isFirst = segment === firstSegment[edge];
    const isLast = segment === firstSegment[edge + 1] - 1;
    if (label.above ? isLast : isFirst) labelled.push(edge);
    if (!isLast) return;
    const place = to * 2 + (kind === "forward" ? 0 : 1);
    const other = ends.get(place);
    if (other === undefined || steps[edge] > steps[other]) ends.set(place, edge);
  });
  return { ends: [...ends.values()], labelled };
}

/**
 * @param {number} value
 * @param {number} corner
 * @param {number} zoom
 * @param {number} length
 */
function clip(value, corner, zoom, length) {
  return Math.min(length + OUTSIDE, Math.max(-OUTSIDE, (value - corner) * zoom));
}

/**
 * One number for heat, direction and position of a line.
 * @param {number} step
 * @param {boolean} vertical
 * @param {number} line
 */
function lineKey(step, vertical, line) {
  return Math.round((line + OUTSIDE) * GRID) * HEAT_STEPS * 2 + step * 2 + (vertical ? 1 : 0);
}

/**
 * Adds an interval to those of a line, and joins it with a recent one that it touches.
 * @param {Map<number, number[]>} intervals
 * @param {number} key
 * @param {number} low
 * @param {number} high
 */
function addInterval(intervals, key, low, high) {
  const list = intervals.get(key);
  if (!list) {
    intervals.set(key, [low, high]);
    return;
  }
  for (let i = Math.max(0, list.length - 2 * COMPARED); i < list.length; i += 2) {
    if (low > list[i + 1] || high < list[i]) continue;
    list[i] = Math.min(list[i], low);
    list[i + 1] = Math.max(list[i + 1], high);
    return;
  }
  list.push(low, high);
}

/** @param {Map<number, number[]>} intervals */
function linesOf(intervals) {
  /** @type {number[][]} */
  const lines = Array.from({ length: HEAT_STEPS }, () => []);
  for (const [key, list] of intervals) {
    const vertical = key % 2 === 1;
    const step = Math.floor(key / 2) % HEAT_STEPS;
    const line = Math.floor(key / (2 * HEAT_STEPS)) / GRID - OUTSIDE;
    for (let i = 0; i < list.length; i += 2) {
      if (vertical) lines[step].push(line, list[i], line, list[i + 1]);
      else lines[step].push(list[i], line, list[i + 1], line);
    }
  }
  return lines;
}
