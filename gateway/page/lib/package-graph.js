// The calls between packages: a picture of the greatest groups, and tables of all of them.
//
// A package is one box, and its classes are boxes instead if it is expanded.

import { html, useLayoutEffect, useMemo, useRef, useState } from "./html.js";
import { countOf, countText, durationText } from "./call-figures.js";
import { foldPackages, greatestGroups } from "./package-folding.js";
import { layoutGraph } from "./package-layout.js";
import { shareText } from "./share.js";
import { VirtualTable } from "./virtual-table.js";

/** @typedef {import("./call-profile.js").CallProfile} CallProfile */
/** @typedef {import("./package-folding.js").Group} Group */
/** @typedef {import("./package-folding.js").GroupGraph} GroupGraph */
/** @typedef {import("./package-layout.js").PlacedLink} PlacedLink */

/** A picture of more boxes is hard to read; the tables have all of them. */
const MAX_BOXES = 30;
const MAX_ROWS = 12;

// In pixels.
const BOX = { width: 190, height: 38 };
const STEP = { x: 280, y: 58 };
const MARGIN = 14;
/** The number of characters of a name that fit into a box. */
const NAME_LENGTH = 24;
const MAX_LINE_WIDTH = 6;

/** @param {{profile: CallProfile}} props */
export function PackageGraph({ profile }) {
  const [expanded, setExpanded] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  const graph = useMemo(() => foldPackages(profile, expanded), [profile, expanded]);
  const hasTimes = profile.contexts.count > 0;
  const toggle = (/** @type {Group} */ { packageName, kind }) => {
    if (kind === "overflow") {
      return;
    }
    const next = new Set(expanded);
    if (!next.delete(packageName)) {
      next.add(packageName);
    }
    setExpanded(next);
  };
  if (graph.groups.length === 0) {
    return html`<p class="calls-empty">No call was recorded.</p>`;
  }
  return html`
    <div class="calls-packages">
      <p class="calls-summary">
        A box is a package. Press it to see its classes, and press a class to see the package again.
      </p>
      <${GraphPicture} graph=${graph} expanded=${expanded} chosen=${chosen} onChoose=${setChosen} onToggle=${toggle} />
      <${ChosenGroup} graph=${graph} chosen=${chosen} hasTimes=${hasTimes} />
      <h3>Packages and classes</h3>
      <${GroupTable} groups=${graph.groups} hasTimes=${hasTimes} onChoose=${setChosen} onToggle=${toggle} />
      <h3>Calls between them</h3>
      <${LinkTable} graph=${graph} />
    </div>
  `;
}

/**
 * Keeps the keyboard focus at a package whose box was replaced, and shows the middle of the picture,
 * because the boxes of each column are around it.
 * @param {{current: HTMLElement | null}} area
 * @param {unknown} layout
 * @returns {(packageName: string) => void} remembers the package that gets the focus
 */
function useBoxFocus(area, layout) {
  const next = useRef(/** @type {string | null} */ (null));
  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) {
      return;
    }
    element.scrollTop = (element.scrollHeight - element.clientHeight) / 2;
    for (const box of next.current === null ? [] : element.querySelectorAll("[data-package]")) {
      if (box instanceof SVGElement && box.dataset.package === next.current) {
        box.focus();
        break;
      }
    }
    next.current = null;
  }, [layout]);
  return (packageName) => {
    next.current = packageName;
  };
}

/**
 * @param {{graph: GroupGraph, expanded: ReadonlySet<string>, chosen: string | null,
 *   onChoose: (key: string) => void, onToggle: (group: Group) => void}} props
 */
function GraphPicture({ graph, expanded, chosen, onChoose, onToggle }) {
  const area = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = useMemo(() => greatestGroups(graph, MAX_BOXES), [graph]);
  const layout = useMemo(() => layoutGraph(shown.groups.length, shown.links), [shown]);
  const keepFocus = useBoxFocus(area, layout);
  const toggle = (/** @type {Group} */ group) => {
    if (group.kind !== "overflow") {
      keepFocus(group.packageName);
      onToggle(group);
    }
  };
  const width = (layout.layers - 1) * STEP.x + BOX.width + 2 * MARGIN;
  const height = (layout.bottom - layout.top) * STEP.y + BOX.height + 2 * MARGIN;
  const most = Math.max(1, ...shown.links.map(({ calls }) => calls));
  const place = (/** @type {{layer: number, row: number}} */ { layer, row }) => ({
    x: MARGIN + layer * STEP.x,
    y: MARGIN + (row - layout.top) * STEP.y,
  });
  const line = (/** @type {PlacedLink} */ link) => {
    const isChosen = [link.from, link.to].some((end) => shown.groups[end].key === chosen);
    const thickness = 1 + ((MAX_LINE_WIDTH - 1) * Math.log1p(link.calls)) / Math.log1p(most);
    const chosenClass = isChosen ? " calls-link-chosen" : "";
    const backClass = link.isBackward ? " calls-link-back" : "";
    return html`
      <path class=${`calls-link-line${chosenClass}${backClass}`} d=${linkPath(link, place)}
        stroke-width=${thickness.toFixed(1)} marker-end="url(#calls-arrow)" />
    `;
  };
  const rest = graph.groups.length - shown.groups.length;
  return html`
    <div class="calls-graph" ref=${area}>
      <svg width=${width} height=${height} role="group" aria-label="Calls between packages">
        <defs>
          <marker id="calls-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9"
            markerUnits="userSpaceOnUse" orient="auto"><path class="calls-arrow" d="M0 0 8 4 0 8z" /></marker>
        </defs>
        ${layout.links.map(line)}
        ${shown.groups.map(
          (group, at) => html`
            <${GroupBox} key=${group.key} group=${group} place=${place(layout.nodes[at])}
              isChosen=${group.key === chosen} isExpanded=${expanded.has(group.packageName)}
              onChoose=${onChoose} onToggle=${toggle} />
          `,
        )}
      </svg>
    </div>
    ${rest > 0
      ? html`
          <p class="calls-summary">
            The picture has the ${MAX_BOXES} groups with the most calls. The tables have ${countText(rest)} more.
          </p>
        `
      : null}
  `;
}

/**
 * The path of a link: from the side of the caller through the middles of the layers to the callee.
 * @param {PlacedLink} link
 * @param {(point: {layer: number, row: number}) => {x: number, y: number}} place
 */
function linkPath({ points, isBackward }, place) {
  const middle = BOX.height / 2;
  const [start, end] = isBackward ? [0, BOX.width] : [BOX.width, 0];
  let path = "";
  points.forEach((point, at) => {
    const { x, y } = place(point);
    if (at === 0) {
      path = `M${x + start} ${y + middle}`;
      return;
    }
    const before = place(points[at - 1]);
    const isLast = at === points.length - 1;
    const from = before.x + (at === 1 ? start : BOX.width / 2);
    const to = x + (isLast ? end : BOX.width / 2);
    const bend = (from + to) / 2;
    path += ` C${bend} ${before.y + middle} ${bend} ${y + middle} ${to} ${y + middle}`;
  });
  return path;
}

/**
 * @param {{group: Group, place: {x: number, y: number}, isChosen: boolean, isExpanded: boolean,
 *   onChoose: (key: string) => void, onToggle: (group: Group) => void}} props
 */
function GroupBox({ group, place, isChosen, isExpanded, onChoose, onToggle }) {
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onToggle(group);
    }
  };
  const calls = `${countText(group.calls)} calls`;
  const name = endOfName(group.name);
  // The name for assistive technology begins with the visible text, so that it can be spoken.
  const spoken = `${name} ${calls}, ${group.kind}${name === group.name ? "" : ` ${group.name}`}`;
  return html`
    <g class=${`calls-box calls-box-${group.kind}${isChosen ? " calls-box-chosen" : ""}`} tabindex="0" role="button"
      data-package=${group.kind === "overflow" ? undefined : group.packageName}
      transform=${`translate(${place.x} ${place.y})`}
      aria-expanded=${group.kind === "overflow" ? undefined : String(isExpanded)}
      aria-label=${spoken} onFocus=${() => onChoose(group.key)}
      onPointerEnter=${() => onChoose(group.key)} onClick=${() => onToggle(group)} onKeyDown=${press}>
      <rect width=${BOX.width} height=${BOX.height} rx="4" />
      <text x="8" y="16">${`${name} `}</text>
      <text x="8" y="31" class="calls-box-count">${calls}</text>
    </g>
  `;
}

/**
 * The end of a long name, because packages differ there.
 * @param {string} name
 */
function endOfName(name) {
  const characters = [...name];
  return characters.length <= NAME_LENGTH ? name : `…${characters.slice(1 - NAME_LENGTH).join("")}`;
}

/** @param {{graph: GroupGraph, chosen: string | null, hasTimes: boolean}} props */
function ChosenGroup({ graph, chosen, hasTimes }) {
  const position = graph.groups.findIndex(({ key }) => key === chosen);
  if (position < 0) {
    return html`<p class="calls-summary" role="status" />`;
  }
  const { name, methods, calls, inside, self } = graph.groups[position];
  const sum = (/** @type {"from" | "to"} */ end) =>
    graph.links.reduce((all, link) => all + (link[end] === position ? link.calls : 0), 0);
  const facts = [
    countOf(methods, "called method", "called methods"),
    countOf(calls, "entry", "entries"),
    `${countText(sum("to"))} calls from other groups`,
    `${countText(inside)} within it`,
    `${countText(sum("from"))} to others`,
    ...(hasTimes ? [`self time ${durationText(self)}`] : []),
  ];
  return html`<p class="calls-summary" role="status"><bdi>${name}</bdi>: ${facts.join(", ")}</p>`;
}

/**
 * @param {{groups: Group[], hasTimes: boolean, onChoose: (key: string) => void,
 *   onToggle: (group: Group) => void}} props
 */
function GroupTable({ groups, hasTimes, onChoose, onToggle }) {
  const [active, setActive] = useState(0);
  const number = (/** @type {string} */ key, /** @type {string} */ title) => ({
    key,
    title,
    width: "8rem",
    isNumeric: true,
  });
  const columns = [
    { key: "name", title: "Package or class", width: "minmax(18rem, 1fr)" },
    number("methods", "Methods"),
    number("calls", "Entries"),
    number("inside", "Calls within"),
    ...(hasTimes ? [number("self", "Self time")] : []),
  ];
  const cells = (/** @type {number} */ row) => {
    const { name, methods, calls, inside, self } = groups[row];
    const figures = [methods, calls, inside].map(countText);
    return [html`<bdi>${name}</bdi>`, ...figures, ...(hasTimes ? [durationText(self)] : [])];
  };
  const choose = (/** @type {number} */ row) => {
    setActive(row);
    onChoose(groups[row].key);
  };
  return html`
    <${VirtualTable} label="Packages and classes" columns=${columns} count=${groups.length} active=${active}
      onActive=${choose} onOpen=${(/** @type {number} */ row) => onToggle(groups[row])} maxRows=${MAX_ROWS}
      cells=${cells} />
  `;
}

/** @param {{graph: GroupGraph}} props */
function LinkTable({ graph: { groups, links } }) {
  const [active, setActive] = useState(0);
  const whole = links.reduce((all, { calls }) => all + calls, 0);
  const columns = [
    { key: "calls", title: "Calls", width: "8rem", isNumeric: true },
    { key: "share", title: "Share", width: "6rem", isNumeric: true },
    { key: "from", title: "From", width: "minmax(14rem, 1fr)" },
    { key: "to", title: "To", width: "minmax(14rem, 1fr)" },
  ];
  const cells = (/** @type {number} */ row) => {
    const { from, to, calls } = links[row];
    const name = (/** @type {number} */ group) => html`<bdi>${groups[group].name}</bdi>`;
    return [countText(calls), shareText(calls, whole), name(from), name(to)];
  };
  return html`
    <${VirtualTable} label="Calls between packages and classes" columns=${columns} count=${links.length}
      active=${active} onActive=${setActive} maxRows=${MAX_ROWS} cells=${cells}
      emptyText="All calls are within one package." />
  `;
}
