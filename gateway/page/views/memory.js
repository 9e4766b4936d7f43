// Memory profiles: accesses and cache misses by method, line, type, field or allocation site.

import { html, useMemo, useState } from "../lib/html.js";
import { countText } from "../lib/call-figures.js";
import { useLoaded } from "../lib/loaded.js";
import { figureOf, figuresOf, figureText, mainFigure, sortedRows } from "../lib/memory-rows.js";
import { Problem, Waiting } from "../lib/parts.js";
import { RecordingStatus } from "../lib/recording-status.js";
import { RecordingTable } from "../lib/recording-table.js";
import { pathOf } from "../lib/recordings.js";
import { request } from "../lib/server.js";
import { shareText } from "../lib/share.js";
import { VirtualTable } from "../lib/virtual-table.js";

/** @typedef {import("../lib/memory-rows.js").MemoryRow} MemoryRow */
/** @typedef {import("../lib/recording-label.js").RecordingRow} RecordingRow */
/** @typedef {Record<string, string>} Address */

/**
 * The allocations of a site, and the estimates of those on the heap with their errors.
 * @typedef {object} AllocationRow
 * @property {string} site
 * @property {string} type
 * @property {number} objects
 * @property {number | null} bytes
 * @property {number | null} heap_objects
 * @property {number | null} heap_objects_margin
 * @property {number | null} heap_bytes
 * @property {number | null} heap_bytes_margin
 */

/**
 * The JSON of `veneer memory show`, with the rows of all views.
 * @typedef {object} MemoryProfile
 * @property {string} program
 * @property {string[]} caches
 * @property {MemoryRow} total
 * @property {Record<string, MemoryRow[]>} views
 * @property {AllocationRow[]} allocations
 * @property {{writer: string, other: string, true_misses: number, false_misses: number}[]} sharing
 * @property {string[]} notes
 */

/** The properties by which accesses are summed, as in `veneer memory show --by`. */
const VIEWS = [
  { name: "method", title: "Methods" },
  { name: "line", title: "Lines" },
  { name: "type", title: "Types" },
  { name: "field", title: "Fields" },
  { name: "site", title: "Instructions" },
  { name: "object", title: "Allocation sites of the objects" },
];
/** The most rows of the tables of allocations and of shared lines. */
const MAX_ROWS = 200;

/** @param {{address: Address, setAddress: (patch: Address) => void}} props */
export default function MemoryView({ address, setAddress }) {
  const id = address.recording ?? "";
  if (id === "") {
    return html`<h1>Memory</h1>
      <${RecordingTable} kind="memory" empty="There is no memory profile in the folders of --data." />`;
  }
  return html`<h1>Memory</h1>
    <${RecordingStatus} key=${id} id=${id} endTitle="Stop now">
      ${(/** @type {RecordingRow} */ row) =>
        html`<${Profile} row=${row} address=${address} setAddress=${setAddress} />`}
    <//>`;
}

/** @param {{row: RecordingRow, address: Address, setAddress: (patch: Address) => void}} props */
function Profile({ row, address, setAddress }) {
  const { data, error, reload } = useLoaded(() => request("GET", `${pathOf(row.id)}/result`), [row.id]);
  if (error !== null) {
    return html`<${Problem} error=${error} retry=${reload} />`;
  }
  if (data === null) {
    return html`<${Waiting}>Reading the profile…<//>`;
  }
  const profile = /** @type {MemoryProfile} */ (data);
  const by = VIEWS.find(({ name }) => name === address.by)?.name ?? firstView(profile);
  const cache = Math.min(Number(address.cache ?? 0) || 0, Math.max(0, profile.caches.length - 1));
  return html`<p><strong class="mono">${row.file ?? profile.program}</strong> <span class="soft">${profile.program}</span></p>
    ${profile.notes.map((note) => html`<div key=${note} class="panel warning">${note}</div>`)}
    <div class="row panel">
      <label
        >Sum by
        <select value=${by} onChange=${(/** @type {any} */ event) => setAddress({ by: event.target.value })}>
          ${VIEWS.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}
        </select></label
      >
      ${profile.caches.length > 0 &&
      html`<label
        >Caches
        <select value=${cache} onChange=${(/** @type {any} */ event) => setAddress({ cache: event.target.value })}>
          ${profile.caches.map((description, n) => html`<option key=${n} value=${n}>${description}</option>`)}
        </select></label
      >`}
    </div>
    <${Rows} key=${`${by} ${cache}`} profile=${profile} by=${by} cache=${cache} />
    <${Allocations} rows=${profile.allocations} />
    <${Sharing} rows=${profile.sharing} />`;
}

/** The first view whose rows have names. @param {MemoryProfile} profile */
function firstView({ views }) {
  const named = VIEWS.find(({ name }) => views[name].some((row) => row.name !== "(none)"));
  return named?.name ?? VIEWS[0].name;
}

/** @param {{profile: MemoryProfile, by: string, cache: number}} props */
function Rows({ profile, by, cache }) {
  const { total, views } = profile;
  const figures = figuresOf(total, cache);
  const [order, setOrder] = useState({ key: mainFigure(total, cache), isDescending: true });
  const [active, setActive] = useState(0);
  const rows = useMemo(() => sortedRows(views[by], cache, order), [views, by, cache, order]);
  const sort = (/** @type {string} */ key) => {
    setOrder({ key, isDescending: key === order.key ? !order.isDescending : key !== "name" });
    setActive(0);
  };
  // The bar shows the figure of the order; names have the accesses.
  const shown = order.key === "name" ? "accesses" : order.key;
  const whole = figureOf(total, cache, shown);
  const columns = [
    { key: "name", title: VIEWS.find(({ name }) => name === by)?.title ?? by, isSortable: true, width: "minmax(16rem, 1fr)" },
    ...figures.map(({ key, title }) => ({ key, title, isNumeric: true, isSortable: true, width: "12rem" })),
    { key: "share", title: "Share", isNumeric: true, width: "5rem" },
    { key: "bar", title: "", width: "8rem" },
  ];
  const cells = (/** @type {number} */ at) => {
    const row = rows[at];
    const part = figureOf(row, cache, shown);
    const width = whole > 0 ? `${(100 * part) / whole}%` : "0";
    return [
      html`<span class="mono">${row.name}</span>`,
      ...figures.map(({ key }) => figureText(row, cache, key)),
      shareText(part, whole),
      html`<span class="memory-bar" style=${{ width }}></span>`,
    ];
  };
  return html`<section class="calls" aria-label="Accesses">
    <p>${figures.map(({ key, title }) => `${title}: ${figureText(total, cache, key)}`).join("; ")}.</p>
    <${VirtualTable} label="Accesses" columns=${columns} count=${rows.length} cells=${cells} active=${active}
      onActive=${setActive} order=${order} onSort=${sort} emptyText="No access was recorded." />
  </section>`;
}

/** @param {{rows: MemoryProfile["allocations"]}} props */
function Allocations({ rows }) {
  if (rows.length === 0) {
    return null;
  }
  const size = (/** @type {AllocationRow} */ row) => Math.max(row.bytes ?? 0, row.heap_bytes ?? 0);
  const sorted = [...rows].sort((a, b) => size(b) - size(a));
  return html`<section class="panel" aria-label="Allocations">
    <h2>Allocations</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Allocated at</th>
            <th scope="col">Type</th>
            <th class="number" scope="col">Objects</th>
            <th class="number" scope="col">Objects on the heap</th>
            <th class="number" scope="col">Bytes</th>
            <th class="number" scope="col">Bytes on the heap</th>
          </tr>
        </thead>
        <tbody>
          ${sorted.slice(0, MAX_ROWS).map(
            (row, n) => html`<tr key=${n}>
              <td class="mono">${row.site}</td>
              <td class="mono">${row.type}</td>
              <td class="number">${countText(row.objects)}</td>
              <td class="number">${estimateText(row.heap_objects, row.heap_objects_margin)}</td>
              <td class="number">${estimateText(row.bytes, null)}</td>
              <td class="number">${estimateText(row.heap_bytes, row.heap_bytes_margin)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <${Rest} count=${sorted.length} />
  </section>`;
}

/** A number that may be unknown, with its error. @param {number | null} number @param {number | null} margin */
function estimateText(number, margin) {
  if (number === null) {
    return "?";
  }
  return margin === null ? countText(number) : `${countText(number)} ± ${countText(margin)}`;
}

/** @param {{rows: MemoryProfile["sharing"]}} props */
function Sharing({ rows }) {
  if (rows.length === 0) {
    return null;
  }
  return html`<section class="panel" aria-label="Shared lines">
    <h2>Lines that threads share</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Written at</th>
            <th scope="col">Invalid at</th>
            <th class="number" scope="col">True sharing</th>
            <th class="number" scope="col">False sharing</th>
          </tr>
        </thead>
        <tbody>
          ${rows.slice(0, MAX_ROWS).map(
            (row, n) => html`<tr key=${n}>
              <td class="mono">${row.writer}</td>
              <td class="mono">${row.other}</td>
              <td class="number">${countText(row.true_misses)}</td>
              <td class="number">${countText(row.false_misses)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <${Rest} count=${rows.length} />
  </section>`;
}

/** Says how many rows a table leaves out. @param {{count: number}} props */
function Rest({ count }) {
  return count > MAX_ROWS
    ? html`<p class="soft">${countText(count - MAX_ROWS)} more rows are in <code>veneer memory show --json</code>.</p>`
    : null;
}
