// An experiment of `veneer tune`: its figures as text, and its windows as bars.

import { formatCount } from "./count-format.js";

/**
 * @typedef {object} TuningWindow
 * @property {boolean} transformed whether the method ran with the transformation
 * @property {number} seconds
 * @property {number} progress calls of the goal
 */

/**
 * A decision of `veneer tune --json`.
 * @typedef {object} TuningDecision
 * @property {string} method
 * @property {string} transformation
 * @property {{size: number, goal: string | null}} arguments
 * @property {number | null} before calls of the goal per second
 * @property {number | null} after
 * @property {number | null} gain
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} kept
 * @property {string} reason
 * @property {string} [patch]
 * @property {TuningWindow[]} [windows]
 */

/** The windows of a block: without the transformation, with it, with it, without. */
const BLOCK = 4;
/** The gap between two blocks, as a part of a window's width. */
const BLOCK_GAP = 0.6;

/**
 * The rate of a window: calls of the goal per second.
 * @param {TuningWindow} window
 */
export function rateOf({ seconds, progress }) {
  return seconds > 0 ? progress / seconds : 0;
}

/**
 * The gain and its interval: `1.46 times as many (1.31 to 1.60)`. Empty if it is not known.
 * @param {TuningDecision} decision
 */
export function gainText({ gain, low, high }) {
  if (gain === null) {
    return "";
  }
  const end = (/** @type {number | null} */ value) => (value === null ? null : value.toFixed(2));
  const [from, to] = [end(low), end(high)];
  const interval =
    from !== null && to !== null
      ? ` (${from} to ${to})`
      : from !== null
        ? ` (${from} at least)`
        : to !== null
          ? ` (${to} at most)`
          : "";
  return `${gain.toFixed(2)} times as many${interval}`;
}

/**
 * The measured rates in a sentence. Empty if they are not known.
 * @param {TuningDecision} decision
 */
export function ratesText(decision) {
  const { before, after, arguments: given } = decision;
  if (before === null || after === null || decision.gain === null) {
    return "";
  }
  const rates = `${formatCount(before)} before, ${formatCount(after)} after`;
  return `Calls of ${given.goal ?? "the goal"} per second: ${rates}; ${gainText(decision)}`;
}

/**
 * @typedef {object} Bar
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {boolean} transformed
 * @property {number} rate
 */

/**
 * The bars of the windows. All heights have the same scale, which begins at 0.
 * @param {TuningWindow[]} windows
 * @param {{width: number, height: number}} size
 * @returns {Bar[]}
 */
export function windowBars(windows, size) {
  const blocks = Math.ceil(windows.length / BLOCK);
  const width = size.width / Math.max(1, windows.length + Math.max(0, blocks - 1) * BLOCK_GAP);
  const greatest = Math.max(...windows.map(rateOf), 0);
  return windows.map((window, at) => {
    const rate = rateOf(window);
    const height = greatest > 0 ? (size.height * rate) / greatest : 0;
    const x = (at + Math.floor(at / BLOCK) * BLOCK_GAP) * width;
    return { x, y: size.height - height, width: width * 0.9, height, transformed: window.transformed, rate };
  });
}
