// The table of methods: calls, times and shares, in the order of any column.

import { html, useMemo, useState } from "./html.js";
import { changeText, countOf, countText, durationText, measureText } from "./call-figures.js";
import { methodTable, sortedRows } from "./method-rows.js";
import { shareText } from "./share.js";
import { VirtualTable } from "./virtual-table.js";

/** @typedef {import("./call-profile.js").CallProfile} CallProfile */
/** @typedef {import("./method-rows.js").MethodKey} MethodKey */
/** @typedef {import("./method-rows.js").MethodRow} MethodRow */
/** @typedef {import("./virtual-table.js").Column & {cell: (row: MethodRow) => any}} MethodColumn */

/**
 * @param {object} props
 * @param {CallProfile} props.profile
 * @param {CallProfile | null} [props.against] an earlier recording for comparison
 * @param {string} [props.query]
 * @param {(method: number) => void} [props.onMethod]
 */
export function HotMethods({ profile, against = null, query = "", onMethod }) {
  const table = useMemo(() => methodTable(profile, against), [profile, against]);
  const [chosen, setChosen] = useState(/** @type {{key: MethodKey, isDescending: boolean} | null} */ (null));
  const order = chosen ?? { key: table.hasTimes ? "self" : "calls", isDescending: true };
  const rows = useMemo(
    () => sortedRows(table, { ...order, query }),
    [table, order.key, order.isDescending, query],
  );
  const [active, setActive] = useState(0);
  const columns = columnsOf(table, against !== null, onMethod);
  const sort = (/** @type {string} */ key) => {
    const isDescending = key === order.key ? !order.isDescending : key !== "label";
    setChosen({ key: /** @type {MethodKey} */ (key), isDescending });
    setActive(0);
  };
  const open = (/** @type {number} */ row) => {
    if (rows[row]?.method >= 0) {
      onMethod?.(rows[row].method);
    }
  };
  const found = query === "" ? "" : `; ${countText(rows.length)} match the search`;
  return html`
    <p class="calls-summary" role="status">${countOf(table.rows.length, "method", "methods")}${found}.</p>
    <${VirtualTable} label="Methods" columns=${columns} count=${rows.length} active=${active} onActive=${setActive}
      onOpen=${open} order=${order} onSort=${sort} emptyText="No method matches."
      cells=${(/** @type {number} */ row) => columns.map(({ cell }) => cell(rows[row]))} />
  `;
}

/**
 * @param {import("./method-rows.js").MethodTable} table
 * @param {boolean} isComparison
 * @param {((method: number) => void) | undefined} onMethod
 * @returns {MethodColumn[]}
 */
function columnsOf({ hasTimes, hasCpu, hasAllocations }, isComparison, onMethod) {
  const number = (
    /** @type {MethodKey} */ key,
    /** @type {string} */ title,
    /** @type {(row: MethodRow) => string} */ cell,
    width = "6.5rem",
  ) => ({ key, title, width, cell, isNumeric: true, isSortable: true });
  const measure = hasTimes ? "self" : "calls";
  const before = (/** @type {MethodRow} */ row) => (hasTimes ? row.selfBefore : row.callsBefore);
  const of = hasTimes ? "self" : "calls";
  /** @type {(MethodColumn | null)[]} */
  const columns = [
    {
      key: "label",
      title: "Method",
      width: "minmax(18rem, 1fr)",
      isSortable: true,
      cell: (row) => methodCell(row, onMethod),
    },
    number("calls", "Calls", ({ calls }) => countText(calls)),
    hasTimes ? number("total", "Total", ({ total }) => durationText(total)) : null,
    hasTimes ? number("self", "Self", ({ self }) => durationText(self)) : null,
    hasCpu ? number("cpu", "Processor", ({ cpu }) => durationText(cpu)) : null,
    hasAllocations ? number("allocations", "Objects", ({ allocations }) => countText(allocations)) : null,
    number("share", "Share", ({ share }) => shareText(share, 1)),
    isComparison ? number("before", `Before (${of})`, (row) => measureText(measure, before(row)), "7.5rem") : null,
    isComparison
      ? number("change", `Change (${of})`, (row) => changeText(measure, before(row), row[measure]), "12rem")
      : null,
  ];
  return columns.filter((column) => column !== null);
}

/**
 * @param {MethodRow} row
 * @param {((method: number) => void) | undefined} onMethod
 */
function methodCell({ label, method }, onMethod) {
  const name = html`<bdi>${label}</bdi>`;
  return onMethod === undefined || method < 0
    ? name
    : html`
        <button type="button" class="calls-link" tabindex="-1" title=${label} onClick=${() => onMethod(method)}>
          ${name}
        </button>
      `;
}
