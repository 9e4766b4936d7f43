// The flame graph: a canvas with the root at the top, and the texts around it.
//
// The canvas has the size of the visible area. A spacer of the height of all rows makes the area
// scroll, and each change draws the visible part again. Names are drawn as text, never as markup.
//
//   pointer   frame under it in the line above; a click enlarges; Ctrl and the wheel change the width
//   keyboard  arrows move among frames, Enter enlarges, Escape and Backspace go back, + − 0 the width

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./html.js";
import { countText, MEASURES } from "./call-figures.js";
import { useElementSize } from "./element-size.js";
import { frameFacts, frameSentence, matchText, pathToNode, sliverText } from "./flame-detail.js";
import { drawFlame, drawOutlines } from "./flame-drawing.js";
import { layoutFlame, movedPart, rectangleAt, Rectangles, rowCount, zoomedPart } from "./flame-layout.js";
import { clickRectangle, pressKey, useNavigation, WHOLE } from "./flame-navigation.js";
import { usePaints } from "./flame-paints.js";
import { ROW_HEIGHT } from "./flame-pixels.js";
import { MAX_HEIGHT } from "./row-window.js";
import { matchedWeight, searchTree } from "./tree-search.js";

/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */
/** @typedef {import("./flame-detail.js").Difference} Difference */
/** @typedef {import("./flame-navigation.js").Hovered} Hovered */
/** @typedef {import("./flame-navigation.js").Navigation} Navigation */

/**
 * @typedef {object} FlameProps
 * @property {ContextTree} tree
 * @property {import("./call-figures.js").Measure} [measure] names the weights; usually that of the tree
 * @property {number} root the node that fills the width
 * @property {(node: number) => void} onRoot
 * @property {string} [query] a text, or a regular expression between slashes
 * @property {Difference | null} [difference] the totals of the nodes in two recordings
 * @property {(method: number) => void} [onMethod] shows a method, by its position in the profile
 */

const WHEEL_ZOOM = 1.002;
const MAX_PATH = 5;
const HELP =
  "Arrow keys move among the frames. Enter enlarges the frame, Escape or Backspace goes back. " +
  "Plus and minus change the width, 0 restores it.";

/** @param {FlameProps} props */
export function FlamePicture(props) {
  const { tree, measure = tree.measure, root: wanted, onRoot, query = "", difference = null, onMethod } = props;
  const root = wanted >= 0 && wanted < tree.count ? wanted : 0;
  const search = useMemo(() => searchTree(tree, query), [tree, query]);
  const navigation = useNavigation(tree, root, onRoot);
  const { focused, setHovered, hovered } = navigation;
  const area = useRef(/** @type {HTMLElement | null} */ (null));
  const picture = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const overlay = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const size = useElementSize(area);
  const rows = useMemo(() => rowCount(tree, root), [tree, root]);
  const scroll = useScroll(area, size.height, rows);
  const drawn = useDrawing({ picture, overlay, area, tree, root, search, difference, size, scroll, navigation });
  usePointerZoom(area, navigation);

  const isSliver = hovered !== null && hovered.rectangles.width[hovered.at] < 0.5;
  const shown = hovered === null ? focused : hovered.rectangles.node[hovered.at];
  /** @param {PointerEvent | MouseEvent} event */
  const rectangleUnder = (event) => {
    const box = /** @type {HTMLElement} */ (area.current).getBoundingClientRect();
    const y = event.clientY - box.top - scroll.offset;
    const at = rectangleAt(drawn.current, event.clientX - box.left, Math.floor(y / ROW_HEIGHT));
    return at < 0 ? null : { rectangles: drawn.current, at };
  };
  /** @param {MouseEvent} event */
  const click = (event) => {
    const found = rectangleUnder(event);
    if (found !== null) {
      const { left, width } = /** @type {HTMLElement} */ (area.current).getBoundingClientRect();
      clickRectangle(navigation, found, root, (event.clientX - left) / width);
    }
  };
  return html`
    <div class="flame">
      <${FlamePath} tree=${tree} root=${root} navigation=${navigation} />
      <${FlameDetail}
        tree=${tree} root=${root} node=${shown} difference=${difference} onMethod=${onMethod}
        sliver=${isSliver ? hovered : null} isHovered=${hovered !== null} />
      <${FlameMatches} tree=${tree} root=${root} search=${search} />
      <div class="flame-area" ref=${area} tabindex="0" role="application"
        aria-roledescription="flame graph"
        aria-label=${`${MEASURES[measure].title} of ${countText(tree.count - 1)} frames`}
        aria-describedby="flame-help"
        onScroll=${scroll.update}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) =>
          pressKey(navigation, tree, root, event, scroll.showRow)}
        onPointerMove=${(/** @type {PointerEvent} */ event) => setHovered(rectangleUnder(event))}
        onPointerLeave=${() => setHovered(null)}
        onClick=${click}>
        <div class="flame-window" aria-hidden="true">
          <canvas class="flame-canvas" ref=${picture} />
          <canvas class="flame-canvas" ref=${overlay} />
        </div>
        <div style=${{ height: `${Math.min(MAX_HEIGHT, rows * ROW_HEIGHT)}px` }} />
      </div>
      <p class="flame-help" id="flame-help">${HELP}</p>
      <p class="flame-live" aria-live="polite">${
        navigation.isAnnounced ? frameSentence(tree, focused, root, difference) : ""
      }</p>
    </div>
  `;
}

/**
 * The scrolled rows.
 * @param {{current: HTMLElement | null}} area
 * @param {number} height
 * @param {number} rows
 */
function useScroll(area, height, rows) {
  const [top, setTop] = useState(0);
  // The browser moves the area when it has fewer rows, but it reports this later.
  const scrolled = Math.max(0, Math.min(top, rows * ROW_HEIGHT - height));
  const firstRow = Math.floor(scrolled / ROW_HEIGHT);
  return {
    firstRow,
    rows: Math.max(1, Math.min(rows - firstRow, Math.ceil(height / ROW_HEIGHT) + 1)),
    offset: firstRow * ROW_HEIGHT - scrolled,
    update: () => setTop(area.current?.scrollTop ?? 0),
    showRow: (/** @type {number} */ row) => {
      const element = area.current;
      if (element !== null) {
        const least = (row + 1) * ROW_HEIGHT - element.clientHeight;
        element.scrollTop = Math.max(least, Math.min(row * ROW_HEIGHT, element.scrollTop));
      }
    },
  };
}

/**
 * Draws after each change. Returns the drawn rectangles.
 * @param {object} options
 * @param {{current: HTMLCanvasElement | null}} options.picture
 * @param {{current: HTMLCanvasElement | null}} options.overlay
 * @param {{current: HTMLElement | null}} options.area
 * @param {ContextTree} options.tree
 * @param {number} options.root
 * @param {import("./tree-search.js").SearchResult | null} options.search
 * @param {Difference | null} options.difference
 * @param {{width: number, height: number}} options.size
 * @param {ReturnType<typeof useScroll>} options.scroll
 * @param {Navigation} options.navigation
 */
function useDrawing({ picture, overlay, area, tree, root, search, difference, size, scroll, navigation }) {
  const look = usePaints(area);
  const { part, focused, hovered } = navigation;
  const { firstRow, rows, offset } = scroll;
  const drawn = useRef(new Rectangles());
  const ratio = window.devicePixelRatio || 1;
  const view = useMemo(
    () => ({ root, ...part, width: size.width, firstRow, rows }),
    [tree, root, part.from, part.to, size.width, firstRow, rows],
  );
  // The next picture has about as many rectangles as the last one.
  const rectangles = useMemo(
    () => layoutFlame(tree, view, new Rectangles(drawn.current.node.length)),
    [tree, view],
  );
  const scene = useMemo(() => {
    if (look === null || size.width === 0) {
      return null;
    }
    const painting = { tree, paints: look.paints, search, difference };
    return { painting, view, rectangles, offset, ratio, font: look.font };
  }, [tree, view, rectangles, offset, ratio, look, search, difference, size.width]);
  useLayoutEffect(() => {
    const pen = fittedPen(picture.current, size, ratio);
    if (pen !== null && scene !== null) {
      drawFlame(pen, scene);
      drawn.current = rectangles;
    }
  }, [scene, size.height]);
  useLayoutEffect(() => {
    const pen = fittedPen(overlay.current, size, ratio);
    const outlines = [{ node: focused, isStrong: document.activeElement === area.current }];
    if (hovered !== null && hovered.rectangles === rectangles) {
      outlines.push({ node: rectangles.node[hovered.at], isStrong: false });
    }
    if (pen !== null && scene !== null) {
      drawOutlines(pen, scene, outlines);
    }
  });
  useFocusRedraw(area);
  return drawn;
}

/**
 * Renders again when the area gets or loses the focus, because the outline then changes.
 * @param {{current: HTMLElement | null}} area
 */
function useFocusRedraw(area) {
  const [, setFocusChanges] = useState(0);
  useEffect(() => {
    const element = area.current;
    const redraw = () => setFocusChanges((changes) => changes + 1);
    element?.addEventListener("focus", redraw);
    element?.addEventListener("blur", redraw);
    return () => {
      element?.removeEventListener("focus", redraw);
      element?.removeEventListener("blur", redraw);
    };
  }, []);
}

/**
 * The pen of a canvas, after the canvas got its size in pixels of the screen. Setting the size clears
 * the canvas, even to the same value.
 * @param {HTMLCanvasElement | null} canvas
 * @param {{width: number, height: number}} size
 * @param {number} ratio
 */
function fittedPen(canvas, { width, height }, ratio) {
  const [columns, lines] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas !== null && (canvas.width !== columns || canvas.height !== lines)) {
    canvas.width = columns;
    canvas.height = lines;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  return canvas?.getContext("2d") ?? null;
}

/**
 * Changes the visible part by the wheel. Only a listener that is not passive can keep the browser from
 * enlarging the page.
 * @param {{current: HTMLElement | null}} area
 * @param {Navigation} navigation
 */
function usePointerZoom(area, navigation) {
  const latest = useRef(navigation);
  latest.current = navigation;
  useEffect(() => {
    const element = area.current;
    if (element === null) {
      return undefined;
    }
    const turn = (/** @type {WheelEvent} */ event) => {
      const { part, changePart } = latest.current;
      const { left, width } = element.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const place = (event.clientX - left) / width;
        changePart(zoomedPart(part, WHEEL_ZOOM ** event.deltaY, place));
      } else if (event.deltaX !== 0 && part.to - part.from < 1) {
        event.preventDefault();
        changePart(movedPart(part, event.deltaX / width));
      }
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, []);
}

/**
 * The frames above the shown one, as buttons.
 * @param {{tree: ContextTree, root: number, navigation: Navigation}} props
 */
function FlamePath({ tree, root, navigation }) {
  const { nodes, omitted } = pathToNode(tree, root, MAX_PATH);
  const { part, changePart, enter, back } = navigation;
  const isWhole = part.to - part.from >= 1;
  const item = (/** @type {number} */ node) => {
    const { label, shortLabel } = tree.frames[tree.frame[node]];
    return html`
      <li>
        <button type="button" class="flame-step" title=${label} onClick=${() => enter(node)}
          aria-current=${node === root ? "true" : undefined}>${shortLabel}</button>
        ${node === 0 && omitted > 0 ? html`<span class="flame-omitted">… ${omitted} more …</span>` : null}
      </li>
    `;
  };
  return html`
    <nav class="flame-path" aria-label="Frames above the shown one">
      <ol>${nodes.map(item)}</ol>
      <button type="button" disabled=${root === 0} onClick=${back}>Back</button>
      <button type="button" disabled=${isWhole} onClick=${() => changePart(WHOLE)}>Full width</button>
    </nav>
  `;
}

/**
 * The frame under the pointer, or the focused one.
 * @param {{tree: ContextTree, root: number, node: number, difference: Difference | null,
 *   sliver: Hovered | null, isHovered: boolean, onMethod?: (method: number) => void}} props
 */
function FlameDetail({ tree, root, node, difference, sliver, isHovered, onMethod }) {
  if (sliver !== null) {
    const { rectangles, at } = sliver;
    const text = sliverText(tree, rectangles.position[at], rectangles.merged[at]);
    return html`<div class="flame-detail"><span>${text}</span></div>`;
  }
  const { label, method } = tree.frames[tree.frame[node]];
  const facts = frameFacts(tree, node, root, difference).map(
    ({ term, value }) => html`
      <span class="flame-fact">${
        term.startsWith("of ") ? html`<b>${value}</b> ${term}` : html`${term} <b>${value}</b>`
      }</span>
    `,
  );
  const hasButton = onMethod !== undefined && method >= 0 && !isHovered;
  const button = html`
    <button type="button" onClick=${() => onMethod?.(method)}>Callers and callees</button>
  `;
  return html`
    <div class="flame-detail">
      <bdi class="flame-name">${label}</bdi>
      ${facts}
      ${hasButton ? button : null}
    </div>
  `;
}

/**
 * @param {{tree: ContextTree, root: number, search: import("./tree-search.js").SearchResult | null}} props
 */
function FlameMatches({ tree, root, search }) {
  const matched = useMemo(
    () => (search === null ? null : matchedWeight(tree, search, root)),
    [tree, root, search],
  );
  if (search === null || matched === null) {
    return html`<p class="flame-matches" role="status" />`;
  }
  return html`
    <p class="flame-matches" role="status">
      ${search.problem !== null ? html`<span class="flame-problem">${search.problem}</span> ` : null}
      ${matchText(tree, root, matched)}
    </p>
  `;
}
