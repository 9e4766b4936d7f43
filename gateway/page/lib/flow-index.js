// What is where in the layout of a control-flow graph: search trees over blocks and over the
// straight segments of edges. Drawing uses them to skip what is not visible, the pointer to find
// what is below it.

import { BoxIndex } from "./box-index.js";

/** @typedef {import("./graph-types.js").Selection} Selection */
/** @typedef {import("./flow-layout.js").FlowLayout} FlowLayout */
/** @typedef {import("./flow-layout.js").PlacedBlock} PlacedBlock */
/** @typedef {import("./flow-layout.js").PlacedEdge} PlacedEdge */

/** The room for the label of an edge that has no neighbour. */
const LABEL_ROOM = 90;

/** A label may end this far to the right of its block. The next block is a little farther. */
const LABEL_OUTSIDE = 14;

/**
 * @typedef {object} FlowIndex
 * @property {PlacedBlock[]} blocks
 * @property {BoxIndex} blockTree
 * @property {PlacedEdge[]} edges
 * @property {string[]} edgeKeys `"3>4"`, as in the counts
 * @property {Float64Array} segments left, top, right and bottom of each segment
 * @property {Int32Array} edgeOf the edge of each segment
 * @property {Int32Array} firstSegment of each edge, and one more
 * @property {BoxIndex} segmentTree
 * @property {Float64Array} labelRoom how wide the label of each edge may be
 */

/**
 * @param {FlowLayout} layout
 * @returns {FlowIndex}
 */
export function indexFlowLayout(layout) {
  const blocks = [...layout.blocks.values()];
  const { edges } = layout;
  const firstSegment = new Int32Array(edges.length + 1);
  edges.forEach((edge, i) => {
    firstSegment[i + 1] = firstSegment[i] + edge.points.length - 1;
  });
  const count = firstSegment[edges.length];
  const segments = new Float64Array(count * 4);
  const edgeOf = new Int32Array(count);
  edges.forEach(({ points }, i) => {
    for (let k = 1; k < points.length; k += 1) {
      const segment = firstSegment[i] + k - 1;
      edgeOf[segment] = i;
      segments[4 * segment] = Math.min(points[k - 1][0], points[k][0]);
      segments[4 * segment + 1] = Math.min(points[k - 1][1], points[k][1]);
      segments[4 * segment + 2] = Math.max(points[k - 1][0], points[k][0]);
      segments[4 * segment + 3] = Math.max(points[k - 1][1], points[k][1]);
    }
  });
  const boxes = new Float64Array(blocks.length * 4);
  blocks.forEach(({ x, y, width, height }, i) => boxes.set([x, y, x + width, y + height], 4 * i));
  return {
    blocks,
    blockTree: new BoxIndex(boxes),
    edges,
    edgeKeys: edges.map(({ from, to }) => `${from}>${to}`),
    segments,
    edgeOf,
    firstSegment,
    segmentTree: new BoxIndex(segments),
    labelRoom: labelRooms(layout),
  };
}

/**
 * The distance from the label of each edge to the next label of the same source, or to the block
 * that may be beside the source.
 * @param {FlowLayout} layout
 */
function labelRooms({ edges, blocks }) {
  const rooms = new Float64Array(edges.length).fill(LABEL_ROOM);
  for (let start = 0; start < edges.length; ) {
    let end = start + 1;
    while (end < edges.length && edges[end].from === edges[start].from) end += 1;
    const siblings = Array.from({ length: end - start }, (_, i) => start + i);
    siblings.sort((a, b) => edges[a].label.y - edges[b].label.y || edges[a].label.x - edges[b].label.x);
    const source = blocks.get(edges[start].from);
    for (const edge of siblings) {
      if (!source || edges[edge].label.above) continue;
      rooms[edge] = Math.min(LABEL_ROOM, source.x + source.width + LABEL_OUTSIDE - edges[edge].label.x);
    }
    for (let i = 1; i < siblings.length; i += 1) {
      const [left, right] = [edges[siblings[i - 1]].label, edges[siblings[i]].label];
      if (left.y === right.y) rooms[siblings[i - 1]] = Math.min(rooms[siblings[i - 1]], right.x - left.x);
    }
    start = end;
  }
  return rooms;
}

/**
 * What is at a point: a block, or the nearest edge that is not farther than `tolerance`.
 * @param {FlowIndex} index
 * @param {number} x
 * @param {number} y
 * @param {number} tolerance
 * @returns {Selection}
 */
export function hitTest(index, x, y, tolerance) {
  let block = -1;
  index.blockTree.search(x, y, x, y, (found) => {
    block = found;
  });
  if (block >= 0) return { block: index.blocks[block].number };
  let nearest = tolerance;
  let segment = -1;
  const { segments } = index;
  index.segmentTree.search(x - tolerance, y - tolerance, x + tolerance, y + tolerance, (found) => {
    const at = 4 * found;
    const horizontal = Math.max(segments[at] - x, x - segments[at + 2], 0);
    const vertical = Math.max(segments[at + 1] - y, y - segments[at + 3], 0);
    const distance = Math.hypot(horizontal, vertical);
    // Of edges that share a line, the first in the order of block numbers is found.
    if (distance > nearest || (distance === nearest && found > segment && segment >= 0)) return;
    nearest = distance;
    segment = found;
  });
  if (segment < 0) return null;
  const { from, to } = index.edges[index.edgeOf[segment]];
  return { edge: [from, to] };
}
