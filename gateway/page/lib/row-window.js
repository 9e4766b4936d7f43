// Which rows of a long table are visible.
//
// Browsers limit the height of an element: Firefox to 17.8 million pixels. A taller table scrolls over
// a shorter distance, and each pixel of it stands for several pixels of rows.

/** The greatest height of the scrolled element, in pixels. */
export const MAX_HEIGHT = 8_000_000;

/**
 * @typedef {object} RowScale
 * @property {number} count the number of rows
 * @property {number} rowHeight
 * @property {number} height the visible height
 */

/**
 * The height of the element that is scrolled.
 * @param {RowScale} scale
 * @returns {number}
 */
export function scrolledHeight({ count, rowHeight }) {
  return Math.min(MAX_HEIGHT, count * rowHeight);
}

/**
 * How many pixels of rows a pixel of scrolling stands for.
 * @param {RowScale} scale
 */
function pixelsPerScroll(scale) {
  const range = scrolledHeight(scale) - scale.height;
  return range > 0 ? (scale.count * scale.rowHeight - scale.height) / range : 1;
}

/**
 * The visible rows, and the place of the first one relative to the visible area.
 * @param {RowScale} scale
 * @param {number} scrollTop
 * @returns {{first: number, last: number, offset: number}} `last` is not part of the rows
 */
export function visibleRows(scale, scrollTop) {
  const { count, rowHeight, height } = scale;
  const greatest = Math.max(0, count * rowHeight - height);
  const top = Math.min(greatest, Math.max(0, scrollTop * pixelsPerScroll(scale)));
  const first = Math.min(count, Math.floor(top / rowHeight));
  const last = Math.min(count, Math.ceil((top + height) / rowHeight));
  return { first, last, offset: first * rowHeight - top };
}

/**
 * The scroll position at which a row is fully visible; the same one if it already is.
 * @param {RowScale} scale
 * @param {number} scrollTop
 * @param {number} row
 * @returns {number}
 */
export function scrollToRow(scale, scrollTop, row) {
  const { rowHeight, height } = scale;
  const perScroll = pixelsPerScroll(scale);
  const top = scrollTop * perScroll;
  if (row * rowHeight < top) {
    return (row * rowHeight) / perScroll;
  }
  if ((row + 1) * rowHeight > top + height) {
    return ((row + 1) * rowHeight - height) / perScroll;
  }
  return scrollTop;
}

/**
 * The row to which a key moves; the same row for other keys.
 * @param {string} key a value of `KeyboardEvent.key`
 * @param {number} row
 * @param {number} count
 * @param {number} page the number of visible rows
 * @returns {number}
 */
export function rowAfterKey(key, row, count, page) {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count }[key];
  return step === undefined ? row : Math.max(0, Math.min(count - 1, row + step));
}
