// The types that describe a control-flow graph and its counts, as `veneer serve` delivers them.
//
// The file holds types only. Other files import them in JSDoc comments.

/**
 * A basic block.
 * @typedef {object} Block
 * @property {number} number
 * @property {number | null} line the first source line, if the class file has line numbers
 * @property {string[]} instructions mnemonics
 * @property {number} depth the number of loops around the block
 * @property {boolean} header whether the block is a loop header
 * @property {boolean} reachable whether instruments can be attached
 * @property {{name: string, type: string}[]} variables
 */

/**
 * The control-flow graph of a method. Edges are pairs of block numbers; exception edges are absent.
 * @typedef {object} Graph
 * @property {string} class
 * @property {string} method name and descriptor
 * @property {Block[]} blocks
 * @property {[number, number][]} edges
 */

/**
 * Totals since attachment, and rates per second in the last interval. Keys of edges are `"3>4"`.
 * @typedef {object} Counts
 * @property {Map<number, number>} blocks
 * @property {Map<string, number>} edges
 * @property {Map<number, number>} blockRates
 * @property {Map<string, number>} edgeRates
 */

/**
 * What the user selected in a picture or table of a graph.
 * @typedef {{block: number} | {edge: [number, number]} | null} Selection
 */

export {};
