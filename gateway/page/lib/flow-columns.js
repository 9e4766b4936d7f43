// The horizontal positions of a region: which item is where in its row.
//
// The order in a row is the preorder of the dominator tree, so everything that one branch dominates
// is on one side of everything that the other branch dominates. All rows use the same order, so
// trunks do not cross each other, and a block that is added elsewhere does not change it.
//
// Distances are found in three passes over the rows (down, up, down). A pass puts each item as near
// as possible to the axis that it prefers, in the sense of least squares, without changing the
// order. Blocks have much more weight than trunks: a column of blocks stays straight, and lines
// bend around it.

import { BACK, ENTRY, EXIT, LOCAL } from "./flow-regions.js";

/** @typedef {import("./flow-regions.js").Plan} Plan */
/** @typedef {import("./flow-regions.js").Region} Region */
/** @typedef {import("./flow-regions.js").Item} Item */
/** @typedef {import("./flow-regions.js").Net} Net */
/** @typedef {import("./flow-regions.js").Wire} Wire */
/** @typedef {import("./flow-layout.js").Spacing} Spacing */

/** The weight of a trunk, relative to a block. */
const TRUNK_WEIGHT = 1e-6;

/** Half the width that a trunk occupies. */
const TRUNK_HALF = 4;

/**
 * Fills `region.rows` and sets the axis of all items. The axes are whole numbers. The leftmost item
 * begins at `left`. Returns where the rightmost item ends.
 * @param {Plan} plan
 * @param {Region} region
 * @param {Spacing} spacing
 * @param {number} left
 */
export function placeColumns(plan, region, spacing, left) {
  fillRows(plan, region);
  linkDominators(plan, region);
  const { rows } = region;
  for (let r = 1; r < rows.length; r += 1) spreadRow(rows[r], spacing, (item) => axisFromAbove(plan, item));
  for (let r = rows.length - 2; r >= 1; r -= 1) spreadRow(rows[r], spacing, axisFromBelow);
  for (let r = 1; r < rows.length; r += 1) spreadRow(rows[r], spacing, (item) => axisFromAbove(plan, item));
  // Entries follow the nets below them.
  spreadRow(rows[0], spacing, (item) => (item.net ? axisInRow(plan, item.net, 1) : item.axis));
  straightenTrunks(region, spacing);
  return shiftTo(region, left);
}

/**
 * Creates the items of all rows in the order of the dominator tree.
 * @param {Plan} plan
 * @param {Region} region
 */
function fillRows(plan, region) {
  const { count, regions, analysis, rowOf } = plan;
  /** @type {Item[]} */
  const items = [];
  for (const node of region.nodes) {
    const width = plan.widths[node];
    const inner = node < count ? null : regions[node - count];
    const before = inner ? inner.axis : width / 2;
    const key = analysis.dominatorOrder[inner ? inner.header : node];
    const item = newItem(node, null, rowOf[node], key, before, width - before);
    plan.items[node] = item;
    items.push(item);
  }
  for (const net of region.nets) {
    net.items = trunkItems(net);
    for (const item of net.items) items.push(item);
    if (net.entry) items.push(newItem(-1, net, 0, net.key, TRUNK_HALF, TRUNK_HALF));
  }
  items.sort((a, b) => a.key - b.key || a.row - b.row);
  region.rows = Array.from({ length: region.rowCount + 2 }, () => []);
  for (const item of items) {
    const row = region.rows[item.row];
    item.left = row[row.length - 1] ?? null;
    if (item.left) item.left.right = item;
    row.push(item);
  }
}

/**
 * The items of a net below its first source, connected with each other.
 * @param {Net} net
 */
function trunkItems(net) {
  const start = net.inLane ? Math.max(net.first + 1, net.last) : net.first + 1;
  const end = net.kind === EXIT ? net.last : net.kind === BACK ? -1 : net.last - 1;
  if (start > end) return net.items;
  const items = [newItem(-1, net, start, net.key, TRUNK_HALF, TRUNK_HALF)];
  for (let row = start + 1; row <= end; row += 1) {
    const item = newItem(-1, net, row, net.key, TRUNK_HALF, TRUNK_HALF);
    const above = items[items.length - 1];
    item.above = above;
    above.firstBelow = above.lastBelow = item;
    items.push(item);
  }
  return items;
}

/**
 * @param {number} node
 * @param {Net | null} net
 * @param {number} row
 * @param {number} key
 * @param {number} before
 * @param {number} after
 * @returns {Item}
 */
function newItem(node, net, row, key, before, after) {
  return {
    node, net, row, key, before, after, axis: 0,
    above: null, firstBelow: null, lastBelow: null, left: null, right: null, track: null,
  };
}

/**
 * Connects each node with the node of the region that contains its immediate dominator. A node that
 * no node of the region dominates, such as the side entry of an irreducible loop, follows a predecessor.
 * @param {Plan} plan
 * @param {Region} region
 */
function linkDominators(plan, region) {
  const { count, regions, regionOf, analysis, items } = plan;
  for (const node of region.nodes) {
    const item = /** @type {Item} */ (items[node]);
    let above = analysis.dominators[node < count ? node : regions[node - count].header];
    while (above >= 0 && regionOf[above] !== region.id) above = regionOf[above] > 0 ? count + regionOf[above] : -1;
    item.above = above >= 0 ? items[above] : null;
  }
  for (const net of region.nets) {
    const item = net.kind === LOCAL ? items[net.node] : null;
    if (item && !item.above) item.above = items[net.wires.find((wire) => wire.from !== ENTRY)?.from ?? -1] ?? null;
  }
  for (const node of region.nodes) {
    const item = /** @type {Item} */ (items[node]);
    if (item.above && item.above.row >= item.row) item.above = null;
  }
  for (const row of region.rows) {
    for (const item of row) {
      if (item.node < 0 || item.above?.row !== item.row - 1) continue;
      item.above.firstBelow ??= item;
      item.above.lastBelow = item;
    }
  }
}

/**
 * @param {Plan} plan
 * @param {Item} item
 */
function axisFromAbove(plan, item) {
  if (item.above) return item.above.axis;
  if (!item.net) return item.axis;
  let sum = 0;
  let sources = 0;
  for (const wire of item.net.wires) {
    if (wire.from === ENTRY || (wire.row !== item.row - 1 && !item.net.inLane)) continue;
    sum += sourceAxis(plan, wire);
    sources += 1;
  }
  return sources > 0 ? sum / sources : item.axis;
}

/** @param {Item} item */
function axisFromBelow({ axis, firstBelow, lastBelow }) {
  return firstBelow && lastBelow ? (firstBelow.axis + lastBelow.axis) / 2 : axis;
}

/**
 * Where a wire leaves its source: the axis of a block, or the exit of a loop.
 * @param {Plan} plan
 * @param {Wire} wire
 */
function sourceAxis(plan, wire) {
  const item = /** @type {Item} */ (plan.items[wire.from]);
  return wire.inner ? item.axis - item.before + exitAxis(wire.inner) : item.axis;
}

/**
 * Where an exit crosses the lower border, from the left side of its region.
 * @param {Net} exit
 */
export function exitAxis({ items }) {
  return items[items.length - 1].axis;
}

/**
 * Where a net passes a row below its first source, or enters its target if that is the row.
 * @param {Plan} plan
 * @param {Net} net
 * @param {number} row
 */
export function axisInRow(plan, net, row) {
  if (net.inLane && row < net.last) return net.laneX;
  const index = net.inLane ? 0 : row - net.first - 1;
  if (index < net.items.length) return net.items[index].axis;
  const item = /** @type {Item} */ (plan.items[net.node]);
  return net.inner?.entry ? item.axis - item.before + net.inner.entry.x : item.axis;
}

/**
 * Moves all items of a row to where they prefer to be.
 * @param {Item[]} row
 * @param {Spacing} spacing
 * @param {(item: Item) => number} preferred
 */
function spreadRow(row, spacing, preferred) {
  if (row.length === 1) {
    row[0].axis = preferred(row[0]);
    return;
  }
  const axes = separate(
    row.map((item) => preferred(item)),
    row.map((item) => (item.node < 0 ? TRUNK_WEIGHT : 1)),
    row.map((item) => (item.left ? distance(item.left, item, spacing) : 0)),
  );
  row.forEach((item, i) => {
    item.axis = axes[i];
  });
}

/**
 * The least distance between the axes of two neighbours.
 * @param {Item} left
 * @param {Item} right
 * @param {Spacing} spacing
 */
function distance(left, right, spacing) {
  // One is added because axes are rounded.
  return left.after + right.before + 1 + (left.node < 0 && right.node < 0 ? spacing.trunkGap : spacing.blockGap);
}

/**
 * Positions with the least weighted sum of squares of deviations from `preferred`, such that
 * position `i` is at least `distances[i]` to the right of position `i - 1`. This is isotonic
 * regression, solved by pooling adjacent violators.
 * @param {ArrayLike<number>} preferred
 * @param {ArrayLike<number>} weights
 * @param {ArrayLike<number>} distances
 * @returns {Float64Array}
 */
export function separate(preferred, weights, distances) {
  const count = preferred.length;
  const offsets = new Float64Array(count);
  for (let i = 1; i < count; i += 1) offsets[i] = offsets[i - 1] + distances[i];
  const means = new Float64Array(count);
  const masses = new Float64Array(count);
  const ends = new Int32Array(count);
  let pools = 0;
  for (let i = 0; i < count; i += 1) {
    means[pools] = preferred[i] - offsets[i];
    masses[pools] = weights[i];
    ends[pools] = i + 1;
    pools += 1;
    while (pools > 1 && means[pools - 2] > means[pools - 1]) {
      const mass = masses[pools - 2] + masses[pools - 1];
      means[pools - 2] = (means[pools - 2] * masses[pools - 2] + means[pools - 1] * masses[pools - 1]) / mass;
      masses[pools - 2] = mass;
      ends[pools - 2] = i + 1;
      pools -= 1;
    }
  }
  const positions = new Float64Array(count);
  for (let pool = 0, i = 0; pool < pools; pool += 1) {
    for (; i < ends[pool]; i += 1) positions[i] = means[pool] + offsets[i];
  }
  return positions;
}

/**
 * Removes bends of trunks where the neighbours leave room. Two sweeps in opposite directions are
 * enough in practice: the first gives room to the second where several trunks are adjacent.
 * @param {Region} region
 * @param {Spacing} spacing
 */
function straightenTrunks(region, spacing) {
  const nets = region.nets.filter((net) => net.items.length > 1).sort((a, b) => a.key - b.key);
  for (const net of nets) straighten(net.items, spacing);
  for (const net of nets.reverse()) straighten(net.items, spacing);
}

/**
 * Divides a trunk into the fewest pieces that can be straight, from above.
 * @param {Item[]} items
 * @param {Spacing} spacing
 */
function straighten(items, spacing) {
  for (let start = 0; start < items.length; ) {
    let low = -Infinity;
    let high = Infinity;
    let sum = 0;
    let end = start;
    for (; end < items.length; end += 1) {
      const item = items[end];
      const least = item.left ? item.left.axis + distance(item.left, item, spacing) : -Infinity;
      const most = item.right ? item.right.axis - distance(item, item.right, spacing) : Infinity;
      if (end > start && (Math.max(low, least) > Math.min(high, most))) break;
      low = Math.max(low, least);
      high = Math.min(high, most);
      sum += item.axis;
    }
    // With rounding errors, the range of a single item may be empty; the item then stays.
    const axis = low > high ? items[start].axis : Math.min(high, Math.max(low, sum / (end - start)));
    for (; start < end; start += 1) items[start].axis = axis;
  }
}

/**
 * Rounds all axes and moves the region so that its leftmost item begins at `left`.
 * @param {Region} region
 * @param {number} left
 */
function shiftTo(region, left) {
  let least = Infinity;
  for (const row of region.rows) if (row.length > 0) least = Math.min(least, row[0].axis - row[0].before);
  const shift = least === Infinity ? 0 : Math.ceil(left - least) + 1;
  let right = left;
  for (const row of region.rows) {
    for (const item of row) {
      item.axis = Math.round(item.axis + shift);
      right = Math.max(right, item.axis + item.after);
    }
  }
  return right;
}
