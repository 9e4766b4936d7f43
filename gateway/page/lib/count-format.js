// Counts and rates as short texts.

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];

/** Shown where no number is known. */
export const UNKNOWN = "–";

/**
 * Three significant digits with a prefix: `999`, `12.3 k`, `1.00 M`. Whole numbers below 1,000 are exact.
 * @param {number | undefined} value
 */
export function formatCount(value) {
  if (value === undefined || !Number.isFinite(value) || value < 0) return UNKNOWN;
  if (Number.isInteger(value) && value < 1000) return String(value);
  let scaled = value;
  let prefix = 0;
  // 999.6 has four digits when it is rounded, so it takes the next prefix.
  while (scaled >= 999.5 && prefix < PREFIXES.length - 1) {
    scaled /= 1000;
    prefix += 1;
  }
  const text = scaled < 9.995 ? scaled.toFixed(2) : scaled < 99.95 ? scaled.toFixed(1) : scaled.toFixed(0);
  return prefix === 0 ? text : `${text}\u00a0${PREFIXES[prefix]}`;
}

/**
 * A number per second: `12.3 k/s`.
 * @param {number | undefined} value
 */
export function formatRate(value) {
  const text = formatCount(value);
  return text === UNKNOWN ? text : `${text}/s`;
}

/**
 * The number with all digits, in groups of three: `12,345,678`.
 * @param {number | undefined} value
 */
export function formatExact(value) {
  if (value === undefined || !Number.isFinite(value)) return UNKNOWN;
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}
