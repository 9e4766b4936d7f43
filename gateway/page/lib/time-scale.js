// The interval of a timeline: zooming, panning, and the marks of its axis. Times are nanoseconds.

/** The shortest interval, in nanoseconds. */
const MIN_LENGTH = 10;

/**
 * @typedef {object} Interval
 * @property {number} from
 * @property {number} to
 */

/**
 * Scales an interval around a time, within the whole trace.
 *
 * @param {Interval} view
 * @param {Interval} whole
 * @param {number} factor Below 1 to see less.
 * @param {number} around
 * @returns {Interval}
 */
export function zoomed(view, whole, factor, around) {
  const length = Math.min(
    Math.max((view.to - view.from) * factor, MIN_LENGTH),
    whole.to - whole.from,
  );
  const share = (around - view.from) / (view.to - view.from);
  return within({ from: around - length * share, to: around + length * (1 - share) }, whole);
}

/**
 * Moves an interval by a part of its length, within the whole trace.
 *
 * @param {Interval} view
 * @param {Interval} whole
 * @param {number} share
 * @returns {Interval}
 */
export function moved(view, whole, share) {
  const by = (view.to - view.from) * share;
  return within({ from: view.from + by, to: view.to + by }, whole);
}

/**
 * @param {Interval} view
 * @param {Interval} whole
 * @returns {Interval}
 */
function within(view, whole) {
  const length = Math.min(view.to - view.from, whole.to - whole.from);
  const from = Math.min(Math.max(view.from, whole.from), whole.to - length);
  return { from, to: from + length };
}

/**
 * The marks of an axis: round times in ascending order, at most `most` of them.
 *
 * @param {Interval} view
 * @param {number} most
 * @returns {number[]}
 */
export function marks(view, most) {
  const step = roundStep((view.to - view.from) / Math.max(most, 1));
  const first = Math.ceil(view.from / step);
  const all = [];
  for (let n = first; n * step <= view.to && all.length < most; n += 1) {
    all.push(n * step);
  }
  return all;
}

/** The smallest of 1, 2, 5, 10, 20 … that is not below a number. @param {number} least */
function roundStep(least) {
  const power = 10 ** Math.ceil(Math.log10(Math.max(least, 1)));
  const found = [power / 5, power / 2, power].find((step) => step >= least && step >= 1);
  return found ?? power;
}
