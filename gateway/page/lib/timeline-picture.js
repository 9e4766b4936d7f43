// The timeline of a trace on a canvas: threads below each other, calls as boxes.
//
// The server sends what a picture of this width can show, so a frame draws a few thousand boxes whatever
// the length of the trace. While the user pans, the last picture is drawn moved until the next one
// arrives.

import { html, useEffect, useMemo, useRef, useState } from "./html.js";
import { durationText } from "./call-figures.js";
import { watchTheme } from "./canvas-theme.js";
import { formatMark } from "./duration.js";
import { marks, moved, zoomed } from "./time-scale.js";
import {
  at,
  AXIS_HEIGHT,
  contentionLines,
  lanes,
  MAX_ROWS,
  ROW_HEIGHT,
  shade,
  TITLE_HEIGHT,
} from "./timeline-layout.js";

/** The pixels between two marks of the axis. */
const MARK_PIXELS = 120;
/** The narrowest box that has a text, in pixels. */
const TEXT_PIXELS = 30;
/** The part of the interval by which an arrow key moves it. */
const KEY_SHARE = 0.2;

/**
 * @typedef {import("./time-scale.js").Interval} Interval
 * @typedef {import("./timeline-layout.js").Picture} Picture
 * @typedef {{number: number, name: string, from: number, to: number, nodes: number}} Thread
 */

/**
 * @param {{threads: Thread[], picture: Picture | null, view: Interval, whole: Interval,
 *   onView: (view: Interval) => void}} props
 */
export function TimelinePicture({ threads, picture, view, whole, onView }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const rows = useRef(/** @type {Map<number, number>} */ (new Map()));
  const [width, setWidth] = useState(800);
  const [hover, setHover] = useState(/** @type {string} */ (""));
  const all = useMemo(() => lanes(threads, picture, rows.current), [threads, picture]);
  const height = all.reduce((sum, lane) => sum + lane.height, AXIS_HEIGHT);
  useEffect(() => {
    const element = canvas.current?.parentElement;
    if (element === null || element === undefined) {
      return undefined;
    }
    const observer = new ResizeObserver(() => setWidth(Math.max(100, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const request = requestAnimationFrame(() => {
      if (canvas.current !== null) {
        draw(canvas.current, { threads, picture, view, all, width, height });
      }
    });
    return () => cancelAnimationFrame(request);
  });
  const [, redraw] = useState(0);
  useEffect(() => watchTheme(() => redraw((count) => count + 1)), []);
  const timeAt = (/** @type {number} */ x) => view.from + ((view.to - view.from) * x) / width;
  const onWheel = (/** @type {WheelEvent} */ event) => {
    event.preventDefault();
    const next =
      event.ctrlKey || Math.abs(event.deltaY) > Math.abs(event.deltaX)
        ? zoomed(view, whole, 1.0015 ** event.deltaY, timeAt(event.offsetX))
        : moved(view, whole, event.deltaX / width);
    onView(next);
  };
  useEffect(() => {
    // Listeners of frameworks for the wheel are passive, so they cannot keep the page from scrolling.
    const element = canvas.current;
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  });
  const drag = useRef(/** @type {{x: number, view: Interval} | null} */ (null));
  const onPointerMove = (/** @type {PointerEvent} */ event) => {
    if (drag.current !== null) {
      const share = (drag.current.x - event.offsetX) / width;
      onView(moved(drag.current.view, whole, share));
      return;
    }
    const half = (view.to - view.from) / width;
    setHover(describe(at(all, picture, timeAt(event.offsetX), event.offsetY, half), threads, picture));
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const middle = (view.from + view.to) / 2;
    const next = {
      ArrowLeft: () => moved(view, whole, -KEY_SHARE),
      ArrowRight: () => moved(view, whole, KEY_SHARE),
      "+": () => zoomed(view, whole, 0.5, middle),
      "-": () => zoomed(view, whole, 2, middle),
      Home: () => whole,
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      onView(next());
    }
  };
  return html`<div class="timeline">
    <div class="row">
      <button onClick=${() => onView(zoomed(view, whole, 0.5, (view.from + view.to) / 2))}>Zoom in</button>
      <button onClick=${() => onView(zoomed(view, whole, 2, (view.from + view.to) / 2))}>Zoom out</button>
      <button onClick=${() => onView(whole)}>All</button>
      <span class="soft">
        ${durationText(view.to - view.from)} from ${formatMark(view.from, view.to - view.from)}. Keys: ← → + −
        Home
      </span>
    </div>
    <div class="timeline-scroll">
      <canvas
        ref=${canvas}
        tabindex="0"
        role="img"
        aria-label="What the threads did; the table below has the same calls"
        style=${{ width: `${width}px`, height: `${height}px` }}
        onPointerDown=${(/** @type {PointerEvent} */ event) => {
          drag.current = { x: event.offsetX, view };
          /** @type {Element} */ (event.target).setPointerCapture(event.pointerId);
        }}
        onPointerUp=${() => {
          drag.current = null;
        }}
        onPointerMove=${onPointerMove}
        onKeyDown=${onKeyDown}
      ></canvas>
    </div>
    <p class="mono timeline-hover" role="status">${hover === "" ? "Point at a call." : hover}</p>
  </div>`;
}

/**
 * The line about the call below the pointer.
 *
 * @param {ReturnType<typeof at>} found
 * @param {Thread[]} threads
 * @param {Picture | null} picture
 */
function describe(found, threads, picture) {
  if (found === null) {
    return "";
  }
  const nameOf = (/** @type {number | undefined} */ number) =>
    threads.find((thread) => thread.number === number)?.name ?? `thread ${number}`;
  const thread = nameOf(found.number);
  if (found.box !== null) {
    const { box } = found;
    const name = picture?.names[box.name] ?? "";
    const owner = box.owner === undefined ? "" : `, owned by ${nameOf(box.owner)}`;
    const calls = box.calls === 1 ? "" : `${box.calls.toLocaleString("en")} calls, the longest of `;
    const end = box.open ? ", not ended" : "";
    return `${calls}${name}  ${durationText(box.to - box.from)}${owner}${end}  (${thread})`;
  }
  if (found.part !== null) {
    const { part } = found;
    const name = picture?.names[part.name] ?? "";
    return `${part.events.toLocaleString("en")} events, busiest ${name}, depth ${part.depth}  (${thread})`;
  }
  return thread;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{threads: Thread[], picture: Picture | null, view: Interval,
 *   all: import("./timeline-layout.js").Lane[], width: number, height: number}} scene
 */
function draw(canvas, { threads, picture, view, all, width, height }) {
  const ratio = globalThis.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  if (context === null) {
    return;
  }
  const colours = getComputedStyle(canvas);
  const colour = (/** @type {string} */ name) => colours.getPropertyValue(name);
  const x = (/** @type {number} */ time) => ((time - view.from) / (view.to - view.from)) * width;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `12px ${colour("--mono")}`;
  context.textBaseline = "middle";
  drawAxis(context, view, width, height, colour);
  const shades = Array.from({ length: 7 }, (_, n) => colour(`--heat-${n}`));
  const texts = Array.from({ length: 7 }, (_, n) => colour(`--heat-text-${n}`));
  for (const lane of all) {
    const thread = picture?.threads.find((one) => one.number === lane.number);
    context.fillStyle = colour("--text");
    const title = threads.find((one) => one.number === lane.number)?.name ?? "";
    context.fillText(title, 4, lane.top + TITLE_HEIGHT / 2);
    const top = lane.top + TITLE_HEIGHT;
    for (const box of thread?.boxes ?? []) {
      if (box.depth < MAX_ROWS) {
        const name = picture?.names[box.name] ?? "";
        const step = box.kind === "call" ? shade(name) : 6;
        const left = Math.max(x(box.from), -1);
        const right = Math.min(Math.max(x(box.to), left + 0.6), width + 1);
        const y = top + box.depth * ROW_HEIGHT;
        drawBox(context, { left, right, y, fill: shades[step], text: texts[step], name });
      }
    }
    for (const part of thread?.parts ?? []) {
      const left = x(part.from);
      const name = picture?.names[part.name] ?? "";
      const step = shade(name);
      const right = Math.max(x(part.to), left + 1);
      drawBox(context, { left, right, y: top, fill: shades[step], text: texts[step], name });
    }
  }
  context.strokeStyle = colour("--bad");
  context.beginPath();
  for (const line of contentionLines(all, picture)) {
    context.moveTo(x(line.time), line.from);
    context.lineTo(x(line.time), line.to);
  }
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{left: number, right: number, y: number, fill: string, text: string, name: string}} box
 */
function drawBox(context, { left, right, y, fill, text, name }) {
  const width = right - left;
  context.fillStyle = fill;
  context.fillRect(left, y, width > 3 ? width - 0.5 : width, ROW_HEIGHT - 1);
  if (width < TEXT_PIXELS) {
    return;
  }
  context.fillStyle = text;
  const room = Math.floor((width - 6) / 7.3);
  const short = name.slice(name.lastIndexOf(".") + 1);
  const shown = short.length <= room ? short : short.slice(0, Math.max(room - 1, 1));
  context.fillText(shown, Math.max(left, 0) + 3, y + ROW_HEIGHT / 2);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Interval} view
 * @param {number} width
 * @param {number} height
 * @param {(name: string) => string} colour
 */
function drawAxis(context, view, width, height, colour) {
  context.strokeStyle = colour("--line");
  context.fillStyle = colour("--text-soft");
  context.beginPath();
  const all = marks(view, Math.max(2, Math.floor(width / MARK_PIXELS)));
  const step = (all[1] ?? view.to) - (all[0] ?? view.from);
  for (const mark of all) {
    const x = ((mark - view.from) / (view.to - view.from)) * width;
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.fillText(formatMark(mark, step), x + 3, AXIS_HEIGHT / 2);
  }
  context.stroke();
}
