// The rows of a memory profile: their figures, as text and for sorting.

import { countText } from "./call-figures.js";
import { shareText } from "./share.js";

/**
 * Lookups of a cache level. `margin` is the error of `misses`: 0 if they are exact, `null` if unknown.
 * @typedef {{lookups: number, misses: number, margin: number | null}} LevelCount
 */

/** @typedef {{levels: LevelCount[], instructions: LevelCount[], tlbs: LevelCount[]}} CacheCounts */

/**
 * @typedef {object} MemoryRow
 * @property {string} name
 * @property {number} reads
 * @property {number} writes
 * @property {number} fetches
 * @property {number} bytes_read
 * @property {number} bytes_written
 * @property {CacheCounts[]} caches one for each description
 */

/** A figure of a row. @typedef {{key: string, title: string}} Figure */
/** @typedef {import("./virtual-table.js").SortOrder} SortOrder */

const ACCESSES = { key: "accesses", title: "Accesses" };
const TLBS = ["TLB", "TLB2"];

/**
 * The counts of a description with their names, in the order of `veneer memory show`.
 * @param {CacheCounts | undefined} counts
 * @returns {{name: string, isData: boolean, count: LevelCount}[]}
 */
function namedCounts(counts) {
  if (counts === undefined) {
    return [];
  }
  const levels = counts.levels.map((count, at) => ({ name: `L${at + 1}`, isData: true, count }));
  const instructions = counts.instructions.map((count) => ({ name: "L1I", isData: false, count }));
  const tlbs = counts.tlbs.map((count, at) => ({ name: TLBS[at], isData: false, count }));
  return [...levels, ...instructions, ...tlbs];
}

/**
 * The figures that the rows have for a description.
 * @param {MemoryRow} total
 * @param {number} cache
 * @returns {Figure[]}
 */
export function figuresOf(total, cache) {
  const counts = namedCounts(total.caches[cache]);
  return [ACCESSES, ...counts.map(({ name }) => ({ key: name, title: `${name} misses` }))];
}

/**
 * The figure by which rows are sorted first: the misses of the last level of data, or the accesses.
 * @param {MemoryRow} total
 * @param {number} cache
 */
export function mainFigure(total, cache) {
  const levels = namedCounts(total.caches[cache]).filter(({ isData }) => isData);
  return levels.at(-1)?.name ?? ACCESSES.key;
}

/**
 * @param {MemoryRow} row
 * @param {number} cache
 * @param {string} key
 * @returns {number}
 */
export function figureOf(row, cache, key) {
  if (key === ACCESSES.key) {
    return row.reads + row.writes + row.fetches;
  }
  return namedCounts(row.caches[cache]).find(({ name }) => name === key)?.count.misses ?? 0;
}

/**
 * A figure as the command writes it: misses with their error and their share of the lookups.
 * @param {MemoryRow} row
 * @param {number} cache
 * @param {string} key
 * @returns {string}
 */
export function figureText(row, cache, key) {
  const count = namedCounts(row.caches[cache]).find(({ name }) => name === key)?.count;
  if (count === undefined) {
    return countText(figureOf(row, cache, key));
  }
  const { lookups, misses, margin } = count;
  const error = margin === null ? " ± ?" : margin === 0 ? "" : ` ± ${countText(margin)}`;
  const share = lookups === 0 ? "" : ` (${shareText(misses, lookups)})`;
  return `${countText(misses)}${error}${share}`;
}

/**
 * @param {MemoryRow[]} rows
 * @param {number} cache
 * @param {SortOrder} order
 * @returns {MemoryRow[]}
 */
export function sortedRows(rows, cache, { key, isDescending }) {
  const sign = isDescending ? -1 : 1;
  const byName = (/** @type {MemoryRow} */ a, /** @type {MemoryRow} */ b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const byFigure = (/** @type {MemoryRow} */ a, /** @type {MemoryRow} */ b) =>
    sign * (figureOf(a, cache, key) - figureOf(b, cache, key)) || byName(a, b);
  return [...rows].sort(key === "name" ? (a, b) => sign * byName(a, b) : byFigure);
}
