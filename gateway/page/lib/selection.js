// The selected block or edge of a flow graph, and its form in an address: `b3`, `e3-4`.

/** @typedef {{block: number} | {edge: [number, number]} | null} Selection */

/**
 * @param {string} text
 * @returns {Selection}
 */
export function parseSelection(text) {
  const block = /^b(\d+)$/.exec(text);
  if (block !== null) {
    return { block: Number(block[1]) };
  }
  const edge = /^e(\d+)-(\d+)$/.exec(text);
  return edge === null ? null : { edge: [Number(edge[1]), Number(edge[2])] };
}

/**
 * @param {Selection} selection
 * @returns {string}
 */
export function formatSelection(selection) {
  if (selection === null) {
    return "";
  }
  return "block" in selection ? `b${selection.block}` : `e${selection.edge.join("-")}`;
}

/**
 * The selection in words.
 *
 * @param {Selection} selection
 * @returns {string}
 */
export function describeSelection(selection) {
  if (selection === null) {
    return "the whole method";
  }
  return "block" in selection
    ? `block ${selection.block}`
    : `the edge ${selection.edge[0]} → ${selection.edge[1]}`;
}
