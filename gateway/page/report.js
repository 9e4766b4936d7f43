// A report: recordings with the views of the page in one file, without a server. The data are in the file,
// in the element `report-data`.

import { html, render, useEffect } from "./lib/html.js";
import { formatAddress } from "./lib/address.js";
import { changeAddress, useAddress } from "./lib/browser-address.js";
import { KINDS, recordingName, timeText } from "./lib/recording-label.js";
import { RecordingTable } from "./lib/recording-table.js";
import { reportAnswers } from "./lib/report-answers.js";
import { answerWith } from "./lib/server.js";
import { applyTheme, Theme } from "./lib/theme.js";
import BottlenecksView from "./views/bottlenecks.js";
import CallsView from "./views/calls.js";
import ExperimentsView from "./views/experiments.js";
import MemoryView from "./views/memory.js";
import TraceView from "./views/trace.js";

/** @typedef {import("./lib/recording-label.js").RecordingRow} RecordingRow */
/** @typedef {import("./lib/report-answers.js").ReportData} ReportData */

/** @type {Record<string, any>} */
const VIEWS = {
  bottlenecks: BottlenecksView,
  calls: CallsView,
  trace: TraceView,
  experiments: ExperimentsView,
  memory: MemoryView,
};

/** @param {RecordingRow} row */
function addressOf({ id, kind }) {
  return formatAddress({ view: KINDS[kind].view, pid: null, parts: { recording: id } });
}

/** @param {{report: ReportData}} props */
function Report({ report }) {
  const { version, made, recordings } = report;
  const address = useAddress();
  const id = address.parts.recording ?? "";
  const firstQuery = recordings.find(({ query }) => query !== undefined)?.query?.text ?? "";
  const about = { version, allow_edits: false, pids: [], folders: [], first_query: firstQuery };
  const view = id === "" ? undefined : VIEWS[address.view];
  const name = recordings.find(({ row }) => row.id === id)?.row.file;
  useEffect(() => {
    document.title = name === undefined ? "Veneer report" : `${name} · Veneer report`;
  }, [name]);
  const props = { pid: null, address: address.parts, setAddress: changeAddress, about };
  return html`<div class="frame">
    <nav class="menu" aria-label="Recordings">
      <a class="name" href="#/recordings">Veneer report</a>
      <ul>
        ${recordings.map(
          ({ row }) => html`<li key=${row.id}>
            <a href=${addressOf(row)} aria-current=${row.id === id ? "page" : undefined}>${recordingName(row)}</a>
          </li>`,
        )}
      </ul>
      <${Theme} />
      <p class="soft">Made ${timeText(made)} by veneer ${version}.</p>
    </nav>
    <main class="view" key=${address.view}>
      ${view === undefined ? html`<h1>Recordings</h1><${RecordingTable} />` : html`<${view} ...${props} />`}
    </main>
  </div>`;
}

/** @type {ReportData} */
const report = JSON.parse(document.getElementById("report-data")?.textContent ?? "{}");
answerWith(reportAnswers(report));
applyTheme();
if (location.hash === "" && report.recordings.length === 1) {
  history.replaceState(null, "", addressOf(report.recordings[0].row));
}
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(html`<${Report} report=${report} />`, root);
}
