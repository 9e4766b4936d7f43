// The rows of the table of a control-flow graph, and which of them are visible.

/** @typedef {import("./graph-types.js").Graph} Graph */
/** @typedef {import("./graph-types.js").Counts} Counts */
/** @typedef {"block" | "line" | "count" | "rate" | "share" | "successors"} Column */

/**
 * What a row shows of the graph alone. It stays the same while counts change.
 * @typedef {object} FlowOutline
 * @property {number} block
 * @property {number | null} line
 * @property {boolean} header
 * @property {{to: number, key: string}[]} targets where edges lead, and their keys in the counts
 */

/**
 * @typedef {object} FlowRow
 * @property {number} block
 * @property {number | null} line
 * @property {boolean} header
 * @property {number | undefined} count
 * @property {number | undefined} rate
 * @property {number} share of all executions of blocks, from 0 to 1
 * @property {{to: number, count: number | undefined, rate: number | undefined}[]} successors
 */

/**
 * What shares refer to: rates, or totals while nothing is executed.
 * @typedef {{figures: Map<number, number>, whole: number}} ShareBase
 */

/**
 * One outline for each block, in the order of numbers.
 * @param {Graph} graph
 * @returns {FlowOutline[]}
 */
export function flowOutlines(graph) {
  /** @type {Map<number, FlowOutline>} */
  const outlines = new Map();
  for (const { number, line, header } of graph.blocks) {
    outlines.set(number, { block: number, line, header, targets: [] });
  }
  for (const key of new Set(graph.edges.map(([from, to]) => `${from}>${to}`))) {
    const [from, to] = key.split(">").map(Number);
    outlines.get(from)?.targets.push({ to, key });
  }
  return [...outlines.values()].sort((a, b) => a.block - b.block);
}

/**
 * @param {FlowOutline[]} outlines
 * @param {Counts} counts
 * @returns {ShareBase}
 */
export function shareBase(outlines, counts) {
  const rates = sumOf(outlines, counts.blockRates);
  if (rates > 0) return { figures: counts.blockRates, whole: rates };
  return { figures: counts.blocks, whole: sumOf(outlines, counts.blocks) };
}

/**
 * The sum over the blocks of the graph. Figures of an older version may contain other blocks.
 * @param {FlowOutline[]} outlines
 * @param {Map<number, number>} figures
 */
function sumOf(outlines, figures) {
  let total = 0;
  for (const { block } of outlines) total += figures.get(block) ?? 0;
  return total;
}

/**
 * A row with its figures, and its successors from the most to the least frequent.
 *
 * Rows are made for the visible outlines only: counts change ten times a second, and a method may
 * have 10,000 blocks.
 * @param {FlowOutline} outline
 * @param {Counts} counts
 * @param {ShareBase} base
 * @returns {FlowRow}
 */
export function flowRow({ block, line, header, targets }, counts, { figures, whole }) {
  const successors = targets.map(({ to, key }) => {
    return { to, count: counts.edges.get(key), rate: counts.edgeRates.get(key) };
  });
  successors.sort((a, b) => (b.count ?? -1) - (a.count ?? -1) || a.to - b.to);
  return {
    block,
    line,
    header,
    count: counts.blocks.get(block),
    rate: counts.blockRates.get(block),
    share: whole > 0 ? (figures.get(block) ?? 0) / whole : 0,
    successors,
  };
}

/**
 * The outlines in another order. Those with equal figures keep the order of block numbers.
 * @param {FlowOutline[]} outlines in the order of block numbers
 * @param {Column} column
 * @param {boolean} descending
 * @param {Counts} counts
 * @param {ShareBase} base
 */
export function sortOutlines(outlines, column, descending, counts, base) {
  const sign = descending ? -1 : 1;
  const figure = figureOf(column, counts, base);
  return [...outlines].sort((a, b) => sign * (figure(a) - figure(b)));
}

/**
 * Whether the order by a column depends on counts.
 * @param {Column} column
 */
export function isOrderOfCounts(column) {
  return column === "count" || column === "rate" || column === "share";
}

/**
 * What a column is sorted by. Unknown figures are below zero.
 * @param {Column} column
 * @param {Counts} counts
 * @param {ShareBase} base
 * @returns {(outline: FlowOutline) => number}
 */
function figureOf(column, counts, base) {
  switch (column) {
    case "block":
      return ({ block }) => block;
    case "line":
      return ({ line }) => line ?? -1;
    case "count":
      return ({ block }) => counts.blocks.get(block) ?? -1;
    case "rate":
      return ({ block }) => counts.blockRates.get(block) ?? -1;
    case "share":
      return ({ block }) => base.figures.get(block) ?? 0;
    case "successors":
      return ({ targets }) => targets.length;
  }
}

/**
 * The first and one more than the last row to render, of rows with the same height.
 * @param {number} scrollTop
 * @param {number} height of the window
 * @param {number} rowHeight
 * @param {number} count
 * @param {number} [overscan] rows beyond both ends, so that fast scrolling shows no gap
 */
export function rowRange(scrollTop, height, rowHeight, count, overscan = 8) {
  const first = Math.min(count, Math.max(0, Math.floor(scrollTop / rowHeight) - overscan));
  const end = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + overscan);
  return { first, end: Math.max(first, end) };
}

/**
 * The position of the scroll bar, as near as possible to the present one, at which a row is visible.
 * @param {number} scrollTop
 * @param {number} height
 * @param {number} rowHeight
 * @param {number} row
 */
export function scrollToRow(scrollTop, height, rowHeight, row) {
  const top = row * rowHeight;
  return Math.max(Math.min(scrollTop, top), top + rowHeight - height);
}
