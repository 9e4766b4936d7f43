// The state of one picture of a control-flow graph: layout, view, cursor, and what to draw next.
//
// The component gives it a canvas and passes changes on. The scene computes a new layout only when
// the graph changes or a block is folded; new counts change texts and colours. It draws at most once
// for each frame of the screen.

import { readTheme } from "./canvas-theme.js";
import { heatOf } from "./heat-scale.js";
import { indexFlowLayout, hitTest } from "./flow-index.js";
import { layoutFlowGraph } from "./flow-layout.js";
import { paintFrame } from "./flow-painter.js";
import { FONT_SIZE, LINE_HEIGHT, PADDING, blockLines, blockSize, describeBlock, describeEdge } from "./flow-text.js";
import {
  clampView, firstView, fitView, holdView, intersects, leastZoom, panBy, reveal, visiblePart, zoomAt,
} from "./flow-view.js";
import { neighbour, nextEdge } from "./flow-walk.js";

/** @typedef {import("./graph-types.js").Block} Block */
/** @typedef {import("./graph-types.js").Graph} Graph */
/** @typedef {import("./graph-types.js").Counts} Counts */
/** @typedef {import("./graph-types.js").Selection} Selection */
/** @typedef {import("./heat-scale.js").HeatMode} HeatMode */
/** @typedef {import("./flow-walk.js").Direction} Direction */

/** An edge is found if the pointer is at most this far away, in pixels. */
const EDGE_TOLERANCE = 6;

/** Below this zoom the pointer is over several blocks and edges at once, and nothing is highlighted. */
const LEAST_HOVER_ZOOM = 0.1;

/**
 * A frame that takes longer than this, in milliseconds, would make panning jerk: the browser needs
 * the rest of the 16 milliseconds. While the view moves, a copy of such a frame is moved instead.
 */
const SLOW_FRAME = 8;

/** The view rests when it did not move for this time, in milliseconds. */
const REST_TIME = 120;

/** @type {Counts} */
const NO_COUNTS = { blocks: new Map(), edges: new Map(), blockRates: new Map(), edgeRates: new Map() };

export class FlowScene {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(selection: Selection) => void} onSelect
   * @param {(text: string) => void} onAnnounce called with what a screen reader should say
   */
  constructor(canvas, onSelect, onAnnounce) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.onSelect = onSelect;
    this.onAnnounce = onAnnounce;
    /** @type {Graph} */
    this.graph = { class: "", method: "", blocks: [], edges: [] };
    this.layout = layoutFlowGraph(this.graph, () => ({ width: 0, height: 0 }));
    this.index = indexFlowLayout(this.layout);
    /** @type {Map<number, Block>} */
    this.blocks = new Map();
    /** @type {Set<number>} */
    this.unfolded = new Set();
    this.counts = NO_COUNTS;
    /** @type {HeatMode} */
    this.mode = "rate";
    this.blockSteps = new Uint8Array(0);
    this.edgeSteps = new Uint8Array(0);
    this.view = { x: 0, y: 0, zoom: 1 };
    /** Whether the view shows the present method. It cannot before the size of the window is known. */
    this.placed = false;
    this.window = { width: 0, height: 0 };
    /** @type {Selection} */
    this.selected = null;
    /** @type {Selection} */
    this.hovered = null;
    /** @type {Selection} */
    this.cursor = null;
    this.focused = false;
    this.theme = readTheme(canvas);
    this.characterWidth = this.measureCharacter();
    this.request = 0;
    /** @type {{image: HTMLCanvasElement, view: import("./flow-view.js").View} | null} the last slow frame */
    this.copy = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} set while the view moves and a copy is shown */
    this.restTimer = undefined;
    /** The time that the last complete frame took, in milliseconds. */
    this.frameTime = 0;
  }

  /** Ends drawing. */
  close() {
    cancelAnimationFrame(this.request);
    clearTimeout(this.restTimer);
    this.request = -1;
  }

  measureCharacter() {
    this.context.font = `${FONT_SIZE}px ${this.theme.mono}`;
    return this.context.measureText("0000000000").width / 10;
  }

  /** Reads the colours again. */
  updateTheme() {
    this.theme = readTheme(this.canvas);
    this.invalidate();
  }

  /** Draws before the next frame of the screen. */
  invalidate() {
    if (this.request !== 0) return;
    this.request = requestAnimationFrame(() => {
      this.request = 0;
      this.draw();
    });
  }

  draw() {
    if (this.window.width === 0 || this.window.height === 0) return;
    if (this.copy && this.restTimer !== undefined) {
      this.drawCopy(this.copy);
      return;
    }
    const start = performance.now();
    const pixelRatio = devicePixelRatio || 1;
    const cursor = this.focused ? this.cursor : null;
    paintFrame({ ...this, pixelRatio, cursor });
    this.frameTime = performance.now() - start;
    this.copy = this.frameTime > SLOW_FRAME ? { image: this.copyFrame(), view: this.view } : null;
  }

  /** A copy of what the canvas shows. */
  copyFrame() {
    const image = this.copy?.image ?? /** @type {HTMLCanvasElement} */ (this.canvas.cloneNode());
    image.width = this.canvas.width;
    image.height = this.canvas.height;
    image.getContext("2d")?.drawImage(this.canvas, 0, 0);
    return image;
  }

  /**
   * Draws the copy of an earlier frame where it is in the present view.
   * @param {NonNullable<FlowScene["copy"]>} copy
   */
  drawCopy({ image, view }) {
    const { context, window } = this;
    const pixelRatio = devicePixelRatio || 1;
    const scale = this.view.zoom / view.zoom;
    context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
    context.fillStyle = this.theme.ground;
    context.fillRect(0, 0, window.width, window.height);
    const left = (view.x - this.view.x) * this.view.zoom;
    const top = (view.y - this.view.y) * this.view.zoom;
    context.drawImage(image, left, top, window.width * scale, window.height * scale);
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const pixelRatio = devicePixelRatio || 1;
    this.window = { width, height };
    this.canvas.width = Math.round(width * pixelRatio);
    this.canvas.height = Math.round(height * pixelRatio);
    this.placeView();
    // Setting the size clears the canvas, so waiting for the next frame would flash.
    this.copy = null;
    this.draw();
  }

  /** Chooses the first view of a method as soon as the window has a size. */
  placeView() {
    if (this.placed || this.window.width === 0 || this.graph.blocks.length === 0) return;
    this.view = firstView(this.layout, this.window, this.layout.blocks.get(this.entry()));
    this.placed = true;
  }

  /** The number of the block where the method begins. */
  entry() {
    return this.layout.blocks.has(0) ? 0 : (this.index.blocks[0]?.number ?? 0);
  }

  /** @param {Graph} graph */
  setGraph(graph) {
    const sameMethod = graph.class === this.graph.class && graph.method === this.graph.method;
    if (!sameMethod) {
      this.placed = false;
      this.unfolded = new Set();
      this.cursor = null;
    }
    this.graph = graph;
    this.blocks = new Map(graph.blocks.map((block) => [block.number, block]));
    this.hovered = null;
    this.updateLayout(blockOf(this.selected) ?? blockOf(this.cursor));
    if (this.cursor && !this.exists(this.cursor)) this.cursor = null;
    this.placeView();
  }

  /**
   * Computes the layout and holds a block where it is on the screen.
   * @param {number | null} held
   */
  updateLayout(held) {
    const before = this.layout.blocks;
    this.layout = layoutFlowGraph(this.graph, (block) =>
      blockSize(block, this.unfolded.has(block.number), this.characterWidth),
    );
    this.index = indexFlowLayout(this.layout);
    this.copy = null;
    if (this.placed) this.view = holdView(this.view, this.window, before, this.layout.blocks, held);
    this.updateHeat();
  }

  /**
   * @param {Counts} counts
   * @param {HeatMode} mode
   */
  setCounts(counts, mode) {
    this.counts = counts;
    this.mode = mode;
    this.updateHeat();
  }

  updateHeat() {
    const { blocks, edges, scale } = heatOf(this.counts, this.mode);
    this.blockSteps = Uint8Array.from(this.index.blocks, ({ number }) => scale.step(blocks.get(number)));
    this.edgeSteps = Uint8Array.from(this.index.edgeKeys, (key) => scale.step(edges.get(key)));
    this.invalidate();
  }

  /** @param {Selection} selected */
  setSelected(selected) {
    if (sameSelection(this.selected, selected)) return;
    this.selected = selected;
    if (selected && this.exists(selected)) {
      this.cursor = selected;
      this.revealSelection(selected);
    }
    this.invalidate();
  }

  /** @param {boolean} focused */
  setFocused(focused) {
    this.focused = focused;
    if (focused) {
      this.cursor ??= this.selected && this.exists(this.selected) ? this.selected : { block: this.entry() };
      this.announce();
    }
    this.invalidate();
  }

  /** @param {NonNullable<Selection>} selection */
  exists(selection) {
    if ("block" in selection) return this.layout.blocks.has(selection.block);
    return this.index.edgeKeys.includes(`${selection.edge[0]}>${selection.edge[1]}`);
  }

  /**
   * Moves the view if nothing of the selection is visible.
   * @param {NonNullable<Selection>} selection
   */
  revealSelection(selection) {
    if (!this.placed) return;
    const numbers = "block" in selection ? [selection.block] : selection.edge;
    const blocks = numbers.flatMap((number) => this.layout.blocks.get(number) ?? []);
    const part = visiblePart(this.view, this.window);
    if (blocks.length > 0 && !blocks.some((block) => intersects(block, part))) {
      this.setView(reveal(this.view, blocks[0], this.window));
    }
  }

  /** @param {import("./flow-view.js").View} view */
  setView(view) {
    this.view = clampView(view, this.layout, this.window);
    clearTimeout(this.restTimer);
    this.restTimer = undefined;
    if (this.copy) {
      this.restTimer = setTimeout(() => {
        this.restTimer = undefined;
        this.invalidate();
      }, REST_TIME);
    }
    this.invalidate();
  }

  fit() {
    this.setView(fitView(this.layout, this.window));
  }

  /**
   * @param {number} right
   * @param {number} down
   */
  pan(right, down) {
    this.setView(panBy(this.view, right, down));
  }

  /**
   * Zooms around a point of the screen, or around the middle.
   * @param {number} factor
   * @param {number} [x]
   * @param {number} [y]
   */
  zoom(factor, x = this.window.width / 2, y = this.window.height / 2) {
    this.setView(zoomAt(this.view, factor, x, y, leastZoom(this.layout, this.window)));
  }

  /**
   * @param {number} x pixels
   * @param {number} y
   */
  at(x, y) {
    const { view } = this;
    return hitTest(this.index, view.x + x / view.zoom, view.y + y / view.zoom, EDGE_TOLERANCE / view.zoom);
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  hover(x, y) {
    const hovered = this.view.zoom < LEAST_HOVER_ZOOM ? null : this.at(x, y);
    if (sameSelection(hovered, this.hovered)) return;
    this.hovered = hovered;
    this.canvas.style.cursor = hovered ? "pointer" : "grab";
    this.invalidate();
  }

  /** Tells that the pointer left the picture. */
  leave() {
    if (!this.hovered) return;
    this.hovered = null;
    this.invalidate();
  }

  /**
   * Selects what is at a point of the screen, or folds and unfolds a block.
   * @param {number} x
   * @param {number} y
   */
  click(x, y) {
    const found = this.at(x, y);
    if (found && "block" in found && this.isFoldLine(found.block, y)) {
      this.toggleFold(found.block);
      return;
    }
    this.cursor = found ?? this.cursor;
    this.onSelect(found);
    this.invalidate();
  }

  /**
   * Whether a height on the screen is in the last line of a block that folds.
   * @param {number} number
   * @param {number} y
   */
  isFoldLine(number, y) {
    const block = this.blocks.get(number);
    const placed = this.layout.blocks.get(number);
    if (!block || !placed || !blockLines(block, this.unfolded.has(number)).fold) return false;
    return this.view.y + y / this.view.zoom > placed.y + placed.height - LINE_HEIGHT - PADDING;
  }

  /** @param {number} number */
  toggleFold(number) {
    const block = this.blocks.get(number);
    if (!block || !blockLines(block, this.unfolded.has(number)).fold) return;
    if (!this.unfolded.delete(number)) this.unfolded.add(number);
    this.updateLayout(number);
  }

  /**
   * Moves the cursor along edges or in a row. Returns false if nothing is there.
   * @param {Direction} direction
   */
  move(direction) {
    const { cursor } = this;
    /** @type {number | null} */
    let next;
    if (cursor && "edge" in cursor && (direction === "up" || direction === "down")) {
      next = cursor.edge[direction === "up" ? 0 : 1];
    } else {
      next = neighbour(this.layout, blockOf(cursor) ?? this.entry(), direction);
    }
    if (next === null) return false;
    this.moveTo({ block: next });
    return true;
  }

  /**
   * Moves the cursor to the next edge out of its block.
   * @param {1 | -1} step
   */
  moveToEdge(step) {
    const { cursor } = this;
    const target = cursor && "edge" in cursor ? cursor.edge[1] : null;
    const edge = nextEdge(this.layout, blockOf(cursor) ?? this.entry(), target, step);
    if (edge) this.moveTo({ edge });
  }

  /** @param {NonNullable<Selection>} cursor */
  moveTo(cursor) {
    this.cursor = cursor;
    const placed = this.layout.blocks.get(blockOf(cursor) ?? -1);
    if (placed) this.setView(reveal(this.view, placed, this.window));
    this.announce();
    this.invalidate();
  }

  selectCursor() {
    if (this.cursor) this.onSelect(this.cursor);
  }

  announce() {
    const { cursor } = this;
    if (cursor && "edge" in cursor) {
      this.onAnnounce(describeEdge(cursor.edge, this.counts));
      return;
    }
    const block = cursor && this.blocks.get(cursor.block);
    const placed = cursor && this.layout.blocks.get(cursor.block);
    if (block && placed) this.onAnnounce(describeBlock(block, this.counts, this.graph.edges, placed.reached));
  }
}

/**
 * The block of a selection; of an edge, its source.
 * @param {Selection} selection
 */
function blockOf(selection) {
  if (!selection) return null;
  return "block" in selection ? selection.block : selection.edge[0];
}

/**
 * @param {Selection} a
 * @param {Selection} b
 */
function sameSelection(a, b) {
  if (!a || !b) return a === b;
  if ("block" in a) return "block" in b && a.block === b.block;
  return "edge" in b && a.edge[0] === b.edge[0] && a.edge[1] === b.edge[1];
}
