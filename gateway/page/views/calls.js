// The view *Calls*: records the calls of a JVM, and shows a recording of the server or a file.
//
//   no recording ─▶ form ─▶ running ─▶ reading ─▶ result
//                              │  └──▶ failed, with problem and remedy
//                              └─────▶ connection lost, with a button that tries again

import { html, useState } from "../lib/html.js";
import { AgainstChoice } from "../lib/against-choice.js";
import { countOf } from "../lib/call-figures.js";
import { CallsForm } from "../lib/calls-form.js";
import { useProfile } from "../lib/calls-profile-loading.js";
import { CallsResult } from "../lib/calls-result.js";
import { Problem, Waiting } from "../lib/parts.js";
import { RecordingStatus } from "../lib/recording-status.js";
import { RecordingTable } from "../lib/recording-table.js";
import { deleteRecording, pathOf, startRecording } from "../lib/recordings.js";

/** @typedef {import("../lib/recording-label.js").RecordingRow} RecordingRow */
/** @typedef {Record<string, string>} Address */

/** The parts of the address that belong to one recording. */
const NO_RECORDING = { recording: "", against: "", root: "", query: "", method: "", tab: "", measure: "", shape: "" };

/**
 * @typedef {object} CallsViewProps
 * @property {number | null} pid `null` for a file
 * @property {Address} address restores the view: `recording`, `against`, `tab`,
 *   `root`, `query`, `measure`, `method`, and `shape`, the switches of the tree
 * @property {(patch: Record<string, string>) => void} setAddress an empty text removes a part
 */

/** @param {CallsViewProps} props */
export default function CallsView({ pid, address, setAddress }) {
  const id = address.recording ?? "";
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const attempt = async (/** @type {() => Promise<void>} */ action) => {
    setProblem(null);
    try {
      await action();
    } catch (error) {
      setProblem(error);
    }
  };
  const leave = () => setAddress(NO_RECORDING);
  const remove = () =>
    attempt(async () => {
      await deleteRecording(id);
      leave();
    });
  const recordAgain = (/** @type {RecordingRow} */ { pattern = "", wanted, contexts = false }) =>
    attempt(async () => {
      const wish = { kind: "calls", pattern, seconds: wanted, contexts };
      const started = await startRecording(/** @type {number} */ (pid), wish);
      setAddress({ recording: started, against: id });
    });
  return html`
    <section class="calls" aria-label="Calls">
      <h1>Calls</h1>
      ${problem !== null && html`<${Problem} error=${problem} />`}
      ${id === "" &&
      pid !== null &&
      html`<${CallsForm}
        key=${pid}
        pid=${pid}
        onStarted=${(/** @type {string} */ started) => setAddress({ ...NO_RECORDING, recording: started })}
      />`}
      ${id === ""
        ? html`<${RecordingTable} kind="calls" />`
        : html`<${RecordingStatus} key=${id} id=${id} endTitle="Stop now" onDiscard=${remove}>
            ${(/** @type {RecordingRow} */ row) =>
              html`<${Result} row=${row} address=${address} setAddress=${setAddress}>
                ${pid !== null &&
                row.pid === pid &&
                html`<button type="button" onClick=${() => recordAgain(row)}>Record again and compare</button>`}
                ${pid !== null && html`<button type="button" onClick=${leave}>New recording</button>`}
                ${row.pid !== null && html`<button type="button" onClick=${remove}>Delete</button>`}
              <//>`}
          <//>`}
    </section>
  `;
}

/**
 * The result, and what can be done with it.
 * @param {{row: RecordingRow, address: Address, setAddress: (patch: Record<string, string>) => void,
 *   children?: any}} props
 */
function Result({ row, address, setAddress, children }) {
  const { id } = row;
  const against = address.against === id ? "" : (address.against ?? "");
  const profile = useProfile(`${pathOf(id)}/result`);
  const earlier = useProfile(against === "" ? null : `${pathOf(against)}/result`);
  if (profile.error !== null) {
    return html`<${Problem} error=${profile.error} retry=${profile.reload} />`;
  }
  if (profile.data === null) {
    return html`<${Waiting}>Reading the result…<//>`;
  }
  const { methods, contexts } = profile.data;
  return html`
    <div class="calls-bar">
      <span class="calls-summary">
        ${row.file ?? `${row.seconds.toFixed(1)} s`}, ${countOf(methods.length, "method", "methods")},
        ${" "}${countOf(contexts.count, "context", "contexts")}
      </span>
      <${AgainstChoice} kind="calls" id=${id} chosen=${against} setAddress=${setAddress} />
      ${children}
    </div>
    ${against !== "" && html`<${AgainstState} earlier=${earlier} setAddress=${setAddress} />`}
    <${CallsResult} profile=${profile.data} against=${earlier.data} address=${address} setAddress=${setAddress} />
  `;
}

/**
 * @param {{earlier: import("../lib/loaded.js").Loaded<import("../lib/call-profile.js").CallProfile | null>,
 *   setAddress: (patch: Record<string, string>) => void}} props
 */
function AgainstState({ earlier, setAddress }) {
  const { data, error, reload } = earlier;
  const hasNoContexts = data !== null && data.contexts.count === 0;
  return html`
    ${error !== null && html`<${Problem} error=${error} retry=${reload} />`}
    <p class="calls-summary" role="status">
      ${data !== null ? "Compared with another recording." : error === null ? "Reading the other recording …" : ""}
      ${hasNoContexts ? " It has no contexts, so the flame graph and the tree show the first one only." : ""}
      ${" "}<button type="button" onClick=${() => setAddress({ against: "" })}>End the comparison</button>
    </p>
  `;
}
