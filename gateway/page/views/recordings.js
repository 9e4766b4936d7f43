// All recordings: those that the page made, and the files of --data and --trace.

import { html } from "../lib/html.js";
import { RecordingTable } from "../lib/recording-table.js";

/** @param {{about: {folders: string[]}}} props */
export default function RecordingsView({ about: { folders } }) {
  return html`<h1>Recordings</h1>
    <${RecordingTable}
      empty="There is no recording. The views Bottlenecks, Calls, Trace and Experiments of a JVM make some."
    />
    ${folders.length === 0
      ? html`<p class="soft">
          To open files too, start <code>veneer serve --data DIR</code>, or <code>--trace DIR</code> for traces.
          DIR may also be one file.
        </p>`
      : html`<p class="soft">
          Files are read from ${folders.map((folder, n) => html`${n > 0 && ", "}<code key=${folder}>${folder}</code>`)}
          ${" "}and three folders deep.
        </p>`}`;
}
