// Draws a flame graph: the pixels of the frames, their names, and the outlines of the focused frame and
// of the one under the pointer.
//
// The outlines are on a canvas of their own above the picture, because they change much more often.

import { fittingLabel } from "./call-names.js";
import { changePaint } from "./flame-colours.js";
import { fillPixels, nodePaints, ROW_HEIGHT } from "./flame-pixels.js";

/** @typedef {import("./flame-layout.js").FlameView} FlameView */
/** @typedef {import("./flame-layout.js").Rectangles} Rectangles */
/** @typedef {import("./flame-pixels.js").Painting} Painting */

/**
 * @typedef {object} Scene
 * @property {Painting} painting
 * @property {FlameView} view
 * @property {Rectangles} rectangles
 * @property {number} offset the place of the first row, in pixels of the page
 * @property {number} ratio pixels of the screen for each pixel of the page
 * @property {string} font
 */

/** @typedef {{node: number, isStrong: boolean}} Outline */

/** @type {WeakMap<HTMLCanvasElement, ImageData>} */
const images = new WeakMap();

const PADDING = 4;
const MIN_WIDTH_WITH_TEXT = 22;
const MIN_OUTLINE_WIDTH = 3;

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
export function drawFlame(pen, scene) {
  const { view, rectangles, offset, ratio, painting } = scene;
  const { width: columns, height: lines } = pen.canvas;
  if (columns === 0 || lines === 0) {
    return;
  }
  const image = imageOf(pen.canvas);
  const pixels = new Uint32Array(image.data.buffer);
  fillPixels(pixels, columns, painting, rectangles, { rows: view.rows, offset, ratio });
  pen.putImageData(image, 0, 0);
  drawTexts(pen, scene);
}

/**
 * The image of a canvas. It is kept, because it has some megabytes.
 * @param {HTMLCanvasElement} canvas
 */
function imageOf(canvas) {
  const { width, height } = canvas;
  const found = images.get(canvas);
  if (found !== undefined && found.width === width && found.height === height) {
    return found;
  }
  const image = new ImageData(width, height);
  images.set(canvas, image);
  return image;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
function drawTexts(pen, scene) {
  const { view, rectangles, offset, ratio, painting, font } = scene;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = font;
  pen.textBaseline = "middle";
  pen.direction = "ltr";
  const characterWidth = pen.measureText("m").width;
  const nodePaint = nodePaints(painting);
  for (let row = 0; row < view.rows; row++) {
    const y = (row + 0.5) * ROW_HEIGHT + offset;
    for (let at = rectangles.rowStart[row]; at < rectangles.rowStart[row + 1]; at++) {
      if (rectangles.width[at] < MIN_WIDTH_WITH_TEXT) {
        continue;
      }
      const left = Math.max(0, rectangles.x[at]) + PADDING;
      const right = Math.min(view.width, rectangles.x[at] + rectangles.width[at]) - PADDING;
      const text = frameText(painting, rectangles.node[at], Math.floor((right - left) / characterWidth));
      if (text !== "") {
        pen.fillStyle = nodePaint(rectangles.node[at]).text;
        // The last argument keeps wide characters within the frame.
        pen.fillText(text, left, y, right - left);
      }
    }
  }
}

/**
 * The label of a frame. A sign shows the direction of a change to people who do not see colours.
 * @param {Painting} painting
 * @param {number} node
 * @param {number} room the number of characters
 */
function frameText({ tree, difference, paints }, node, room) {
  const { label, shortLabel } = tree.frames[tree.frame[node]];
  if (difference === null) {
    return fittingLabel(label, shortLabel, room);
  }
  const step = changePaint(difference.before[node], difference.after[node]) - (paints.changes.length - 1) / 2;
  const sign = step > 0 ? "+ " : step < 0 ? "− " : "";
  const text = fittingLabel(label, shortLabel, room - sign.length);
  return text === "" ? "" : sign + text;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {Outline[]} outlines
 */
export function drawOutlines(pen, scene, outlines) {
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, pen.canvas.width, pen.canvas.height);
  pen.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
  outlines.forEach((outline) => drawOutline(pen, scene, outline));
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {Outline} outline
 */
function drawOutline(pen, { painting: { tree, paints }, view, offset }, { node, isStrong }) {
  const { root, from, to, width, firstRow } = view;
  const whole = tree.total[root];
  const scale = whole > 0 ? width / ((to - from) * whole) : 0;
  const x = (tree.left[node] - tree.left[root] - from * whole) * scale;
  const size = whole > 0 ? tree.total[node] * scale : width;
  const left = Math.max(0, x);
  const right = Math.min(width, Math.max(left + MIN_OUTLINE_WIDTH, x + size - 1));
  const y = (tree.depth[node] - tree.depth[root] - firstRow) * ROW_HEIGHT + offset;
  if (isStrong) {
    // The ring of the ground colour separates the outline from frames of any colour.
    pen.lineWidth = 1;
    pen.strokeStyle = paints.ground.fill;
    pen.strokeRect(left + 2.5, y + 2.5, Math.max(0, right - left - 5), ROW_HEIGHT - 6);
  }
  const thickness = isStrong ? 2 : 1;
  pen.lineWidth = thickness;
  pen.strokeStyle = paints.ground.text;
  const inset = thickness / 2;
  pen.strokeRect(left + inset, y + inset, Math.max(1, right - left - thickness), ROW_HEIGHT - 1 - thickness);
}
