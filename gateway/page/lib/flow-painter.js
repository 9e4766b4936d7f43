// Draws one frame of the picture of a control-flow graph on a canvas.
//
// From back to front: the shades of loops, edges, the selected edge, blocks, the counts of edges.
// Everything is in pixels of the screen: the corner of the view is subtracted in double precision,
// because a layout may be a million units high and a canvas computes with 32 bits.

import { formatCount } from "./count-format.js";
import {
  FONT_SIZE, HEAD_HEIGHT, LINE_HEIGHT, PADDING, blockLines, countTexts, lineText,
} from "./flow-text.js";
import { collectLines, collectMarks } from "./flow-strokes.js";
import { intersects, visiblePart } from "./flow-view.js";

/** @typedef {import("./graph-types.js").Block} Block */
/** @typedef {import("./graph-types.js").Counts} Counts */
/** @typedef {import("./graph-types.js").Selection} Selection */
/** @typedef {import("./flow-index.js").FlowIndex} FlowIndex */
/** @typedef {import("./flow-layout.js").FlowLayout} FlowLayout */
/** @typedef {import("./flow-layout.js").PlacedBlock} PlacedBlock */
/** @typedef {import("./flow-view.js").View} View */
/** @typedef {import("./flow-view.js").Size} Size */
/** @typedef {import("./canvas-theme.js").Theme} Theme */

/** Below these zooms, texts and marks would be too small to see. */
const TEXT_ZOOM = 0.45;
const LABEL_ZOOM = 0.7;
const ARROW_ZOOM = 0.25;

/** The smallest text on the screen, in pixels. */
const SMALL_TEXT = 10;

/** Shades of nested loops add up, so only the outermost are filled. */
const FILLED_DEPTH = 6;

/**
 * @typedef {object} Frame
 * @property {CanvasRenderingContext2D} context
 * @property {number} pixelRatio
 * @property {Theme} theme
 * @property {View} view
 * @property {Size} window
 * @property {FlowLayout} layout
 * @property {FlowIndex} index
 * @property {Map<number, Block>} blocks
 * @property {Set<number>} unfolded
 * @property {Counts} counts
 * @property {Uint8Array} blockSteps heat of each block of the index
 * @property {Uint8Array} edgeSteps
 * @property {Selection} selected
 * @property {Selection} hovered
 * @property {Selection} cursor what the keyboard points at, if the picture has the focus
 */

/** @param {Frame} frame */
export function paintFrame(frame) {
  const { context, pixelRatio, theme, window } = frame;
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, window.width, window.height);
  context.direction = "ltr";
  context.textBaseline = "alphabetic";
  paintLoops(frame);
  paintLines(frame, collectLines(frame.index, frame.view, window, frame.edgeSteps));
  const marks =
    frame.view.zoom >= ARROW_ZOOM ? collectMarks(frame.index, frame.view, window, frame.edgeSteps) : null;
  if (marks) paintArrows(frame, marks.ends);
  for (const mark of [frame.hovered, frame.cursor, frame.selected]) paintMarkedEdge(frame, mark);
  const visible = visibleBlocks(frame);
  if (frame.view.zoom >= TEXT_ZOOM) for (const i of visible) paintBlock(frame, i);
  else paintSmallBlocks(frame, visible);
  paintMarkedBlock(frame, frame.selected, false);
  paintMarkedBlock(frame, frame.cursor, true);
  if (marks && frame.view.zoom >= LABEL_ZOOM) paintLabels(frame, marks.labelled);
}

/**
 * A rectangle of the layout on the screen, on whole pixels.
 * @param {View} view
 * @param {{x: number, y: number, width: number, height: number}} rectangle
 */
function onScreen(view, { x, y, width, height }) {
  const left = Math.round((x - view.x) * view.zoom);
  const top = Math.round((y - view.y) * view.zoom);
  return {
    left,
    top,
    width: Math.max(1, Math.round((x + width - view.x) * view.zoom) - left),
    height: Math.max(1, Math.round((y + height - view.y) * view.zoom) - top),
  };
}

/**
 * The positions of visible blocks in the index.
 * @param {Frame} frame
 */
function visibleBlocks({ index, view, window }) {
  const { x, y, width, height } = visiblePart(view, window);
  /** @type {number[]} */
  const visible = [];
  index.blockTree.search(x, y, x + width, y + height, (block) => visible.push(block));
  return visible;
}

/** @param {Frame} frame */
function paintLoops({ context, theme, layout, view, window }) {
  const part = visiblePart(view, window);
  context.lineWidth = 1;
  for (const loop of layout.loops) {
    if (!intersects(loop, part) || loop.height * view.zoom < 3) continue;
    // The sides are cut, because a rectangle of a million pixels is slow to draw.
    const left = Math.max(-10, Math.round((loop.x - view.x) * view.zoom));
    const top = Math.max(-10, Math.round((loop.y - view.y) * view.zoom));
    const right = Math.min(window.width + 10, Math.round((loop.x + loop.width - view.x) * view.zoom));
    const bottom = Math.min(window.height + 10, Math.round((loop.y + loop.height - view.y) * view.zoom));
    if (loop.depth <= FILLED_DEPTH) {
      context.globalAlpha = 0.07;
      context.fillStyle = theme.accent;
      context.fillRect(left, top, right - left, bottom - top);
    }
    context.globalAlpha = 0.35;
    context.strokeStyle = theme.accent;
    context.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
  }
  context.globalAlpha = 1;
}

/**
 * The width of the coloured part of an edge, in pixels.
 * @param {number} step
 * @param {number} zoom
 */
function edgeWidth(step, zoom) {
  return Math.max(1, (2 + step) * Math.min(1.25, zoom));
}

/**
 * Hot edges have a wide line in the colour of their heat. All have a thin line that contrasts with
 * the ground, because the cold colours alone need not.
 * @param {Frame} frame
 * @param {number[][]} lines
 */
function paintLines({ context, theme, view }, lines) {
  context.lineCap = "square";
  lines.forEach((line, step) => {
    if (line.length === 0) return;
    context.beginPath();
    for (let i = 0; i < line.length; i += 4) {
      context.moveTo(line[i], line[i + 1]);
      context.lineTo(line[i + 2], line[i + 3]);
    }
    if (step > 0) {
      context.strokeStyle = theme.heat[step];
      context.lineWidth = 1 + edgeWidth(step, view.zoom);
      context.stroke();
    }
    context.strokeStyle = theme.textSoft;
    context.lineWidth = Math.min(1, Math.max(0.5, view.zoom * 1.5));
    context.stroke();
  });
  context.lineCap = "butt";
}

/**
 * @param {Frame} frame
 * @param {number[]} ends
 */
function paintArrows({ context, theme, view, index }, ends) {
  const size = Math.min(7, 6 * view.zoom + 1);
  context.fillStyle = theme.textSoft;
  context.beginPath();
  for (const edge of ends) {
    const { points } = index.edges[edge];
    const x = (points[points.length - 1][0] - view.x) * view.zoom;
    const y = (points[points.length - 1][1] - view.y) * view.zoom;
    context.moveTo(x, y);
    context.lineTo(x - size * 0.6, y - size);
    context.lineTo(x + size * 0.6, y - size);
    context.closePath();
  }
  context.fill();
}

/**
 * Draws one edge above the others, if `mark` is an edge.
 * @param {Frame} frame
 * @param {Selection} mark
 */
function paintMarkedEdge({ context, theme, view, window, index, edgeSteps }, mark) {
  if (!mark || !("edge" in mark)) return;
  const edge = index.edgeKeys.indexOf(`${mark.edge[0]}>${mark.edge[1]}`);
  if (edge < 0) return;
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.5 + edgeWidth(edgeSteps[edge], view.zoom);
  context.lineJoin = "round";
  context.beginPath();
  index.edges[edge].points.forEach(([pointX, pointY], i) => {
    // Coordinates far outside are cut; the lines are parallel to the axes, so their place stays.
    const x = Math.min(window.width + 100, Math.max(-100, (pointX - view.x) * view.zoom));
    const y = Math.min(window.height + 100, Math.max(-100, (pointY - view.y) * view.zoom));
    if (i === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  context.stroke();
}

/**
 * Blocks without text: the whole block has the colour of its heat. The number is shown if it fits.
 * @param {Frame} frame
 * @param {number[]} visible
 */
function paintSmallBlocks({ context, theme, view, index, blockSteps }, visible) {
  const places = visible.map((i) => onScreen(view, index.blocks[i]));
  const bordered = view.zoom > 0.03;
  theme.heat.forEach((colour, step) => {
    context.fillStyle = colour;
    places.forEach(({ left, top, width, height }, k) => {
      if (blockSteps[visible[k]] === step) context.fillRect(left, top, width, height);
    });
  });
  if (!bordered) return;
  context.strokeStyle = theme.textSoft;
  context.lineWidth = 1;
  context.beginPath();
  for (const { left, top, width, height } of places) context.rect(left + 0.5, top + 0.5, width - 1, height - 1);
  context.stroke();
  context.font = `${SMALL_TEXT}px ${theme.mono}`;
  context.textAlign = "center";
  places.forEach(({ left, top, width, height }, k) => {
    const text = String(index.blocks[visible[k]].number);
    if (width < text.length * 7 + 4 || height < SMALL_TEXT + 2) return;
    context.fillStyle = theme.heatText[blockSteps[visible[k]]];
    context.fillText(text, left + width / 2, top + height / 2 + SMALL_TEXT * 0.35);
  });
  context.textAlign = "start";
}

/**
 * @param {Frame} frame
 * @param {number} i
 */
function paintBlock(frame, i) {
  const { context, theme, view, index, blockSteps } = frame;
  const placed = index.blocks[i];
  const block = frame.blocks.get(placed.number);
  if (!block) return;
  const { left, top, width, height } = onScreen(view, placed);
  context.fillStyle = theme.surface;
  context.fillRect(left, top, width, height);
  context.fillStyle = theme.heat[blockSteps[i]];
  context.fillRect(left, top, width, Math.min(height, Math.round(HEAD_HEIGHT * view.zoom)));
  if (!placed.reached) paintHatching(frame, left, top, width, height);
  context.strokeStyle = theme.textSoft;
  context.lineWidth = 1;
  context.setLineDash(placed.reached ? [] : [4, 3]);
  context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  context.setLineDash([]);
  paintTexts(frame, block, left, top, width, blockSteps[i]);
}

/**
 * @param {Frame} frame
 * @param {Block} block
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} step
 */
function paintTexts({ context, theme, view, unfolded, counts }, block, left, top, width, step) {
  const { zoom } = view;
  const inner = width - 2 * PADDING * zoom;
  const start = left + PADDING * zoom;
  const end = left + width - PADDING * zoom;
  /** @param {number} row */
  const baseline = (row) => top + (PADDING / 2 + row * LINE_HEIGHT + FONT_SIZE) * zoom;
  const [count, rate] = countTexts(block, counts);
  context.fillStyle = theme.heatText[step];
  context.font = `600 ${FONT_SIZE * zoom}px ${theme.mono}`;
  context.fillText(`block ${block.number}`, start, baseline(0), inner);
  context.fillText(count, start, baseline(1), inner);
  context.font = `${FONT_SIZE * zoom}px ${theme.mono}`;
  context.textAlign = "end";
  context.fillText(lineText(block), end, baseline(0), inner / 2);
  context.fillText(rate, end, baseline(1), inner / 2);
  context.textAlign = "start";
  const { lines, fold } = blockLines(block, unfolded.has(block.number));
  const first = HEAD_HEIGHT / LINE_HEIGHT;
  context.fillStyle = theme.text;
  lines.forEach((line, i) => context.fillText(line, start, baseline(first + i), inner));
  if (!fold) return;
  context.fillStyle = theme.accent;
  context.fillText(fold, start, baseline(first + lines.length), inner);
}

/**
 * Diagonal lines over the ground of a block that no edge reaches.
 * @param {Frame} frame
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
function paintHatching({ context, theme }, left, top, width, height) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = left - height; x < left + width; x += 9) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
}

/**
 * The frame around the selected block, or around the block that the keyboard points at.
 * @param {Frame} frame
 * @param {Selection} mark
 * @param {boolean} isCursor
 */
function paintMarkedBlock({ context, theme, view, window, layout }, mark, isCursor) {
  if (!mark || !("block" in mark)) return;
  const placed = layout.blocks.get(mark.block);
  if (!placed || !intersects(placed, visiblePart(view, window))) return;
  const { left, top, width, height } = onScreen(view, placed);
  const gap = isCursor ? 5 : 1.5;
  context.strokeStyle = theme.accent;
  context.lineWidth = isCursor ? 2 : 3;
  context.setLineDash(isCursor ? [6, 3] : []);
  context.strokeRect(left - gap, top - gap, width + 2 * gap, height + 2 * gap);
  context.setLineDash([]);
}

/**
 * The counts of edges: below their source, or above their target if they share a line at the source.
 * @param {Frame} frame
 * @param {number[]} labelled
 */
function paintLabels({ context, theme, view, index, counts }, labelled) {
  // The size hardly grows with the zoom, so labels that need more room appear when one zooms in.
  const size = view.zoom < 1 ? SMALL_TEXT : SMALL_TEXT + 1;
  context.font = `${size}px ${theme.mono}`;
  for (const edge of labelled) {
    const count = counts.edges.get(index.edgeKeys[edge]);
    if (count === undefined) continue;
    const text = formatCount(count);
    const width = text.length * size * 0.61;
    const { label } = index.edges[edge];
    if (width + 6 > index.labelRoom[edge] * view.zoom) continue;
    const x = (label.x - view.x) * view.zoom + 5;
    const y = (label.y - view.y) * view.zoom + (label.above ? -6 : size + 2);
    context.globalAlpha = 0.8;
    context.fillStyle = theme.ground;
    context.fillRect(x - 1, y - size + 1, width + 2, size + 1);
    context.globalAlpha = 1;
    context.fillStyle = theme.text;
    context.fillText(text, x, y);
  }
}
