// The coloured call graph of a search: a picture of the greatest nodes, and a table of all of them. While the
// search runs, the graph is read again each second.

import { html, useEffect, useMemo, useState } from "./html.js";
import { formatAddress } from "./address.js";
import { shareText as percent } from "./share.js";
import { Problem } from "./parts.js";
import {
  greatestNodes,
  heatStep,
  layoutKey,
  layoutNodes,
  nodeName,
  nodePattern,
  shareText,
  sortedNodes,
} from "./search-graph.js";
import { request } from "./server.js";
import { VirtualTable } from "./virtual-table.js";
import { shortText } from "./visible-text.js";

/** @typedef {import("./search-graph.js").GraphNode} GraphNode */
/** @typedef {import("./search-graph.js").SearchGraph} SearchGraph */

/** A picture of more boxes is hard to read; the table has all of them. */
const MAX_BOXES = 40;
const MAX_ROWS = 12;
/** How often the graph is read while the search runs, in milliseconds. */
const POLL_INTERVAL = 1000;

// In pixels.
const BOX = { width: 210, height: 40 };
const STEP = { x: 262, y: 54 };
const MARGIN = 12;
const NAME_LENGTH = 26;
const MAX_LINE_WIDTH = 6;

/**
 * Reads the graph of a search: now, and while the search runs.
 *
 * @param {string} id
 * @param {boolean} isRunning
 */
function useSearchGraph(id, isRunning) {
  const [graph, setGraph] = useState(/** @type {SearchGraph | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  useEffect(() => {
    let isLeft = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const look = async () => {
      try {
        const next = await request("GET", `api/1/recordings/${id}/graph`);
        if (isLeft) {
          return;
        }
        setGraph(next);
        setError(null);
      } catch (problem) {
        isLeft || setError(problem);
      }
      if (!isLeft && isRunning) {
        timer = setTimeout(look, POLL_INTERVAL);
      }
    };
    look();
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [id, isRunning]);
  return { graph, error };
}

/** @param {{pid: number, id: string, isRunning: boolean}} props */
export function SearchPicture({ pid, id, isRunning }) {
  const { graph, error } = useSearchGraph(id, isRunning);
  return html`<section aria-label="Call graph">
    <h2>Call graph</h2>
    ${error !== null && html`<${Problem} error=${error} />`}
    ${(graph === null || graph.nodes.length === 0) && error === null
      ? html`<p class="empty">${isRunning ? "No method was examined yet." : "No method was examined."}</p>`
      : graph !== null &&
        html`<p class="soft">
            The colour of a box is its share of the active time, if it is more than ${percent(graph.threshold)}.
            ${" "}A dashed box is undecided, a box without colour is ruled out. Press a box to open its method.
          </p>
          <${GraphPicture} pid=${pid} graph=${graph} />
          <${GraphTable} pid=${pid} nodes=${graph.nodes} />`}
  </section>`;
}

/** @param {{pid: number, graph: SearchGraph}} props */
function GraphPicture({ pid, graph }) {
  const shown = useMemo(() => greatestNodes(graph, MAX_BOXES), [graph]);
  const key = layoutKey(shown);
  const layout = useMemo(() => layoutNodes(shown), [key]);
  const width = (layout.layers - 1) * STEP.x + BOX.width + 2 * MARGIN;
  const height = (layout.bottom - layout.top) * STEP.y + BOX.height + 2 * MARGIN;
  const most = Math.max(1, ...shown.links.map(({ samples }) => samples));
  const place = (/** @type {{layer: number, row: number}} */ { layer, row }) => ({
    x: MARGIN + layer * STEP.x,
    y: MARGIN + (row - layout.top) * STEP.y,
  });
  const rest = graph.nodes.length - shown.nodes.length;
  return html`<div class="search-graph" tabindex="0" role="group" aria-label="Picture of the call graph">
      <svg width=${width} height=${height} role="group" aria-label="Calls between the examined methods">
        ${layout.links.map((link, at) => {
          const { kind, samples } = shown.links[at];
          const thickness = 1 + ((MAX_LINE_WIDTH - 1) * samples) / most;
          return html`<path
            key=${`${shown.nodes[link.from].id} ${shown.nodes[link.to].id}`}
            class=${`search-link search-link-${kind}`}
            d=${linkPath(link, place)}
            stroke-width=${thickness.toFixed(1)}
          />`;
        })}
        ${shown.nodes.map(
          (node, at) =>
            html`<${NodeBox} key=${node.id} pid=${pid} node=${node} place=${place(layout.nodes[at])} />`,
        )}
      </svg>
    </div>
    ${rest > 0 &&
    html`<p class="soft">The picture has the ${MAX_BOXES} greatest nodes. The table has ${rest} more.</p>`}`;
}

/**
 * The path of a link: from the side of the caller through the middles of the layers to the callee.
 *
 * @param {import("./package-layout.js").PlacedLink} link
 * @param {(point: {layer: number, row: number}) => {x: number, y: number}} place
 */
function linkPath({ points, isBackward }, place) {
  const middle = BOX.height / 2;
  const [start, end] = isBackward ? [0, BOX.width] : [BOX.width, 0];
  const ends = points.map((point, at) => {
    const { x, y } = place(point);
    const isLast = at === points.length - 1;
    return { x: x + (at === 0 ? start : isLast ? end : BOX.width / 2), y: y + middle };
  });
  return ends.reduce((path, { x, y }, at) => {
    if (at === 0) {
      return `M${x} ${y}`;
    }
    const before = ends[at - 1];
    const bend = (before.x + x) / 2;
    return `${path} C${bend} ${before.y} ${bend} ${y} ${x} ${y}`;
  }, "");
}

/**
 * The address of the method of a node, or undefined.
 *
 * @param {number} pid
 * @param {GraphNode} node
 */
function addressOf(pid, node) {
  const pattern = nodePattern(node);
  return pattern === null ? undefined : formatAddress({ view: "method", pid, parts: { pattern } });
}

/** @param {{pid: number, node: GraphNode, place: {x: number, y: number}}} props */
function NodeBox({ pid, node, place }) {
  const name = nodeName(node);
  const share = shareText(node);
  return html`<a
    class=${`search-box search-box-${node.state} search-heat-${heatStep(node)}`}
    href=${addressOf(pid, node)}
    transform=${`translate(${place.x} ${place.y})`}
  >
    <rect width=${BOX.width} height=${BOX.height} rx="4"><title>${`${node.class}.${node.method}`}</title></rect>
    <text x="8" y="17">${`${shortText(name, NAME_LENGTH)} `}</text>
    <text x="8" y="32" class="search-share">${share}</text>
  </a>`;
}

/** @param {{pid: number, nodes: GraphNode[]}} props */
function GraphTable({ pid, nodes }) {
  const [active, setActive] = useState(0);
  const rows = useMemo(() => sortedNodes(nodes), [nodes]);
  const columns = [
    { key: "name", title: "Method or loop", width: "minmax(18rem, 1fr)" },
    { key: "share", title: "Share", width: "7rem", isNumeric: true },
    { key: "range", title: "Between", width: "12rem", isNumeric: true },
    { key: "state", title: "Decision", width: "9rem" },
  ];
  const cells = (/** @type {number} */ at) => {
    const node = rows[at];
    const name = node.line === null ? `${node.class}.${node.method}` : `${nodeName(node)} in ${node.method}`;
    return [
      html`<a tabindex="-1" class="mono" href=${addressOf(pid, node)}><bdi>${name}</bdi></a>`,
      percent(node.share),
      `${percent(node.low)} and ${percent(node.high)}`,
      { holds: "above", ruled_out: "ruled out", undecided: "undecided" }[node.state],
    ];
  };
  const open = (/** @type {number} */ at) => {
    const address = addressOf(pid, rows[at]);
    if (address !== undefined) {
      location.hash = address;
    }
  };
  return html`<${VirtualTable}
    label="Examined methods and loops"
    columns=${columns}
    count=${rows.length}
    active=${active}
    onActive=${setActive}
    onOpen=${open}
    maxRows=${MAX_ROWS}
    cells=${cells}
  />`;
}
