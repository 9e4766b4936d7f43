// A part of a whole in percent.

/**
 * The share as text: `12.3 %`; `-` if the whole is 0. A share that is not 0 is not shown as 0.
 * @param {number} part
 * @param {number} [whole]
 * @returns {string}
 */
export function shareText(part, whole = 1) {
  if (!(whole > 0)) {
    return "-";
  }
  const percent = (100 * part) / whole;
  if (percent !== 0 && Math.abs(percent) < 0.05) {
    return percent > 0 ? "< 0.1 %" : "> −0.1 %";
  }
  return `${percent.toFixed(1).replace("-", "−")} %`;
}
