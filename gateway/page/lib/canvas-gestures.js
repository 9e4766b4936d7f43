// Pointer and wheel gestures on a picture that can be panned and zoomed.
//
// One pointer drags, two pointers pinch, the wheel pans, and the wheel with Ctrl zooms (browsers
// send the pinch of a touch pad as such). A press without movement is a click.

/**
 * Coordinates are pixels from the upper left corner of the element.
 * @typedef {object} GestureTarget
 * @property {(right: number, down: number) => void} pan
 * @property {(factor: number, x: number, y: number) => void} zoom
 * @property {(x: number, y: number) => void} click
 * @property {(x: number, y: number) => void} hover
 * @property {() => void} leave
 */

/** A pointer that moves less than this, in pixels, clicks. */
const CLICK_DISTANCE = 4;

/** Wheels that count in lines or pages, converted to pixels. */
const PIXELS_PER_UNIT = [1, 16, 400];

/** The zoom of one pixel of the wheel. */
const ZOOM_PER_PIXEL = 0.002;

/** The greatest zoom of one event, because a mouse wheel moves by more than 100 pixels at once. */
const MAX_WHEEL_ZOOM = 0.25;

/**
 * Attaches the gestures. Returns a function that detaches them.
 * @param {HTMLElement} element
 * @param {GestureTarget} target
 */
export function attachGestures(element, target) {
  /** @type {Map<number, {x: number, y: number}>} */
  const pointers = new Map();
  let travelled = 0;

  /** @param {MouseEvent} event */
  const place = (event) => {
    const { left, top } = element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  /** @param {PointerEvent} event */
  const down = (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    if (pointers.size === 0) travelled = 0;
    pointers.set(event.pointerId, place(event));
  };
  /** @param {PointerEvent} event */
  const move = (event) => {
    const before = pointers.get(event.pointerId);
    const now = place(event);
    if (!before) {
      target.hover(now.x, now.y);
      return;
    }
    pointers.set(event.pointerId, now);
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) pinch(target, before, now, other);
    else if (travelled >= CLICK_DISTANCE) target.pan(now.x - before.x, now.y - before.y);
  };
  /** @param {PointerEvent} event */
  const up = (event) => {
    if (!pointers.delete(event.pointerId) || event.type !== "pointerup") return;
    // With two pointers, `travelled` is infinite until both are gone.
    if (pointers.size > 0) travelled = Infinity;
    const { x, y } = place(event);
    if (travelled < CLICK_DISTANCE) target.click(x, y);
  };
  /** @param {WheelEvent} event */
  const wheel = (event) => {
    event.preventDefault();
    const unit = PIXELS_PER_UNIT[event.deltaMode] ?? 1;
    const { x, y } = place(event);
    if (event.ctrlKey || event.metaKey) {
      const amount = -event.deltaY * unit * ZOOM_PER_PIXEL;
      target.zoom(Math.exp(Math.max(-MAX_WHEEL_ZOOM, Math.min(MAX_WHEEL_ZOOM, amount))), x, y);
    } else if (event.shiftKey && event.deltaX === 0) {
      target.pan(-event.deltaY * unit, 0);
    } else {
      target.pan(-event.deltaX * unit, -event.deltaY * unit);
    }
  };

  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", target.leave);
  element.addEventListener("wheel", wheel, { passive: false });
  return () => {
    element.removeEventListener("pointerdown", down);
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", up);
    element.removeEventListener("pointercancel", up);
    element.removeEventListener("pointerleave", target.leave);
    element.removeEventListener("wheel", wheel);
  };
}

/**
 * Zooms by the change of the distance between two pointers, and pans by the movement of their middle.
 * @param {GestureTarget} target
 * @param {{x: number, y: number}} before
 * @param {{x: number, y: number}} now
 * @param {{x: number, y: number}} other
 */
function pinch(target, before, now, other) {
  const old = Math.hypot(before.x - other.x, before.y - other.y);
  const distance = Math.hypot(now.x - other.x, now.y - other.y);
  target.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
  if (old > 0 && distance > 0) target.zoom(distance / old, (now.x + other.x) / 2, (now.y + other.y) / 2);
}
