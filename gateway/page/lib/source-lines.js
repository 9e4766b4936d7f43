// The lines of a method's source, with the counts of the blocks that they belong to. Pure.

/** @typedef {import("./graph-types.js").Counts} Counts */

/**
 * The source of a method as the server sends it.
 * @typedef {object} Source
 * @property {string} file
 * @property {string | null} place
 * @property {number} first the number of the first line
 * @property {string[]} lines
 * @property {Record<string, number[]>} blocks the lines of each block
 */

/**
 * @typedef {object} SourceLine
 * @property {number} number
 * @property {string} text
 * @property {number[]} blocks in ascending order
 * @property {number | undefined} count passes of the block of the line that is executed most often
 * @property {number | undefined} rate
 */

/**
 * @param {Source} source
 * @param {Counts} counts
 * @returns {SourceLine[]}
 */
export function sourceLines({ first, lines, blocks }, counts) {
  /** @type {Map<number, number[]>} */
  const blocksOfLine = new Map();
  for (const [block, numbers] of Object.entries(blocks)) {
    for (const number of numbers) {
      blocksOfLine.set(number, [...(blocksOfLine.get(number) ?? []), Number(block)]);
    }
  }
  return lines.map((text, n) => {
    const number = first + n;
    const own = (blocksOfLine.get(number) ?? []).sort((a, b) => a - b);
    return { number, text, blocks: own, count: greatest(own, counts.blocks), rate: greatest(own, counts.blockRates) };
  });
}

/**
 * @param {number[]} blocks
 * @param {Map<number, number>} figures
 */
function greatest(blocks, figures) {
  const known = blocks.map((block) => figures.get(block)).filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/**
 * The block that a click on a line selects: its first one, or the one after the selected one.
 * @param {number[]} blocks
 * @param {number | null} selected
 * @returns {number | undefined}
 */
export function nextBlock(blocks, selected) {
  const at = selected === null ? -1 : blocks.indexOf(selected);
  return blocks[(at + 1) % blocks.length];
}
