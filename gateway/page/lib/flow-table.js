// The figures of a method's control-flow graph as a table.
//
// Only the visible rows are in the document, because a method may have 10,000 blocks. The table is
// one stop of the Tab key; arrows move the cursor, which `aria-activedescendant` points to. The
// cursor follows its block when live counts change the order.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./html.js";
import { formatCount, formatExact, formatRate } from "./count-format.js";
import { heatOf } from "./heat-scale.js";
import { flowOutlines, flowRow, isOrderOfCounts, rowRange, scrollToRow, shareBase, sortOutlines } from "./flow-rows.js";
import { shareText } from "./share.js";
import { visibleText } from "./visible-text.js";

/** @typedef {import("./graph-types.js").Graph} Graph */
/** @typedef {import("./graph-types.js").Counts} Counts */
/** @typedef {import("./graph-types.js").Selection} Selection */
/** @typedef {import("./flow-rows.js").FlowOutline} FlowOutline */
/** @typedef {import("./flow-rows.js").FlowRow} FlowRow */
/** @typedef {import("./flow-rows.js").Column} Column */
/** @typedef {{column: Column, descending: boolean}} Order */

/** The height of a row in pixels, as in flow.css. */
const ROW_HEIGHT = 28;

/** A row shows at most this many successors. A switch may have thousands. */
const MAX_SUCCESSORS = 6;

/** @type {{column: Column, title: string, number?: boolean}[]} */
const COLUMNS = [
  { column: "block", title: "Block" },
  { column: "line", title: "Line", number: true },
  { column: "count", title: "Count", number: true },
  { column: "rate", title: "Per second", number: true },
  { column: "share", title: "Share" },
  { column: "successors", title: "Successors" },
];

/** The number of tables that were created, for unique identifiers. */
let tables = 0;

/**
 * The cursor of the keyboard: a block, and the position of a successor in its row, or -1.
 * @typedef {{block: number, successor: number}} Cursor
 */

/**
 * @param {object} properties
 * @param {Graph} properties.graph
 * @param {Counts} properties.counts
 * @param {Selection} properties.selected
 * @param {(selection: Selection) => void} properties.onSelect
 */
export function FlowTable({ graph, counts, selected, onSelect }) {
  const [id] = useState(() => `flow-table-${++tables}`);
  const [order, setOrder] = useState(/** @type {Order} */ ({ column: "block", descending: false }));
  const [cursor, setCursor] = useState(/** @type {Cursor | null} */ (null));
  const body = useRef(/** @type {HTMLDivElement | null} */ (null));
  const { part, onScroll } = useVisiblePart(body);
  const unsorted = useMemo(() => flowOutlines(graph), [graph]);
  const base = useMemo(() => shareBase(unsorted, counts), [unsorted, counts]);
  const outlines = useMemo(
    () => sortOutlines(unsorted, order.column, order.descending, counts, base),
    [unsorted, order, isOrderOfCounts(order.column) && counts],
  );
  const scale = useMemo(() => heatOf(counts, "rate").scale, [counts]);
  const { first, end } = rowRange(part.top, part.height, ROW_HEIGHT, outlines.length);
  const rows = outlines.slice(first, end).map((outline) => flowRow(outline, counts, base));

  /** @param {number} row */
  const show = (row) => {
    if (!body.current || row < 0) return;
    body.current.scrollTop = scrollToRow(body.current.scrollTop, body.current.clientHeight, ROW_HEIGHT, row);
  };
  const chosen = selected === null ? -1 : "block" in selected ? selected.block : selected.edge[0];
  useEffect(() => {
    if (chosen >= 0) show(outlines.findIndex(({ block }) => block === chosen));
    // The order of rows changes with each count; only a new selection scrolls.
  }, [chosen, graph]);

  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = outlines.findIndex(({ block }) => block === cursor?.block);
    if (event.key === "Enter" || event.key === " ") {
      if (at >= 0) onSelect(selectionAt(flowRow(outlines[at], counts, base), cursor?.successor ?? -1));
    } else {
      const page = Math.max(1, Math.floor(part.height / ROW_HEIGHT) - 1);
      const next = nextCursor(event.key, outlines, at, cursor?.successor ?? -1, page);
      if (!next) return;
      setCursor({ block: outlines[next.row].block, successor: next.successor });
      show(next.row);
    }
    event.preventDefault();
  };
  const onFocus = () => {
    if (cursor && outlines.some(({ block }) => block === cursor.block)) return;
    const outline = outlines.find(({ block }) => block === chosen) ?? outlines[first];
    if (outline) setCursor({ block: outline.block, successor: -1 });
  };
  const cursorRow = cursor ? outlines.findIndex(({ block }) => block === cursor.block) : -1;
  const rendered = cursorRow >= first && cursorRow < end;
  const active = cursor && rendered ? cellId(id, cursor.block, cursor.successor) : undefined;
  return html`
    <div class="flow-table">
      <div
        class="flow-table-grid"
        role="grid"
        tabindex="0"
        aria-label=${`Counts of the blocks of ${visibleText(graph.method)}`}
        aria-rowcount=${outlines.length + 1}
        aria-colcount=${COLUMNS.length}
        aria-activedescendant=${active}
        onKeyDown=${onKeyDown}
        onFocus=${onFocus}
      >
        <${Head} order=${order} setOrder=${setOrder} />
        <div class="flow-table-body" role="rowgroup" ref=${body} onScroll=${onScroll}>
          <div class="flow-table-space" role="presentation" style=${{ height: `${outlines.length * ROW_HEIGHT}px` }}>
            ${rows.map(
              (row, i) => html`<${Row}
                key=${row.block}
                id=${id}
                row=${row}
                position=${first + i}
                step=${scale.step(row.rate)}
                selected=${selected}
                cursor=${cursor?.block === row.block ? cursor.successor : null}
                onSelect=${onSelect}
              />`,
            )}
          </div>
        </div>
      </div>
    </div>
  `;
}

/**
 * Follows the scrolling and the size of an element.
 * @param {{current: HTMLElement | null}} element
 */
function useVisiblePart(element) {
  const [part, setPart] = useState({ top: 0, height: 400 });
  const update = () => {
    const { current } = element;
    if (!current) return;
    const { scrollTop, clientHeight } = current;
    setPart((old) =>
      old.top === scrollTop && old.height === clientHeight ? old : { top: scrollTop, height: clientHeight },
    );
  };
  useLayoutEffect(() => {
    if (!element.current) return undefined;
    const observer = new ResizeObserver(update);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return { part, onScroll: update };
}

/**
 * @param {FlowRow} row
 * @param {number} successor
 * @returns {Selection}
 */
function selectionAt(row, successor) {
  const target = row.successors[successor];
  return target ? { edge: [row.block, target.to] } : { block: row.block };
}

/**
 * @param {string} table
 * @param {number} block
 * @param {number} successor
 */
function cellId(table, block, successor) {
  return `${table}-${block}-${successor < 0 ? "block" : successor}`;
}

/**
 * Where a key moves the cursor: rows with up and down, successors with left and right.
 * @param {string} key
 * @param {FlowOutline[]} outlines
 * @param {number} row -1 if there is no cursor
 * @param {number} successor
 * @param {number} page
 */
function nextCursor(key, outlines, row, successor, page) {
  /** @type {Record<string, number>} */
  const moves = {
    ArrowUp: row - 1,
    ArrowDown: row + 1,
    PageUp: row - page,
    PageDown: row + page,
    Home: 0,
    End: outlines.length,
  };
  if (outlines.length === 0) return null;
  if (key in moves) return { row: Math.max(0, Math.min(outlines.length - 1, moves[key])), successor: -1 };
  if (row < 0 || (key !== "ArrowLeft" && key !== "ArrowRight")) return null;
  const last = Math.min(MAX_SUCCESSORS, outlines[row].targets.length) - 1;
  return { row, successor: Math.max(-1, Math.min(last, successor + (key === "ArrowLeft" ? -1 : 1))) };
}

/** @param {{order: Order, setOrder: (order: Order) => void}} properties */
function Head({ order, setOrder }) {
  /** @param {Column} column */
  const sort = (column) => () => {
    // Figures are first sorted from great to small, numbers of blocks and lines from small to great.
    const first = column !== "block" && column !== "line";
    setOrder({ column, descending: order.column === column ? !order.descending : first });
  };
  return html`
    <div class="flow-table-head" role="rowgroup">
      <div class="flow-table-row" role="row" aria-rowindex="1">
        ${COLUMNS.map(({ column, title, number }) => {
          const sorted = order.column === column;
          const direction = order.descending ? "descending" : "ascending";
          return html`
            <span
              class=${`flow-table-cell${number ? " flow-table-number" : ""}`}
              role="columnheader"
              key=${column}
              aria-sort=${sorted ? direction : "none"}
            >
              <button type="button" onClick=${sort(column)}>
                ${title}<span aria-hidden="true">${sorted ? (order.descending ? " ▼" : " ▲") : ""}</span>
              </button>
            </span>
          `;
        })}
      </div>
    </div>
  `;
}

/**
 * @param {object} properties
 * @param {string} properties.id
 * @param {FlowRow} properties.row
 * @param {number} properties.position
 * @param {number} properties.step heat
 * @param {Selection} properties.selected
 * @param {number | null} properties.cursor the successor at the cursor, -1 for the block, or null
 * @param {(selection: Selection) => void} properties.onSelect
 */
function Row({ id, row, position, step, selected, cursor, onSelect }) {
  const chosen = selected !== null && "block" in selected && selected.block === row.block;
  const edge = selected !== null && "edge" in selected && selected.edge[0] === row.block ? selected.edge[1] : -1;
  const hidden = row.successors.length - MAX_SUCCESSORS;
  return html`
    <div
      class=${`flow-table-row${chosen ? " flow-table-selected" : ""}`}
      role="row"
      aria-rowindex=${position + 2}
      aria-selected=${chosen ? "true" : "false"}
      style=${{ transform: `translateY(${position * ROW_HEIGHT}px)` }}
      onClick=${() => onSelect({ block: row.block })}
    >
      <span
        class=${`flow-table-cell${cursor === -1 ? " flow-table-cursor" : ""}`}
        role="gridcell"
        id=${cellId(id, row.block, -1)}
      >${row.block}${row.header && html` <span class="flow-table-loop">loop</span>`}</span>
      <span class="flow-table-cell flow-table-number" role="gridcell">${row.line ?? ""}</span>
      <span class="flow-table-cell flow-table-number" role="gridcell">${formatExact(row.count)}</span>
      <span class="flow-table-cell flow-table-number" role="gridcell">${formatRate(row.rate)}</span>
      <span class="flow-table-cell" role="gridcell">
        <span class=${`flow-table-bar flow-heat-${step}`} style=${{ width: `${row.share * 100}%` }}></span>
        <span class="flow-table-share">${shareText(row.share)}</span>
      </span>
      <span class="flow-table-cell" role="gridcell">
        ${hidden > 0 &&
        html`<span class="flow-table-count">${formatExact(row.successors.length)} edges, the first </span>`}
        ${row.successors.slice(0, MAX_SUCCESSORS).map(
          ({ to, count }, i) => html`<${Successor}
            key=${to}
            id=${cellId(id, row.block, i)}
            from=${row.block}
            to=${to}
            count=${count}
            chosen=${edge === to}
            cursor=${cursor === i}
            onSelect=${onSelect}
          />`,
        )}
      </span>
    </div>
  `;
}

/**
 * @param {object} properties
 * @param {string} properties.id
 * @param {number} properties.from
 * @param {number} properties.to
 * @param {number | undefined} properties.count
 * @param {boolean} properties.chosen
 * @param {boolean} properties.cursor
 * @param {(selection: Selection) => void} properties.onSelect
 */
function Successor({ id, from, to, count, chosen, cursor, onSelect }) {
  return html`
    <button
      type="button"
      id=${id}
      tabindex="-1"
      class=${`flow-table-edge${chosen ? " flow-table-selected" : ""}${cursor ? " flow-table-cursor" : ""}`}
      aria-pressed=${chosen ? "true" : "false"}
      onClick=${(/** @type {MouseEvent} */ event) => {
        event.stopPropagation();
        onSelect({ edge: [from, to] });
      }}
    ><span aria-hidden="true">→ </span><span class="flow-unseen">edge to block </span>${to}${" "}
      <span class="flow-table-count">${formatCount(count)}<span class="flow-unseen"> times</span></span>
    </button>
  `;
}
