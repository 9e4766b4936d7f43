// Experiments: try transformations on the running program, and see what each one gains.

import { html, useState } from "../lib/html.js";
import { formatAddress } from "../lib/address.js";
import { countText } from "../lib/call-figures.js";
import { ratesText } from "../lib/experiment.js";
import { ExperimentPicture } from "../lib/experiment-picture.js";
import { useLoaded } from "../lib/loaded.js";
import { Copyable, Problem, Waiting } from "../lib/parts.js";
import { RecordingStatus } from "../lib/recording-status.js";
import { RecordingTable } from "../lib/recording-table.js";
import { pathOf, startRecording } from "../lib/recordings.js";
import { request } from "../lib/server.js";

/** @typedef {import("../lib/experiment.js").TuningDecision} TuningDecision */
/** @typedef {import("../lib/recording-label.js").RecordingRow} RecordingRow */

/**
 * @param {{pid: number | null, address: Record<string, string>, setAddress: (patch: Record<string, string>) => void,
 *   about: {allow_edits: boolean}}} props `pid` is `null` for a file
 */
export default function ExperimentsView({ pid, address, setAddress, about }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const id = address.recording ?? "";
  const start = async (/** @type {{pattern: string, seconds: number, dry_run: boolean}} */ wish) => {
    setError(null);
    try {
      const recording = await startRecording(/** @type {number} */ (pid), { kind: "tuning", ...wish });
      setAddress({ recording });
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<h1>Experiments</h1>
    ${pid !== null && html`<${Start} start=${start} allowEdits=${about.allow_edits} />`}
    ${error !== null && html`<${Problem} error=${error} />`}
    ${id === ""
      ? html`<p class="empty">
            HotSpot compiles no method of more than 8,000 bytes. An experiment splits such a method into parts
            that are compiled, runs it in turn without and with the split, and keeps the split only if the
            program is proven to be faster. No result of the program changes.
          </p>
          <${RecordingTable} kind="tuning" />`
      : html`<${RecordingStatus} key=${id} id=${id} hasEnd=${false} endTitle="Stop, and show what is decided">
          ${(/** @type {RecordingRow} */ row) =>
            html`<${Decisions} row=${row} pid=${pid} allowEdits=${about.allow_edits} />`}
        <//>`}`;
}

/** @param {{start: (wish: {pattern: string, seconds: number, dry_run: boolean}) => void, allowEdits: boolean}} props */
function Start({ start, allowEdits }) {
  const [pattern, setPattern] = useState("");
  const [seconds, setSeconds] = useState("120");
  const begin = (/** @type {boolean} */ isList) =>
    start({ pattern: pattern.trim(), seconds: Number(seconds), dry_run: isList });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    begin(!allowEdits);
  };
  return html`<form class="row panel" onSubmit=${submit}>
    <label
      >Methods
      <input
        placeholder="those that threads execute"
        value=${pattern}
        onInput=${(/** @type {any} */ event) => setPattern(event.target.value)}
    /></label>
    <label
      >at most
      <input
        type="number"
        min="1"
        max="3600"
        required
        value=${seconds}
        onInput=${(/** @type {any} */ event) => setSeconds(event.target.value)}
      />
      seconds each</label
    >
    ${allowEdits && html`<button class="main">Try</button>`}
    <button type=${allowEdits ? "button" : "submit"} onClick=${allowEdits ? () => begin(true) : undefined}>
      List methods
    </button>
    ${!allowEdits &&
    html`<span class="soft">An experiment needs <code>veneer serve --allow-edits</code>.</span>`}
  </form>`;
}

/** @param {{row: RecordingRow, pid: number | null, allowEdits: boolean}} props */
function Decisions({ row, pid, allowEdits }) {
  const { data, error, reload } = useLoaded(() => request("GET", `${pathOf(row.id)}/result`), [row.id]);
  if (error !== null) {
    return html`<${Problem} error=${error} retry=${reload} />`;
  }
  if (data === null) {
    return html`<${Waiting}>Reading the decisions…<//>`;
  }
  const decisions = /** @type {TuningDecision[]} */ (data.decisions);
  return html`${row.file !== undefined && html`<p><strong class="mono">${row.file}</strong></p>`}
    ${decisions.length === 0
      ? html`<p class="empty">No method of more than 8,000 bytes was executed. Nothing was changed.</p>`
      : decisions.map(
          (one) =>
            html`<${Decided} key=${one.method} decision=${one} pid=${pid} allowEdits=${allowEdits} />`,
        )}
    ${typeof data.plan === "string" &&
    html`<${Copyable} title="A plan that does the same at the next start" text=${data.plan} />`}`;
}

/** @param {{decision: TuningDecision, pid: number | null, allowEdits: boolean}} props */
function Decided({ decision, pid, allowEdits }) {
  const { method, transformation, kept, reason, patch, windows = [] } = decision;
  const rates = ratesText(decision);
  return html`<article class="panel">
    <h2>
      <span class="mono">${method}</span> ${" "}
      <span class=${kept ? "badge good" : "badge"}>${kept ? "kept" : "not kept"}</span>
    </h2>
    <p>
      ${countText(decision.arguments.size)} bytes, ${transformation}: ${reason}. ${rates !== "" && `${rates}.`}
      ${pid !== null &&
      html` <a href=${formatAddress({ view: "method", pid, parts: { pattern: method } })}>open its flow graph</a>`}
    </p>
    <${ExperimentPicture} windows=${windows} />
    ${kept && patch !== undefined && pid !== null && allowEdits && html`<${TakeBack} pid=${pid} patch=${patch} />`}
  </article>`;
}

/** Removes a transformation that was kept. @param {{pid: number, patch: string}} props */
function TakeBack({ pid, patch }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [isGone, setGone] = useState(false);
  const detach = async () => {
    setError(null);
    try {
      await request("POST", `api/1/jvms/${pid}/detach`, { ids: [patch] });
      setGone(true);
    } catch (problem) {
      setError(problem);
    }
  };
  return html`${error !== null && html`<${Problem} error=${error} />`}
    ${isGone
      ? html`<p role="status">Taken back. The method runs as it was.</p>`
      : html`<button onClick=${detach}>Take back</button>`}`;
}
