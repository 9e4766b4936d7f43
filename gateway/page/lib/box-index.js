// A search tree over rectangles, for culling and for finding what is below the pointer.
//
// The rectangles are sorted along a Z-order curve, and each 16 neighbours form a node of the level
// above (a packed R-tree). The tree does not change after it was built. Pictures of methods may be
// a million units high and 300 wide, or the reverse, so a grid with fixed cells would not do.

const NODE_SIZE = 16;

/** Cells of the Z-order curve in each direction: 16 bits. */
const CELLS = 65535;

export class BoxIndex {
  /**
   * @param {Float64Array} boxes four numbers for each rectangle: left, top, right, bottom
   */
  constructor(boxes) {
    const count = boxes.length / 4;
    this.order = zOrder(boxes, count);
    /** @type {Float64Array[]} the rectangles of each level; level 0 is in the order of the curve */
    this.levels = [];
    const leaves = new Float64Array(boxes.length);
    this.order.forEach((box, i) => leaves.set(boxes.subarray(box * 4, box * 4 + 4), i * 4));
    this.levels.push(leaves);
    for (let level = leaves; level.length > 4; ) {
      level = parents(level);
      this.levels.push(level);
    }
  }

  /**
   * Calls `visit` with the position of each rectangle that touches the given one, in no particular order.
   * @param {number} left
   * @param {number} top
   * @param {number} right
   * @param {number} bottom
   * @param {(box: number) => void} visit
   */
  search(left, top, right, bottom, visit) {
    if (this.order.length === 0) return;
    const stack = [this.levels.length - 1, 0];
    while (stack.length > 0) {
      const node = Number(stack.pop());
      const level = Number(stack.pop());
      const boxes = this.levels[level];
      const at = node * 4;
      if (boxes[at] > right || boxes[at + 1] > bottom || boxes[at + 2] < left || boxes[at + 3] < top) continue;
      if (level === 0) {
        visit(this.order[node]);
        continue;
      }
      const end = Math.min((node + 1) * NODE_SIZE, this.levels[level - 1].length / 4);
      for (let child = node * NODE_SIZE; child < end; child += 1) stack.push(level - 1, child);
    }
  }
}

/**
 * @param {Float64Array} boxes
 * @param {number} count
 */
function zOrder(boxes, count) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < boxes.length; i += 4) {
    left = Math.min(left, boxes[i]);
    top = Math.min(top, boxes[i + 1]);
    right = Math.max(right, boxes[i + 2]);
    bottom = Math.max(bottom, boxes[i + 3]);
  }
  const width = Math.max(right - left, Number.MIN_VALUE);
  const height = Math.max(bottom - top, Number.MIN_VALUE);
  const codes = new Float64Array(count);
  for (let i = 0; i < count; i += 1) {
    const x = ((boxes[4 * i] + boxes[4 * i + 2]) / 2 - left) / width;
    const y = ((boxes[4 * i + 1] + boxes[4 * i + 3]) / 2 - top) / height;
    codes[i] = spread(x * CELLS) + 2 * spread(y * CELLS);
  }
  return Int32Array.from(codes, (_, i) => i).sort((a, b) => codes[a] - codes[b]);
}

/**
 * Puts a zero before each of the lower 16 bits.
 * @param {number} value
 */
function spread(value) {
  let bits = Math.floor(value);
  bits = (bits | (bits << 8)) & 0x00ff00ff;
  bits = (bits | (bits << 4)) & 0x0f0f0f0f;
  bits = (bits | (bits << 2)) & 0x33333333;
  return (bits | (bits << 1)) & 0x55555555;
}

/**
 * The rectangles around each group of neighbours.
 * @param {Float64Array} level
 */
function parents(level) {
  const count = level.length / 4;
  const result = new Float64Array(Math.ceil(count / NODE_SIZE) * 4);
  for (let i = 0; i < result.length; i += 4) {
    result[i] = result[i + 1] = Infinity;
    result[i + 2] = result[i + 3] = -Infinity;
  }
  for (let i = 0; i < count; i += 1) {
    const at = Math.floor(i / NODE_SIZE) * 4;
    result[at] = Math.min(result[at], level[4 * i]);
    result[at + 1] = Math.min(result[at + 1], level[4 * i + 1]);
    result[at + 2] = Math.max(result[at + 2], level[4 * i + 2]);
    result[at + 3] = Math.max(result[at + 3], level[4 * i + 3]);
  }
  return result;
}
