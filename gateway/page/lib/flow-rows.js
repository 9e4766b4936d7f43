// The rows of the table of a control-flow graph, and which of them are visible.

/** @typedef {import("./graph-types.js").Graph} Graph */
/** @typedef {import("./graph-types.js").Counts} Counts */
/** @typedef {"block" | "line" | "count" | "rate" | "share" | "successors"} Column */

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
 * One row for each block, in the order of numbers. The share refers to rates, or to totals while
 * nothing is executed.
 * @param {Graph} graph
 * @param {Counts} counts
 * @returns {FlowRow[]}
 */
export function flowRows(graph, counts) {
  const rates = sumOf(graph, counts.blockRates);
  const shares = rates > 0 ? counts.blockRates : counts.blocks;
  const whole = rates > 0 ? rates : sumOf(graph, counts.blocks);
  /** @type {Map<number, FlowRow>} */
  const rows = new Map();
  for (const { number, line, header } of graph.blocks) {
    const share = whole > 0 ? (shares.get(number) ?? 0) / whole : 0;
    rows.set(number, {
      block: number,
      line,
      header,
      count: counts.blocks.get(number),
      rate: counts.blockRates.get(number),
      share,
      successors: [],
    });
  }
  for (const key of new Set(graph.edges.map(([from, to]) => `${from}>${to}`))) {
    const [from, to] = key.split(">").map(Number);
    rows.get(from)?.successors.push({ to, count: counts.edges.get(key), rate: counts.edgeRates.get(key) });
  }
  const sorted = [...rows.values()].sort((a, b) => a.block - b.block);
  for (const row of sorted) row.successors.sort((a, b) => (b.count ?? -1) - (a.count ?? -1) || a.to - b.to);
  return sorted;
}

/**
 * The sum over the blocks of the graph. Figures of an older version may contain other blocks.
 * @param {Graph} graph
 * @param {Map<number, number>} figures
 */
function sumOf(graph, figures) {
  let total = 0;
  for (const { number } of graph.blocks) total += figures.get(number) ?? 0;
  return total;
}

/**
 * The rows in another order. Rows with equal figures keep the order of block numbers.
 * @param {FlowRow[]} rows in the order of block numbers
 * @param {Column} column
 * @param {boolean} descending
 */
export function sortRows(rows, column, descending) {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => sign * (figure(a, column) - figure(b, column)));
}

/**
 * What a column is sorted by. Unknown figures are below zero.
 * @param {FlowRow} row
 * @param {Column} column
 */
function figure(row, column) {
  switch (column) {
    case "block":
      return row.block;
    case "line":
      return row.line ?? -1;
    case "count":
      return row.count ?? -1;
    case "rate":
      return row.rate ?? -1;
    case "share":
      return row.share;
    case "successors":
      return row.successors.length;
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
