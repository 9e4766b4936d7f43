// Moving through a control-flow graph with the arrow keys.

/** @typedef {import("./flow-layout.js").FlowLayout} FlowLayout */
/** @typedef {import("./flow-layout.js").PlacedBlock} PlacedBlock */
/** @typedef {import("./flow-layout.js").PlacedEdge} PlacedEdge */
/** @typedef {"up" | "down" | "left" | "right"} Direction */

/**
 * The block that an arrow key leads to, or null.
 *
 * Down leads along an edge to a successor, up against an edge to a predecessor; edges that go
 * forward come first, and of these the one whose other end is nearest in horizontal direction. Left
 * and right lead to the nearest block at the same height.
 * @param {FlowLayout} layout
 * @param {number} number
 * @param {Direction} direction
 */
export function neighbour(layout, number, direction) {
  const block = layout.blocks.get(number);
  if (!block) return null;
  if (direction === "left" || direction === "right") return besides(layout, block, direction);
  /** @type {PlacedBlock | null} */
  let best = null;
  let least = Infinity;
  for (const { from, to, kind } of layout.edges) {
    if ((direction === "down" ? from : to) !== number || kind === "self") continue;
    const other = layout.blocks.get(direction === "down" ? to : from);
    if (!other) continue;
    const distance = Math.abs(middle(other) - middle(block)) + (kind === "forward" ? 0 : 1e9);
    if (distance >= least) continue;
    least = distance;
    best = other;
  }
  return best ? best.number : null;
}

/** @param {PlacedBlock} block */
function middle({ x, width }) {
  return x + width / 2;
}

/**
 * @param {FlowLayout} layout
 * @param {PlacedBlock} block
 * @param {"left" | "right"} direction
 */
function besides(layout, block, direction) {
  /** @type {PlacedBlock | null} */
  let best = null;
  let least = Infinity;
  for (const other of layout.blocks.values()) {
    if (other.y >= block.y + block.height || block.y >= other.y + other.height) continue;
    const gap = direction === "right" ? other.x - block.x : block.x - other.x;
    if (gap <= 0) continue;
    const distance = gap + Math.abs(other.y - block.y) / 1000;
    if (distance >= least) continue;
    least = distance;
    best = other;
  }
  return best ? best.number : null;
}

/**
 * The edge out of a block that follows another one, in the order of targets and around.
 * @param {FlowLayout} layout
 * @param {number} from
 * @param {number | null} to the target of the current edge
 * @param {1 | -1} step
 * @returns {[number, number] | null}
 */
export function nextEdge(layout, from, to, step) {
  const targets = layout.edges.filter((edge) => edge.from === from).map((edge) => edge.to);
  if (targets.length === 0) return null;
  const current = to === null ? -1 : targets.indexOf(to);
  const next = current < 0 ? (step > 0 ? 0 : targets.length - 1) : (current + step + targets.length) % targets.length;
  return [from, targets[next]];
}
