// The callers and callees of a method, as gprof shows them: callers above the method, callees below.

import { html, useMemo, useState } from "./html.js";
import { butterflyOf } from "./butterfly-rows.js";
import { VirtualTable } from "./virtual-table.js";

/** @typedef {import("./butterfly-rows.js").ArcRow} ArcRow */
/** @typedef {import("./call-profile.js").CallProfile} CallProfile */

const MAX_ROWS = 12;

/**
 * @param {object} props
 * @param {CallProfile} props.profile
 * @param {number} props.method the method's position in the profile
 * @param {(method: number) => void} [props.onMethod]
 */
export function Butterfly({ profile, method, onMethod }) {
  const known = method >= 0 && method < profile.methods.length;
  const butterfly = useMemo(() => (known ? butterflyOf(profile, method) : null), [profile, method]);
  if (butterfly === null) {
    return html`<p class="calls-empty">No method is chosen.</p>`;
  }
  const { callers, callees, facts, hasTimes } = butterfly;
  return html`
    <section class="calls-butterfly">
      <h3>Callers</h3>
      <${ArcTable} key=${`callers-${method}`} label="Callers" rows=${callers} hasTimes=${hasTimes} onMethod=${onMethod}
        first=${callers.length - 1} emptyText="No recorded call enters this method." />
      <div class="calls-centre">
        <h3><bdi>${profile.methods[method].label}</bdi></h3>
        <dl>${facts.map(({ term, value }) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
      </div>
      <h3>Callees</h3>
      <${ArcTable} key=${`callees-${method}`} label="Callees" rows=${callees} hasTimes=${hasTimes} onMethod=${onMethod}
        first=${0} emptyText="No call of this method was recorded." />
    </section>
  `;
}

/**
 * @param {{label: string, rows: ArcRow[], hasTimes: boolean, first: number, emptyText: string,
 *   onMethod?: (method: number) => void}} props `first` is the row that is active at first
 */
function ArcTable({ label, rows, hasTimes, first, emptyText, onMethod }) {
  const [active, setActive] = useState(Math.max(0, first));
  const open = (/** @type {number} */ row) => {
    if (rows[row].method >= 0) {
      onMethod?.(rows[row].method);
    }
  };
  const number = (/** @type {string} */ key, /** @type {string} */ title) => ({
    key,
    title,
    width: "8rem",
    isNumeric: true,
  });
  const times = [number("self", "Self"), number("descendants", "Descendants")];
  const columns = [
    number("calls", "Calls"),
    number("share", "Share"),
    ...(hasTimes ? times : []),
    { key: "sites", title: "Call sites", width: "minmax(12rem, 20rem)" },
    { key: "label", title: "Method", width: "minmax(18rem, 1fr)" },
  ];
  const cell = (/** @type {ArcRow} */ row, /** @type {string} */ key) =>
    key !== "label" || row.method < 0
      ? row[/** @type {keyof ArcRow} */ (key)]
      : html`
          <button type="button" class="calls-link" tabindex="-1" title=${row.label}
            onClick=${() => onMethod?.(row.method)}>
            <bdi>${row.label}</bdi>
          </button>
        `;
  return html`
    <${VirtualTable} label=${label} columns=${columns} count=${rows.length} active=${active} onActive=${setActive}
      onOpen=${open} maxRows=${MAX_ROWS} emptyText=${emptyText}
      cells=${(/** @type {number} */ row) => columns.map(({ key }) => cell(rows[row], key))} />
  `;
}
