// Recordings as a table: those of the server and those on disk, with a link that opens each.

import { html } from "./html.js";
import { formatAddress } from "./address.js";
import { Problem, Waiting } from "./parts.js";
import { KINDS, recordingName, sizeText, timeText } from "./recording-label.js";
import { useRecordings } from "./recordings.js";

/** @typedef {import("./recording-label.js").RecordingRow} RecordingRow */

/**
 * @param {{kind?: import("./recording-label.js").RecordingKind, empty?: string}} props all kinds, if none is given; `empty`
 *   is shown if there is no recording
 */
export function RecordingTable({ kind, empty = "" }) {
  const { data, error, reload } = useRecordings([kind]);
  if (error !== null) {
    return html`<${Problem} error=${error} retry=${reload} />`;
  }
  if (data === null) {
    return html`<${Waiting}>Looking for recordings…<//>`;
  }
  const rows = kind === undefined ? data : data.filter((row) => row.kind === kind);
  if (rows.length === 0) {
    return empty === "" ? null : html`<p class="empty">${empty}</p>`;
  }
  return html`<section class="panel" aria-label="Recordings">
    <div class="row">
      <h2>Recordings</h2>
      <button class="small" onClick=${reload}>Look again</button>
    </div>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Recording</th>
            ${kind === undefined && html`<th scope="col">Kind</th>`}
            <th scope="col">From</th>
            <th class="number" scope="col">Time</th>
            <th class="number" scope="col">Length or size</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map((row) => html`<${Row} key=${row.id} row=${row} hasKind=${kind === undefined} />`)}
        </tbody>
      </table>
    </div>
  </section>`;
}

/** @param {{row: RecordingRow, hasKind: boolean}} props */
function Row({ row, hasKind }) {
  const { view, title } = KINDS[row.kind];
  const address = formatAddress({ view, pid: row.pid, parts: { recording: row.id } });
  return html`<tr>
    <td>
      <a class="mono" href=${address}>${recordingName(row)}</a>
      ${row.state === "running" && html` <span class="badge">running</span>`}
      ${row.state === "failed" &&
      html`<div class="soft"><span class="badge bad">not readable</span> ${row.error?.problem}</div>`}
    </td>
    ${hasKind && html`<td>${title}</td>`}
    <td class=${row.folder === undefined ? "" : "mono"}>${row.folder ?? `process ${row.pid}`}</td>
    <td class="number">${timeText(row.modified ?? row.begun)}</td>
    <td class="number">${amount(row)}</td>
  </tr>`;
}

/** @param {RecordingRow} row */
function amount({ bytes, kind, wanted }) {
  if (bytes === undefined) {
    return `${wanted} s`;
  }
  return kind === "trace" ? "" : sizeText(bytes);
}
