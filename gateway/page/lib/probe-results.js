// The measurements of one instrument: a count, times, the last values, or a distribution.

import { durationText } from "./call-figures.js";
import { html } from "./html.js";

/** The most values of a watch that are shown. */
const SHOWN_VALUES = 12;

/** @param {{probe: import("./probe-panel.js").Probe}} props */
export function ProbeResults({ probe }) {
  if (probe.table?.watch !== undefined) {
    return html`<${Values} rows=${probe.table.watch} variables=${probe.variables} />`;
  }
  if (probe.table?.histogram !== undefined) {
    return html`<${Distribution} rows=${probe.table.histogram} />`;
  }
  const points = (probe.update?.instruments ?? []).flatMap((/** @type {any} */ one) => one.points);
  const sum = (/** @type {string} */ name) =>
    points.reduce((/** @type {number} */ all, /** @type {any} */ point) => all + (point[name] ?? 0), 0);
  if (probe.kind === "timer") {
    const count = sum("count");
    if (count === 0) {
      return html`<div class="soft">no finished interval yet</div>`;
    }
    const most = Math.max(...points.map((/** @type {any} */ point) => point.max_ns ?? 0));
    return html`<div>
      ${count.toLocaleString("en")} intervals, mean ${durationText(sum("total_ns") / count)}, longest
      ${durationText(most)}
    </div>`;
  }
  if (probe.kind === "counter") {
    return html`<div class="number">${sum("hits").toLocaleString("en")} passes</div>`;
  }
  return probe.kind === "skip" || probe.kind === "redirect"
    ? html`<div class="soft">in effect</div>`
    : html`<div class="soft">no value yet</div>`;
}

/** @param {{rows: any[], variables: string[]}} props */
function Values({ rows, variables }) {
  if (rows.length === 0) {
    return html`<div class="soft">no value yet</div>`;
  }
  return html`<table>
    <thead>
      <tr>
        ${variables.map((name) => html`<th key=${name} scope="col" class="mono">${name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows
        .slice(-SHOWN_VALUES)
        .reverse()
        .map(
          (row, n) =>
            html`<tr key=${n}>
              ${row.values.map(
                (/** @type {unknown} */ value, /** @type {number} */ m) =>
                  html`<td key=${m} class="mono">${String(value)}</td>`,
              )}
            </tr>`,
        )}
    </tbody>
  </table>`;
}

/** @param {{rows: any[]}} props */
function Distribution({ rows }) {
  const [row] = rows;
  const buckets = row?.buckets ?? [];
  if (row === undefined) {
    return html`<div class="soft">no value yet</div>`;
  }
  const most = Math.max(1, ...buckets.map((/** @type {any} */ bucket) => bucket.count));
  return html`<div>
      ${Number(row.count).toLocaleString("en")} values from ${row.min} to ${row.max}, sum ${row.sum}
    </div>
    <table>
      <tbody>
        ${buckets.map(
          (/** @type {any} */ bucket) =>
            html`<tr key=${bucket.from}>
              <td class="number">${bucket.from} – ${bucket.to}</td>
              <td class="number">${bucket.count}</td>
              <td><span class="bar" style=${{ width: `${(bucket.count / most) * 8}em` }}></span></td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}
