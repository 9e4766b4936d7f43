// The layout of a control-flow graph: where blocks, edges and loops are in the picture.
//
// The layout follows the viewer iongraph of SpiderMonkey: rows of blocks from top to bottom, loops
// below their headers without foreign blocks between, back edges at the side of the loop, and
// right-angled lines between the rows. The steps are
//   1. flow-graph.js: dominators and loops;
//   2. flow-regions.js: a region for each loop, rows, and nets of edges with the same target;
//   3. flow-columns.js: horizontal positions, for inner regions before outer regions;
//   4. flow-channels.js: horizontal lines, and from their number the heights;
//   5. this file: absolute coordinates, from outer to inner regions.

import { analyseFlowGraph, isAncestor } from "./flow-graph.js";
import { planRegions } from "./flow-regions.js";
import { placeColumns } from "./flow-columns.js";
import { routeChannels, traceWire } from "./flow-channels.js";

/** @typedef {import("./graph-types.js").Graph} Graph */
/** @typedef {import("./graph-types.js").Block} Block */
/** @typedef {import("./flow-regions.js").Plan} Plan */
/** @typedef {import("./flow-regions.js").Wire} Wire */

/**
 * Distances in the units of `sizeOf`.
 * @typedef {object} Spacing
 * @property {number} border between a loop's blocks and its rectangle
 * @property {number} blockGap between blocks of a row
 * @property {number} trunkGap between vertical lines that cross a row side by side
 * @property {number} rowGap the least distance between rows
 * @property {number} track between horizontal lines
 * @property {number} lane between vertical lines at the side of a region
 * @property {number} label room for the count of an edge below its source
 */

/**
 * @typedef {object} PlacedBlock
 * @property {number} number
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number} loop index in `loops` of the innermost loop, or -1
 * @property {boolean} reached whether edges lead from block 0 to the block
 */

/**
 * @typedef {object} PlacedEdge
 * @property {number} from
 * @property {number} to
 * @property {"forward" | "back" | "self"} kind
 * @property {[number, number][]} points corners, from the lower side of `from` to the upper side of `to`
 * @property {{x: number, y: number, above: boolean}} label a point on a part of the edge that it
 *   shares with no edge of the same source; `above` tells whether that part ends at the target
 */

/**
 * A loop with the rectangle around it. Outer loops precede inner loops.
 * @typedef {object} PlacedLoop
 * @property {number} header
 * @property {number} depth
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number[]} blocks all blocks, including those of inner loops
 */

/**
 * @typedef {object} FlowLayout
 * @property {number} width
 * @property {number} height
 * @property {Map<number, PlacedBlock>} blocks
 * @property {PlacedEdge[]} edges one for each pair of blocks, in the order of block numbers
 * @property {PlacedLoop[]} loops
 */

/** @type {Spacing} */
const DEFAULT_SPACING = { border: 14, blockGap: 20, trunkGap: 4, rowGap: 44, track: 9, lane: 12, label: 20 };

/**
 * @param {Graph} graph
 * @param {(block: Block) => {width: number, height: number}} sizeOf
 * @param {Partial<Spacing>} [options]
 * @returns {FlowLayout}
 */
export function layoutFlowGraph(graph, sizeOf, options = {}) {
  const spacing = { ...DEFAULT_SPACING, ...options };
  const plan = planRegions(analyseFlowGraph(graph));
  for (const block of graph.blocks) {
    const { width, height } = sizeOf(block);
    const index = Number(plan.analysis.indexes.get(block.number));
    plan.widths[index] = width;
    plan.heights[index] = height;
  }
  const { regions, count } = plan;
  // Inner loops have smaller identifiers; the whole graph is last.
  for (let id = 1; id < regions.length; id += 1) layoutRegion(plan, id, spacing);
  layoutRegion(plan, 0, spacing);
  for (let id = regions.length - 1; id > 0; id -= 1) placeRegion(plan, id);
  return {
    width: plan.widths[count],
    height: plan.heights[count],
    blocks: placedBlocks(plan),
    edges: placedEdges(plan),
    loops: placedLoops(plan),
  };
}

/**
 * @param {Plan} plan
 * @param {number} id
 * @param {Spacing} spacing
 */
function layoutRegion(plan, id, spacing) {
  const region = plan.regions[id];
  const left = id === 0 ? spacing.border : spacing.border + spacing.lane;
  const right = placeColumns(plan, region, spacing, left);
  const { width, height } = routeChannels(plan, region, spacing, right);
  plan.widths[plan.count + id] = width;
  plan.heights[plan.count + id] = height;
  region.axis = plan.items[region.header]?.axis ?? 0;
}

/**
 * The upper left corner of a node.
 * @param {Plan} plan
 * @param {number} node
 * @returns {[number, number]}
 */
function cornerOf(plan, node) {
  const region = plan.regions[plan.regionOf[node]];
  const item = /** @type {import("./flow-regions.js").Item} */ (plan.items[node]);
  return [region.x + item.axis - item.before, region.y + region.rowTops[item.row]];
}

/**
 * @param {Plan} plan
 * @param {number} id
 */
function placeRegion(plan, id) {
  const region = plan.regions[id];
  [region.x, region.y] = cornerOf(plan, plan.count + id);
}

/**
 * @param {Plan} plan
 * @returns {Map<number, PlacedBlock>}
 */
function placedBlocks(plan) {
  const { analysis, regions } = plan;
  return new Map(
    analysis.numbers.map((number, index) => {
      const [x, y] = cornerOf(plan, index);
      const loop = analysis.loopOf[index];
      return [
        number,
        {
          number,
          x,
          y,
          width: plan.widths[index],
          height: plan.heights[index],
          loop: loop < 0 ? -1 : regions.length - 2 - loop,
          reached: analysis.reached[index] === 1,
        },
      ];
    }),
  );
}

/**
 * @param {Plan} plan
 * @returns {PlacedEdge[]}
 */
function placedEdges(plan) {
  const { analysis } = plan;
  return analysis.edges.map(([from, to], index) => {
    const kind = from === to ? "self" : isAncestor(analysis, to, from) ? "back" : "forward";
    const { points, busStart } = traceEdge(plan, from, to, plan.starts[index]);
    return {
      from: analysis.numbers[from],
      to: analysis.numbers[to],
      kind,
      points,
      label: busStart
        ? { x: points[points.length - 1][0], y: points[points.length - 1][1], above: true }
        : { x: points[0][0], y: points[0][1], above: false },
    };
  });
}

/**
 * Follows an edge from its first piece out of the loops around its source, and into the loops
 * around its target.
 * @param {Plan} plan
 * @param {number} from
 * @param {number} to
 * @param {Wire} start
 */
function traceEdge(plan, from, to, start) {
  /** @type {[number, number][]} */
  const points = [];
  let region = plan.regions[plan.regionOf[from]];
  /** @param {Wire} wire */
  const follow = (wire) =>
    region.x + traceWire(plan, region, wire, (x, y) => points.push([region.x + x, region.y + y]));
  points.push([region.x + start.x, cornerOf(plan, from)[1] + plan.heights[from]]);
  let wire = start;
  let x = follow(wire);
  for (; wire.net.outer; x = follow(wire)) {
    wire = wire.net.outer;
    region = plan.regions[region.parent];
  }
  while (wire.net.inner?.entry) {
    region = plan.regions[wire.net.node - plan.count];
    wire = wire.net.inner.entry;
    x = follow(wire);
  }
  points.push([x, cornerOf(plan, to)[1]]);
  return { points, busStart: start.inBus };
}

/**
 * The loops from outside to inside. The blocks of a loop are adjacent in a list that a walk over the
 * forest of loops produces, and each loop copies its part of the list only when it is asked: the
 * copies of 1,000 nested loops together would have millions of elements.
 * @param {Plan} plan
 * @returns {PlacedLoop[]}
 */
function placedLoops(plan) {
  const { analysis, regions, regionOf, count } = plan;
  const sizes = new Int32Array(regions.length);
  for (let index = 0; index < count; index += 1) sizes[regionOf[index]] += 1;
  const own = sizes.slice();
  for (let id = 1; id < regions.length; id += 1) sizes[regions[id].parent] += sizes[id];
  const starts = new Int32Array(regions.length);
  const next = own.slice();
  for (let id = regions.length - 1; id > 0; id -= 1) {
    const { parent } = regions[id];
    starts[id] = starts[parent] + next[parent];
    next[parent] += sizes[id];
  }
  const list = new Array(count).fill(0);
  const cursors = starts.slice();
  for (let index = 0; index < count; index += 1) list[cursors[regionOf[index]]++] = analysis.numbers[index];
  return regions
    .slice(1)
    .reverse()
    .map(({ id, header, x, y }) => ({
      header: analysis.numbers[header],
      depth: analysis.loops[id - 1].depth,
      x,
      y,
      width: plan.widths[count + id],
      height: plan.heights[count + id],
      get blocks() {
        return list.slice(starts[id], starts[id] + sizes[id]).sort((a, b) => a - b);
      },
    }));
}
