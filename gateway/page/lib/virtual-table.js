// A table that creates elements for its visible rows only.
//
// The table itself has the keyboard focus, and names its active row by `aria-activedescendant`. So the
// focus does not get lost when the element of a row is removed.

import { html, useLayoutEffect, useRef, useState } from "./html.js";
import { useElementSize } from "./element-size.js";
import { rowAfterKey, scrolledHeight, scrollToRow, visibleRows } from "./row-window.js";

/**
 * @typedef {object} Column
 * @property {string} key
 * @property {string} title
 * @property {boolean} [isNumeric]
 * @property {boolean} [isSortable]
 * @property {string} width a track of a CSS grid: `8rem`, `minmax(12rem, 1fr)`
 */

/** @typedef {{key: string, isDescending: boolean}} SortOrder */

/**
 * @typedef {object} VirtualTableProps
 * @property {string} label
 * @property {"grid" | "treegrid"} [role]
 * @property {Column[]} columns
 * @property {number} count the number of rows
 * @property {(row: number) => any[]} cells the contents of a row
 * @property {(row: number) => Record<string, any>} [rowAttributes]
 * @property {number} active the active row
 * @property {(row: number) => void} onActive
 * @property {(row: number) => void} [onOpen] Enter, or a double click
 * @property {(event: KeyboardEvent) => boolean} [onKey] returns whether it used the key
 * @property {SortOrder} [order]
 * @property {(key: string) => void} [onSort]
 * @property {number} [maxRows] the greatest number of rows that are visible at a time
 * @property {string} [emptyText]
 */

/** In pixels; the heights in calls.css are the same. */
const ROW_HEIGHT = 24;
const HEAD_HEIGHT = 30;
/** Room for a horizontal scroll bar and the borders. */
const EXTRA_HEIGHT = 18;
const DEFAULT_ROWS = 24;

let tables = 0;

/** @param {VirtualTableProps} props */
export function VirtualTable(props) {
  const { label, role = "grid", columns, count, active, onActive, maxRows = DEFAULT_ROWS } = props;
  const table = useRef(/** @type {HTMLElement | null} */ (null));
  const [id] = useState(() => `calls-table-${++tables}`);
  const [scrollTop, setScrollTop] = useState(0);
  const size = useElementSize(table);
  const height = Math.max(0, size.height - HEAD_HEIGHT);
  const scale = { count, rowHeight: ROW_HEIGHT, height };
  const { first, last, offset } = visibleRows(scale, scrollTop);
  const row = Math.min(active, count - 1);

  useLayoutEffect(() => {
    // A new order or another number of rows must not leave the active row invisible.
    if (table.current !== null && row >= 0 && height > 0) {
      table.current.scrollTop = scrollToRow(scale, table.current.scrollTop, row);
    }
  }, [row, count, height > 0]);

  /** @param {KeyboardEvent} event */
  const press = (event) => {
    const isOfTable = event.target === table.current;
    if (!isOfTable || event.ctrlKey || event.altKey || event.metaKey || count === 0) {
      return;
    }
    const next = rowAfterKey(event.key, row, count, Math.max(1, Math.floor(height / ROW_HEIGHT) - 1));
    if (props.onKey?.(event)) {
      event.preventDefault();
    } else if (event.key === "Enter" && props.onOpen !== undefined) {
      event.preventDefault();
      props.onOpen(row);
    } else if (next !== row || /^(Arrow(Up|Down)|Page|Home|End)/.test(event.key)) {
      event.preventDefault();
      onActive(next);
    }
  };
  const rows = Array.from({ length: last - first }, (_, at) => first + at);
  const tracks = columns.map(({ width }) => width).join(" ");
  const bodyHeight = scrolledHeight(scale);
  return html`
    <div class="calls-rows" ref=${table} role=${role} tabindex="0" aria-label=${label} aria-rowcount=${count + 1}
      aria-activedescendant=${row >= first && row < last ? `${id}-${row}` : undefined}
      style=${{ height: `${Math.min(bodyHeight, maxRows * ROW_HEIGHT) + HEAD_HEIGHT + EXTRA_HEIGHT}px` }}
      onScroll=${() => setScrollTop(table.current?.scrollTop ?? 0)} onKeyDown=${press}>
      <${TableHead} columns=${columns} tracks=${tracks} order=${props.order} onSort=${props.onSort} />
      <div class="calls-rows-window" role="rowgroup">
        ${rows.map(
          (number) => html`
            <${TableRow} key=${number} id=${`${id}-${number}`} table=${props} tracks=${tracks} row=${number}
              isActive=${number === row} top=${offset + (number - first) * ROW_HEIGHT} />
          `,
        )}
      </div>
      <div role="presentation" style=${{ height: `${bodyHeight}px` }}>
        ${count === 0 ? html`<p class="calls-empty">${props.emptyText ?? "Nothing was recorded."}</p>` : null}
      </div>
    </div>
  `;
}

/** @param {{columns: Column[], tracks: string, order?: SortOrder, onSort?: (key: string) => void}} props */
function TableHead({ columns, tracks, order, onSort }) {
  const head = (/** @type {Column} */ { key, title, isNumeric, isSortable }) => {
    const isOrder = order?.key === key;
    const sort = isOrder ? (order.isDescending ? "descending" : "ascending") : "none";
    const mark = isOrder ? (order.isDescending ? " ▾" : " ▴") : "";
    const button = html`
      <button type="button" onClick=${() => onSort?.(key)}>${title}<span aria-hidden="true">${mark}</span></button>
    `;
    return html`
      <div role="columnheader" class=${isNumeric ? "calls-number" : ""} aria-sort=${isSortable ? sort : undefined}>
        ${isSortable ? button : title}
      </div>
    `;
  };
  return html`
    <div role="rowgroup" class="calls-rows-head">
      <div role="row" aria-rowindex="1" class="calls-row" style=${{ gridTemplateColumns: tracks }}>
        ${columns.map(head)}
      </div>
    </div>
  `;
}

/**
 * @param {{id: string, table: VirtualTableProps, tracks: string, row: number, isActive: boolean,
 *   top: number}} props
 */
function TableRow({ id, table, tracks, row, isActive, top }) {
  const { columns, cells, rowAttributes, onActive, onOpen } = table;
  const contents = cells(row);
  const cell = (/** @type {Column} */ { isNumeric }, /** @type {number} */ at) => html`
    <div role="gridcell" class=${isNumeric ? "calls-number" : ""}>${contents[at]}</div>
  `;
  return html`
    <div role="row" id=${id} class=${isActive ? "calls-row calls-row-active" : "calls-row"}
      aria-rowindex=${row + 2} aria-selected=${isActive ? "true" : "false"}
      style=${{ gridTemplateColumns: tracks, top: `${top}px` }}
      onClick=${() => onActive(row)} onDblClick=${() => onOpen?.(row)} ...${rowAttributes?.(row) ?? {}}>
      ${columns.map(cell)}
    </div>
  `;
}
