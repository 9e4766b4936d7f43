// A method in two traces: the figures as text, as `veneer trace diff` prints them.

/**
 * @typedef {object} MethodRow
 * @property {string} method
 * @property {[number, number]} calls
 * @property {[number, number]} wall in nanoseconds
 * @property {[number, number, number] | null} ratio of a call's duration, with the bounds of its interval
 * @property {number | null} error the probability of such a ratio without a cause
 */

/** The probability below which a method is marked. */
const SIGNIFICANT = 0.05;

/**
 * @param {[number, number, number] | null} ratio
 * @returns {string}
 */
export function ratioText(ratio) {
  if (ratio === null) {
    return "-";
  }
  const [mean, low, high] = ratio.map((one) => one.toFixed(3));
  return `${mean} (${low} to ${high})`;
}

/**
 * @param {number | null} error
 * @returns {string}
 */
export function errorText(error) {
  if (error === null) {
    return "-";
  }
  return error < SIGNIFICANT ? `${error.toExponential(1)} ★` : error.toFixed(2);
}
