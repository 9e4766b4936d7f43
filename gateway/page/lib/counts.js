// The counts of a method's blocks and edges, from the updates of an agent.

/**
 * @typedef {object} Counts
 * @property {Map<number, number>} blocks Passes of blocks, by number.
 * @property {Map<string, number>} edges Passes of edges, by `3>4`.
 * @property {Map<number, number>} blockRates Passes per second in the last interval.
 * @property {Map<string, number>} edgeRates
 * @property {number} millis The time of the last update, since the agent's start.
 */

/**
 * @typedef {object} Point
 * @property {string} class
 * @property {string} method
 * @property {number} [fragment]
 * @property {number} [to]
 * @property {number} [hits]
 * @property {number} [count]
 * @property {number} [total_ns]
 * @property {number} [min_ns]
 * @property {number} [max_ns]
 */

/**
 * @typedef {object} Update
 * @property {number} millis
 * @property {{id: string, attached: boolean, points: Point[]}[]} instruments
 */

/** @returns {Counts} */
export function noCounts() {
  return {
    blocks: new Map(),
    edges: new Map(),
    blockRates: new Map(),
    edgeRates: new Map(),
    millis: 0,
  };
}

/**
 * Adds an update, which has the totals of the points that changed. Returns new counts.
 *
 * @param {Counts} counts
 * @param {Update} update
 * @param {Record<string, string>} roles The role of each instrument: `blocks` or `edges`.
 * @param {{class: string, method: string}} method
 * @returns {Counts}
 */
export function addUpdate(counts, update, roles, method) {
  const seconds = counts.millis === 0 ? 0 : (update.millis - counts.millis) / 1000;
  const next = {
    blocks: new Map(counts.blocks),
    edges: new Map(counts.edges),
    blockRates: new Map(),
    edgeRates: new Map(),
    millis: update.millis,
  };
  for (const instrument of update.instruments) {
    const role = roles[instrument.id];
    for (const point of instrument.points) {
      if (point.class !== method.class || point.method !== method.method) {
        continue;
      }
      const hits = point.hits ?? 0;
      if (role === "blocks" && point.fragment !== undefined) {
        put(next.blocks, next.blockRates, point.fragment, hits, seconds);
      } else if (role === "edges" && point.fragment !== undefined && point.to !== undefined) {
        put(next.edges, next.edgeRates, `${point.fragment}>${point.to}`, hits, seconds);
      }
    }
  }
  return next;
}

/**
 * @template K
 * @param {Map<K, number>} totals
 * @param {Map<K, number>} rates
 * @param {K} key
 * @param {number} hits
 * @param {number} seconds
 */
function put(totals, rates, key, hits, seconds) {
  const before = totals.get(key);
  totals.set(key, hits);
  // The first total of a point covers a time that is not known.
  if (before !== undefined && seconds > 0 && hits > before) {
    rates.set(key, (hits - before) / seconds);
  }
}
