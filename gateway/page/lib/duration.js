// Ages of processes, and times on an axis. Durations are in call-figures.js.

/**
 * An age in seconds as two units at most: `3 d 4 h`, `12 s`.
 *
 * @param {number} seconds
 * @returns {string}
 */
export function formatAge(seconds) {
  const units = /** @type {[string, number][]} */ ([
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ]);
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) {
    return "0 s";
  }
  let rest = Math.floor(seconds);
  const words = [];
  for (const [name, size] of units.slice(first, first + 2)) {
    const number = Math.floor(rest / size);
    rest -= number * size;
    if (number > 0) {
      words.push(`${number} ${name}`);
    }
  }
  return words.join(" ");
}

/**
 * A time on an axis whose marks are `step` nanoseconds apart, with the digits that tell marks apart.
 *
 * @param {number} nanos
 * @param {number} step
 * @returns {string}
 */
export function formatMark(nanos, step) {
  const units = /** @type {[string, number][]} */ ([
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
    ["ns", 1],
  ]);
  const [name, size] = units.find(([, one]) => nanos >= one) ?? ["ns", 1];
  const digits = Math.min(Math.max(Math.ceil(Math.log10(size / step)), 0), 9);
  return `${(nanos / size).toFixed(digits)} ${name}`;
}
