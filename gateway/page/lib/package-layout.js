// A layered layout for small graphs (Sugiyama, Tagawa and Toda 1981), from left to right.
//
//   1. order    a node is before the nodes that it calls more often than they call it (Eades, Lin and
//               Smyth 1993); links against this order are drawn backwards
//   2. layers   each node is one layer right of the last node that calls it
//   3. rows     links over several layers get a place in each of them; then nodes are moved towards the
//               mean of their neighbours, some times in each direction
//
// The graph has at most some dozen nodes, so simple searches are fast enough.

/** @typedef {import("./package-folding.js").Link} Link */

/**
 * @typedef {object} LayeredGraph
 * @property {{layer: number, row: number}[]} nodes rows are fractions: the middle of a column is 0
 * @property {PlacedLink[]} links
 * @property {number} layers
 * @property {number} top the least row
 * @property {number} bottom the greatest row
 */

/**
 * A link with the places through which it is drawn, from the caller to the callee.
 * @typedef {Link & {isBackward: boolean, points: {layer: number, row: number}[]}} PlacedLink
 */

/** @typedef {{layer: number, row: number, above: Place[], below: Place[]}} Place */

const SWEEPS = 12;

/**
 * @param {number} count the number of nodes
 * @param {Link[]} links without links from a node to itself
 * @returns {LayeredGraph}
 */
export function layoutGraph(count, links) {
  const order = nodeOrder(count, links);
  const layers = nodeLayers(count, links, order);
  /** @type {Place[][]} */
  const columns = Array.from({ length: Math.max(0, ...layers) + 1 }, () => []);
  const addPlace = (/** @type {number} */ layer) => {
    /** @type {Place} */
    const place = { layer, row: 0, above: [], below: [] };
    columns[layer].push(place);
    return place;
  };
  const byOrder = order.map((_, node) => node).sort((a, b) => order[a] - order[b]);
  /** @type {Place[]} */
  const places = [];
  for (const node of byOrder) {
    places[node] = addPlace(layers[node]);
  }
  const placed = links.map((link) => {
    const isBackward = order[link.from] > order[link.to];
    const [first, last] = isBackward ? [link.to, link.from] : [link.from, link.to];
    const points = [places[first]];
    for (let layer = layers[first] + 1; layer <= layers[last]; layer++) {
      const next = layer === layers[last] ? places[last] : addPlace(layer);
      points[points.length - 1].below.push(next);
      next.above.push(points[points.length - 1]);
      points.push(next);
    }
    return { ...link, isBackward, points: isBackward ? points.reverse() : points };
  });
  orderRows(columns);
  const rows = columns.flat().map(({ row }) => row);
  return {
    nodes: places.map(({ layer, row }) => ({ layer, row })),
    links: placed.map((link) => ({ ...link, points: link.points.map(({ layer, row }) => ({ layer, row })) })),
    layers: columns.length,
    top: Math.min(0, ...rows),
    bottom: Math.max(0, ...rows),
  };
}

/**
 * The position of each node in an order with few calls against it: repeatedly, a node without callees
 * becomes the last one, a node without callers the first one, or else the node that makes the most
 * calls more than it receives.
 * @param {number} count
 * @param {Link[]} links
 * @returns {number[]}
 */
export function nodeOrder(count, links) {
  const remaining = new Set(Array.from({ length: count }, (_, node) => node));
  /** @type {number[]} */
  const first = [];
  /** @type {number[]} */
  const last = [];
  while (remaining.size > 0) {
    const made = new Float64Array(count);
    const received = new Float64Array(count);
    for (const { from, to, calls } of links) {
      if (remaining.has(from) && remaining.has(to)) {
        made[from] += calls;
        received[to] += calls;
      }
    }
    const nodes = [...remaining];
    const sink = nodes.find((node) => made[node] === 0 && received[node] > 0);
    const source = nodes.find((node) => received[node] === 0);
    if (sink !== undefined) {
      last.unshift(sink);
      remaining.delete(sink);
      continue;
    }
    const best = nodes.reduce((a, b) => (made[b] - received[b] > made[a] - received[a] ? b : a));
    const next = source ?? best;
    first.push(next);
    remaining.delete(next);
  }
  /** @type {number[]} */
  const order = new Array(count);
  [...first, ...last].forEach((node, position) => (order[node] = position));
  return order;
}

/**
 * The layer of each node: one after the last layer of the nodes before it that are linked with it.
 * @param {number} count
 * @param {Link[]} links
 * @param {number[]} order
 * @returns {number[]}
 */
function nodeLayers(count, links, order) {
  const layers = new Array(count).fill(0);
  const forward = links.map(({ from, to }) => (order[from] < order[to] ? [from, to] : [to, from]));
  forward.sort((a, b) => order[a[0]] - order[b[0]]);
  for (const [from, to] of forward) {
    layers[to] = Math.max(layers[to], layers[from] + 1);
  }
  return layers;
}

/**
 * Orders the places of each column by the mean rows of their neighbours.
 * @param {Place[][]} columns
 */
function orderRows(columns) {
  columns.forEach(spread);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForward = sweep % 2 === 0;
    const order = isForward ? columns : columns.slice().reverse();
    for (const column of order) {
      const means = new Map(column.map((place) => [place, meanRow(place, isForward)]));
      const mean = (/** @type {Place} */ place) => /** @type {number} */ (means.get(place));
      column.sort((a, b) => mean(a) - mean(b));
      spread(column);
    }
  }
}

/**
 * @param {Place} place
 * @param {boolean} isForward
 */
function meanRow(place, isForward) {
  const neighbours = isForward ? place.above : place.below;
  if (neighbours.length === 0) {
    return place.row;
  }
  return neighbours.reduce((sum, { row }) => sum + row, 0) / neighbours.length;
}

/**
 * Gives the places of a column adjacent rows around 0.
 * @param {Place[]} column
 */
function spread(column) {
  column.forEach((place, position) => (place.row = position - (column.length - 1) / 2));
}
