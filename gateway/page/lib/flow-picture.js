// The picture of a method's control-flow graph with live counts.
//
// The picture is drawn on a canvas, not with SVG. A method may have 10,000 blocks; with the texts and
// edges these would be more than 100,000 elements, which the browser lays out and paints again when
// they are panned. On the canvas, a frame draws only what is visible, found through a search tree,
// and lines that cover the same pixels are drawn once. The table in flow-table.js is the form for
// assistive technology; in addition, a live region says what the keyboard points at.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./html.js";
import { watchTheme } from "./canvas-theme.js";
import { attachGestures } from "./canvas-gestures.js";
import { FlowScene } from "./flow-scene.js";
import { formatCount } from "./count-format.js";
import { heatOf, heatThresholds } from "./heat-scale.js";
import { visibleText } from "./visible-text.js";

/** @typedef {import("./graph-types.js").Graph} Graph */
/** @typedef {import("./graph-types.js").Counts} Counts */
/** @typedef {import("./graph-types.js").Selection} Selection */
/** @typedef {import("./heat-scale.js").HeatMode} HeatMode */

/** The factor of one press of a zoom key. */
const KEY_ZOOM = 1.25;

/** Pixels of one press of an arrow key with Shift. */
const KEY_PAN = 60;

/** The number of pictures that were created, for unique identifiers. */
let pictures = 0;

/** @type {Record<string, import("./flow-walk.js").Direction>} */
const ARROWS = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };

const KEYS =
  "Arrow keys move between blocks along edges. Enter selects. E moves to the next outgoing edge. " +
  "Space unfolds a block. Shift with arrow keys pans. Plus and minus zoom, 0 fits the window.";

/**
 * @param {object} properties
 * @param {Graph} properties.graph
 * @param {Counts} properties.counts
 * @param {Selection} properties.selected
 * @param {(selection: Selection) => void} properties.onSelect
 * @param {HeatMode} [properties.heat] the figures that the colours show; rates by default
 */
export function FlowPicture({ graph, counts, selected, onSelect, heat = "rate" }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const scene = useRef(/** @type {FlowScene | null} */ (null));
  const select = useRef(onSelect);
  const [said, setSaid] = useState("");
  const [helpId] = useState(() => `flow-keys-${++pictures}`);
  select.current = onSelect;

  useLayoutEffect(() => {
    if (!box.current || !canvas.current) return undefined;
    const created = new FlowScene(canvas.current, (selection) => select.current(selection), setSaid);
    scene.current = created;
    const close = connectScene(created, box.current, canvas.current);
    return () => {
      close();
      scene.current = null;
    };
  }, []);
  useLayoutEffect(() => scene.current?.setGraph(graph), [graph]);
  useLayoutEffect(() => scene.current?.setCounts(counts, heat), [counts, heat]);
  useEffect(() => scene.current?.setSelected(selected), [selected, graph]);

  const name = `Control-flow graph of ${visibleText(graph.method)}, ${blocksText(graph.blocks.length)}`;
  /** @param {(scene: FlowScene) => void} action */
  const act = (action) => () => scene.current && action(scene.current);
  return html`
    <div class="flow-picture">
      <div
        class="flow-window"
        ref=${box}
        tabindex="0"
        role="application"
        aria-roledescription="control-flow graph"
        aria-label=${name}
        aria-describedby=${helpId}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => scene.current && pressKey(scene.current, event)}
        onFocus=${act((current) => current.setFocused(true))}
        onBlur=${act((current) => current.setFocused(false))}
      >
        <canvas class="flow-canvas" ref=${canvas} aria-hidden="true"></canvas>
      </div>
      <div class="flow-tools">
        <button type="button" aria-label="Zoom in" onClick=${act((current) => current.zoom(KEY_ZOOM))}>+</button>
        <button type="button" aria-label="Zoom out" onClick=${act((current) => current.zoom(1 / KEY_ZOOM))}>−</button>
        <button type="button" onClick=${act((current) => current.fit())}>Fit</button>
      </div>
      ${heat !== "off" && html`<${HeatLegend} counts=${counts} heat=${heat} />`}
      <p class="flow-unseen" id=${helpId}>${KEYS}</p>
      <p class="flow-unseen" role="status">${said}</p>
    </div>
  `;
}

/** @param {number} count */
function blocksText(count) {
  return count === 1 ? "1 block" : `${count} blocks`;
}

/**
 * Connects a scene with the size of its box, the theme and the pointer.
 * @param {FlowScene} scene
 * @param {HTMLElement} box
 * @param {HTMLCanvasElement} canvas
 */
function connectScene(scene, box, canvas) {
  const resize = () => scene.resize(box.clientWidth, box.clientHeight);
  const observer = new ResizeObserver(resize);
  observer.observe(box);
  resize();
  const unwatch = watchTheme(() => scene.updateTheme());
  const detach = attachGestures(canvas, {
    pan: (right, down) => scene.pan(right, down),
    zoom: (factor, x, y) => scene.zoom(factor, x, y),
    click: (x, y) => scene.click(x, y),
    hover: (x, y) => scene.hover(x, y),
    leave: () => scene.leave(),
  });
  return () => {
    observer.disconnect();
    unwatch();
    detach();
    scene.close();
  };
}

/**
 * @param {FlowScene} scene
 * @param {KeyboardEvent} event
 */
function pressKey(scene, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  if (arrow) {
    const across = arrow === "left" ? KEY_PAN : arrow === "right" ? -KEY_PAN : 0;
    const along = arrow === "up" ? KEY_PAN : arrow === "down" ? -KEY_PAN : 0;
    // Where no block follows, an arrow key pans: the rest of a long edge may be there.
    if (event.shiftKey || !scene.move(arrow)) scene.pan(across, along);
  } else if (!pressOther(scene, event)) {
    return;
  }
  event.preventDefault();
}

/**
 * Handles keys other than arrows. Returns whether the key has a meaning.
 * @param {FlowScene} scene
 * @param {KeyboardEvent} event
 */
function pressOther(scene, event) {
  switch (event.key) {
    case "+":
    case "=":
      scene.zoom(KEY_ZOOM);
      return true;
    case "-":
      scene.zoom(1 / KEY_ZOOM);
      return true;
    case "0":
      scene.fit();
      return true;
    case "e":
    case "E":
      scene.moveToEdge(event.shiftKey ? -1 : 1);
      return true;
    case "Enter":
      scene.selectCursor();
      return true;
    case " ":
      if (scene.cursor && "block" in scene.cursor) scene.toggleFold(scene.cursor.block);
      return true;
    case "Home":
      scene.moveTo({ block: scene.entry() });
      return true;
    case "PageUp":
    case "PageDown":
      scene.pan(0, scene.window.height * (event.key === "PageUp" ? 0.8 : -0.8));
      return true;
    case "Escape":
      scene.onSelect(null);
      return true;
    default:
      return false;
  }
}

/**
 * The seven colours, and from which figure on they are used.
 * @param {{counts: Counts, heat: HeatMode}} properties
 */
function HeatLegend({ counts, heat }) {
  const greatest = useMemo(() => heatOf(counts, heat).scale.greatest, [counts, heat]);
  const unit = heat === "rate" ? "/s" : "";
  const limits = heatThresholds(greatest).map((least) => (least === 0 ? "> 0" : `≥ ${formatCount(least)}${unit}`));
  const texts = greatest > 0 ? ["0", ...limits] : ["0"];
  return html`
    <ul class="flow-legend" aria-label=${heat === "rate" ? "Colours: executions per second" : "Colours: executions"}>
      ${texts.map((text, step) => html`<li class=${`flow-heat-${step}`} key=${step}>${text}</li>`)}
    </ul>
  `;
}
