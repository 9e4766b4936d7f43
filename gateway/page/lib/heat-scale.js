// The logarithmic scale from rates to the seven heat colours of the page.
//
// Step 0 means "not executed". Step 6 begins at a quarter of the greatest rate, and each step below
// begins at a quarter of the one above; step 1 has everything else. The scale is relative, because
// the question is which block of a method is hot, and methods differ by many orders of magnitude.

/** @typedef {import("./graph-types.js").Counts} Counts */
/** @typedef {"rate" | "total" | "off"} HeatMode */

const STEPS = 6;
const FACTOR = 4;

/**
 * @typedef {object} HeatScale
 * @property {number} greatest the greatest value of a block or an edge
 * @property {(value: number | undefined) => number} step from 0 to 6
 */

/**
 * @param {number} greatest
 * @returns {HeatScale}
 */
export function heatScale(greatest) {
  return {
    greatest,
    step(value) {
      if (value === undefined || !(value > 0) || !(greatest > 0)) return 0;
      // Divisions instead of a logarithm, so that the limits are exactly those of the legend.
      let step = STEPS;
      for (let limit = greatest / FACTOR; step > 1 && value < limit; limit /= FACTOR) step -= 1;
      return step;
    },
  };
}

/**
 * The least value of each step from 1 to 6, for a legend.
 * @param {number} greatest
 */
export function heatThresholds(greatest) {
  return Array.from({ length: STEPS }, (_, i) => (i === 0 ? 0 : greatest / FACTOR ** (STEPS - i)));
}

/**
 * The values of blocks and edges that a mode colours, and their scale.
 * @param {Counts} counts
 * @param {HeatMode} mode
 */
export function heatOf(counts, mode) {
  if (mode === "off") return { blocks: new Map(), edges: new Map(), scale: heatScale(0) };
  const blocks = mode === "rate" ? counts.blockRates : counts.blocks;
  const edges = mode === "rate" ? counts.edgeRates : counts.edges;
  let greatest = 0;
  for (const value of blocks.values()) greatest = Math.max(greatest, value);
  for (const value of edges.values()) greatest = Math.max(greatest, value);
  return { blocks, edges, scale: heatScale(greatest) };
}
