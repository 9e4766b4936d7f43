// Where the threads and calls of a timeline are drawn, and what is below the pointer. Pure.

/**
 * @typedef {{depth: number, from: number, to: number, name: number, kind: string, calls: number,
 *   owner?: number, open?: boolean}} Box
 * @typedef {{from: number, to: number, events: number, depth: number, name: number}} Part
 * @typedef {{number: number, boxes?: Box[], parts?: Part[]}} ThreadPicture
 * @typedef {{names: string[], threads: ThreadPicture[]}} Picture
 * @typedef {{number: number, top: number, height: number}} Lane
 */

export const AXIS_HEIGHT = 22;
export const TITLE_HEIGHT = 18;
export const ROW_HEIGHT = 16;
const GAP = 8;
/** The most rows of a thread that are drawn. */
export const MAX_ROWS = 24;

/**
 * The lanes of the threads, one below the other. A lane is as high as its thread is deep, and never lower
 * than before, so that the picture does not jump while the user pans.
 *
 * @param {{number: number}[]} threads
 * @param {Picture | null} picture
 * @param {Map<number, number>} rowsBefore The rows of each thread so far; is changed.
 * @returns {Lane[]}
 */
export function lanes(threads, picture, rowsBefore) {
  let top = AXIS_HEIGHT;
  return threads.map(({ number }) => {
    const thread = picture?.threads.find((one) => one.number === number);
    const depths = (thread?.boxes ?? []).map((box) => box.depth + 1);
    const needed = depths.reduce((most, depth) => Math.max(most, depth), 1);
    const rows = Math.min(Math.max(needed, rowsBefore.get(number) ?? 1), MAX_ROWS);
    rowsBefore.set(number, rows);
    const height = TITLE_HEIGHT + rows * ROW_HEIGHT + GAP;
    const lane = { number, top, height };
    top += height;
    return lane;
  });
}

/**
 * The thread and the call at a point of the picture.
 *
 * @param {Lane[]} all
 * @param {Picture | null} picture
 * @param {number} time
 * @param {number} y
 * @param {number} tolerance Half the width of a pixel in nanoseconds.
 * @returns {{number: number, box: Box | null, part: Part | null} | null}
 */
export function at(all, picture, time, y, tolerance) {
  const lane = all.find(({ top, height }) => y >= top && y < top + height);
  if (lane === undefined) {
    return null;
  }
  const { number } = lane;
  const thread = picture?.threads.find((one) => one.number === number);
  const depth = Math.floor((y - lane.top - TITLE_HEIGHT) / ROW_HEIGHT);
  const contains = (/** @type {{from: number, to: number}} */ one) =>
    one.from - tolerance <= time && time <= one.to + tolerance;
  const box = thread?.boxes?.find((one) => one.depth === depth && contains(one)) ?? null;
  const part = depth < 0 ? null : (thread?.parts?.find(contains) ?? null);
  return { number, box, part };
}

/**
 * The colour of a name: one of the steps of heat, the same for the same class.
 *
 * @param {string} name
 * @returns {number} 0 to 6.
 */
export function shade(name) {
  const end = name.indexOf("::");
  const home = end < 0 ? name : name.slice(0, end);
  let hash = 7;
  for (let n = 0; n < home.length; n += 1) {
    hash = (hash * 31 + home.charCodeAt(n)) >>> 0;
  }
  return 1 + (hash % 5);
}

/**
 * Lines from a thread that waits for a monitor to the thread that owns it.
 *
 * @param {Lane[]} all
 * @param {Picture | null} picture
 * @returns {{time: number, from: number, to: number}[]} Heights in the picture.
 */
export function contentionLines(all, picture) {
  const lines = [];
  for (const thread of picture?.threads ?? []) {
    const waiter = all.find(({ number }) => number === thread.number);
    for (const box of thread.boxes ?? []) {
      const owner = all.find(({ number }) => number === box.owner);
      if (waiter !== undefined && owner !== undefined) {
        const row = TITLE_HEIGHT + (box.depth + 0.5) * ROW_HEIGHT;
        lines.push({ time: box.from, from: waiter.top + row, to: owner.top + TITLE_HEIGHT });
      }
    }
  }
  return lines;
}
