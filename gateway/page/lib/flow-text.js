// The texts in the blocks of a picture, and how much room they need.

import { UNKNOWN, formatCount, formatExact, formatRate } from "./count-format.js";
import { shortText } from "./visible-text.js";

/** @typedef {import("./graph-types.js").Block} Block */
/** @typedef {import("./graph-types.js").Counts} Counts */

/** A block with more instructions than this is folded. */
export const FOLD_AFTER = 8;

/** Longer instructions end with an ellipsis. */
const MAX_CHARACTERS = 56;
const MIN_CHARACTERS = 22;

/** Lengths in the units of the layout. */
export const FONT_SIZE = 12;
export const LINE_HEIGHT = 16;
export const PADDING = 8;

/** The title and the counts are above the instructions, with their own ground. */
export const HEAD_HEIGHT = 2 * LINE_HEIGHT + PADDING;

/**
 * The instructions that are shown. The last line tells what is hidden, or offers to hide it again.
 * @param {Block} block
 * @param {boolean} unfolded
 * @returns {{lines: string[], fold: string | null}}
 */
export function blockLines(block, unfolded) {
  const { instructions } = block;
  // Folding one line would not save space, because the line that replaces it needs the same.
  const folds = instructions.length > FOLD_AFTER + 1;
  const shown = folds && !unfolded ? instructions.slice(0, FOLD_AFTER) : instructions;
  const lines = shown.map((instruction) => shortText(instruction, MAX_CHARACTERS));
  const hidden = instructions.length - shown.length;
  return { lines, fold: !folds ? null : hidden > 0 ? `+ ${hidden} more instructions` : "− fold" };
}

/**
 * @param {Block} block
 * @param {boolean} unfolded
 * @param {number} characterWidth of the font with `FONT_SIZE`
 */
export function blockSize(block, unfolded, characterWidth) {
  const { lines, fold } = blockLines(block, unfolded);
  let characters = MIN_CHARACTERS;
  for (const line of lines) characters = Math.max(characters, line.length);
  if (fold) characters = Math.max(characters, fold.length);
  const rows = lines.length + (fold ? 1 : 0);
  return {
    width: Math.ceil(characters * characterWidth + 2 * PADDING),
    height: HEAD_HEIGHT + (rows > 0 ? rows * LINE_HEIGHT + PADDING : 0),
  };
}

/** @param {Block} block */
export function lineText({ line }) {
  return line === null ? "" : `line ${line}`;
}

/**
 * The count and the rate of a block, as drawn in it.
 * @param {Block} block
 * @param {Counts} counts
 * @returns {[string, string]}
 */
export function countTexts({ number, reachable }, counts) {
  const count = formatCount(counts.blocks.get(number));
  if (!reachable && count === UNKNOWN) return ["not countable", ""];
  return [count, formatRate(counts.blockRates.get(number))];
}

/**
 * What a screen reader says about a block.
 * @param {Block} block
 * @param {Counts} counts
 * @param {[number, number][]} edges
 * @param {boolean} reached whether edges lead to the block
 */
export function describeBlock(block, counts, edges, reached) {
  const { number, line, header } = block;
  const count = counts.blocks.get(number);
  const successors = [...new Set(edges.filter(([from]) => from === number).map(([, to]) => to))];
  const shown = successors.slice(0, 5).join(", ");
  return [
    `block ${number}`,
    line === null ? "" : `line ${line}`,
    header ? "loop header" : "",
    reached ? "" : "no edge leads here",
    count === undefined ? "not counted" : `${formatExact(count)} times`,
    count === undefined ? "" : `${formatCount(counts.blockRates.get(number) ?? 0)} per second`,
    successors.length === 0 ? "no successors" : `successors: ${shown}`,
    successors.length > 5 ? `and ${successors.length - 5} more` : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/**
 * What a screen reader says about an edge.
 * @param {[number, number]} edge
 * @param {Counts} counts
 */
export function describeEdge([from, to], counts) {
  const count = counts.edges.get(`${from}>${to}`);
  const taken =
    count === undefined
      ? "not counted"
      : `${formatExact(count)} times, ${formatCount(counts.edgeRates.get(`${from}>${to}`) ?? 0)} per second`;
  return `edge from block ${from} to block ${to}, ${taken}`;
}
