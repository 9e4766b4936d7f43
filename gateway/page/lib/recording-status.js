// A recording of the server: its progress, its failure, or its result.

import { html } from "./html.js";
import { Copyable, Problem, Waiting } from "./parts.js";
import { useRecording } from "./recording.js";
import { request } from "./server.js";
import { ServerError } from "./server-error.js";

/** @typedef {import("./recording-label.js").RecordingRow} RecordingRow */

/**
 * Follows a recording until it ends, and then shows the children. A function as the child gets the
 * recording. `live` makes the part that shows while the recording runs, too. Without `hasEnd`, the recording
 * may take longer than the seconds that were asked for.
 *
 * @param {{id: string, endTitle: string, hasEnd?: boolean, onDiscard?: () => void, live?: (recording: any) => any, children?: any}} props
 */
export function RecordingStatus({ id, endTitle, hasEnd = true, onDiscard, live, children }) {
  const { recording, error, retry } = useRecording(id);
  if (error !== null) {
    return html`<${Problem} error=${error} retry=${retry} />`;
  }
  if (recording === null) {
    return html`<${Waiting}>Loading…<//>`;
  }
  const end = () => request("POST", `api/1/recordings/${id}/end`, {}).catch(() => {});
  const line = recording.progress.at(-1);
  return html`${recording.state === "running" &&
    html`<div class="panel" role="status">
      <div class="row">
        ${hasEnd
          ? html`<progress max=${recording.wanted} value=${recording.seconds}></progress>
              <span>${recording.seconds.toFixed(0)} of ${recording.wanted} seconds</span>`
          : html`<progress></progress><span>${recording.seconds.toFixed(0)} seconds</span>`}
        <button onClick=${end}>${endTitle}</button>
        ${onDiscard !== undefined && html`<button onClick=${onDiscard}>Discard</button>`}
      </div>
      ${line !== undefined && html`<pre class="soft">${line}</pre>`}
    </div>`}
    ${recording.state === "failed" && html`<${Problem} error=${failureOf(recording)} />`}
    ${recording.state === "done" && (typeof children === "function" ? children(recording) : children)}
    ${live?.(recording)}
    <${Copyable} title="The same in a terminal" text=${recording.command} />`;
}

/** @param {RecordingRow} recording */
function failureOf({ error }) {
  return new ServerError(
    error?.code ?? "failed",
    error?.problem ?? "the recording failed",
    error?.remedy ?? "",
  );
}
