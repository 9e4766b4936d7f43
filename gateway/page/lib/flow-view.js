// The part of a picture that is visible, and how panning and zooming change it.
//
// A view maps the layout to the screen: `screen = (layout - corner) * zoom`. All functions return
// new views.

/** @typedef {{x: number, y: number, zoom: number}} View */
/** @typedef {{width: number, height: number}} Size */
/** @typedef {{x: number, y: number, width: number, height: number}} Rectangle */

export const MAX_ZOOM = 4;

/** A picture that would be smaller than this when it is opened is not fitted into the window. */
const LEAST_READABLE_ZOOM = 0.5;

/** Distance between the picture and the window, in pixels. */
const MARGIN = 16;

/** Room above the entry of a large picture: the entry may be a loop header with a back edge above it. */
const ENTRY_MARGIN = 48;

/**
 * The view that shows the whole picture, in the middle, at most at its natural size.
 * @param {Size} picture
 * @param {Size} window
 * @returns {View}
 */
export function fitView(picture, window) {
  const horizontal = (window.width - 2 * MARGIN) / Math.max(1, picture.width);
  const vertical = (window.height - 2 * MARGIN) / Math.max(1, picture.height);
  const zoom = Math.max(1e-6, Math.min(1, horizontal, vertical));
  return {
    x: picture.width / 2 - window.width / 2 / zoom,
    y: picture.height / 2 - window.height / 2 / zoom,
    zoom,
  };
}

/**
 * The first view of a picture: all of it if it is readable then, or else its beginning.
 * @param {Size} picture
 * @param {Size} window
 * @param {Rectangle | undefined} entry the block where the method begins
 * @returns {View}
 */
export function firstView(picture, window, entry) {
  const fitted = fitView(picture, window);
  if (fitted.zoom >= LEAST_READABLE_ZOOM || !entry) return fitted;
  const zoom = 1;
  return { x: entry.x + entry.width / 2 - window.width / 2 / zoom, y: entry.y - ENTRY_MARGIN / zoom, zoom };
}

/**
 * The least zoom that is useful: a little less than the one that shows everything.
 * @param {Size} picture
 * @param {Size} window
 */
export function leastZoom(picture, window) {
  return Math.min(0.1, fitView(picture, window).zoom * 0.8);
}

/**
 * Zooms so that the point of the picture below a point of the screen stays there.
 * @param {View} view
 * @param {number} factor
 * @param {number} screenX
 * @param {number} screenY
 * @param {number} least
 * @returns {View}
 */
export function zoomAt(view, factor, screenX, screenY, least) {
  const zoom = Math.min(MAX_ZOOM, Math.max(least, view.zoom * factor));
  return {
    x: view.x + screenX / view.zoom - screenX / zoom,
    y: view.y + screenY / view.zoom - screenY / zoom,
    zoom,
  };
}

/**
 * Moves the picture on the screen.
 * @param {View} view
 * @param {number} right pixels
 * @param {number} down
 * @returns {View}
 */
export function panBy(view, right, down) {
  return { ...view, x: view.x - right / view.zoom, y: view.y - down / view.zoom };
}

/**
 * Keeps a part of the picture on the screen: at least a quarter of the window, or the whole picture.
 * @param {View} view
 * @param {Size} picture
 * @param {Size} window
 * @returns {View}
 */
export function clampView(view, picture, window) {
  /** @param {number} corner @param {number} length @param {number} visible */
  const clamp = (corner, length, visible) => {
    const least = Math.min(length, visible / 4);
    return Math.min(length - least, Math.max(least - visible, corner));
  };
  return {
    x: clamp(view.x, picture.width, window.width / view.zoom),
    y: clamp(view.y, picture.height, window.height / view.zoom),
    zoom: view.zoom,
  };
}

/**
 * The part of the picture that is visible.
 * @param {View} view
 * @param {Size} window
 * @returns {Rectangle}
 */
export function visiblePart(view, window) {
  return { x: view.x, y: view.y, width: window.width / view.zoom, height: window.height / view.zoom };
}

/** @param {Rectangle} a @param {Rectangle} b */
export function intersects(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/**
 * Moves as little as possible so that a rectangle is visible, its upper left corner first.
 * @param {View} view
 * @param {Rectangle} rectangle
 * @param {Size} window
 * @returns {View}
 */
export function reveal(view, rectangle, window) {
  const margin = MARGIN / view.zoom;
  /** @param {number} corner @param {number} visible @param {number} start @param {number} length */
  const shift = (corner, visible, start, length) => {
    const last = Math.max(corner, start + length + margin - visible);
    return Math.min(last, start - margin);
  };
  return {
    x: shift(view.x, window.width / view.zoom, rectangle.x, rectangle.width),
    y: shift(view.y, window.height / view.zoom, rectangle.y, rectangle.height),
    zoom: view.zoom,
  };
}

/**
 * The view in which a block of the new layout is where the same block of the old layout was.
 *
 * The block is the preferred one if it is visible and stays, or else the visible block nearest to
 * the upper left corner that stays. Without such a block the view is unchanged.
 * @param {View} view
 * @param {Size} window
 * @param {Map<number, Rectangle>} before
 * @param {Map<number, Rectangle>} after
 * @param {number | null} preferred
 * @returns {View}
 */
export function holdView(view, window, before, after, preferred) {
  const part = visiblePart(view, window);
  let held = -1;
  let nearest = Infinity;
  for (const [number, block] of before) {
    if (!after.has(number) || !intersects(block, part)) continue;
    const distance = number === preferred ? -1 : Math.hypot(block.x - part.x, block.y - part.y);
    if (distance >= nearest) continue;
    nearest = distance;
    held = number;
  }
  const old = before.get(held);
  const now = after.get(held);
  return old && now ? { x: view.x + now.x - old.x, y: view.y + now.y - old.y, zoom: view.zoom } : view;
}
