// An editor for plans, which run in the JVM as long as the tab is open.

import { html, useEffect, useRef, useState } from "../lib/html.js";
import { Problem } from "../lib/parts.js";
import { PlanEditor, PlanProblem } from "../lib/plan-editor.js";
import { planError } from "../lib/plan-error.js";
import { request, sessionOf } from "../lib/server.js";
import { ServerError } from "../lib/server-error.js";

/** @typedef {import("../lib/plan-error.js").PlanError} PlanError */
/**
 * @typedef {{attached: {text: string, is_edit: boolean, classes: number | null, nearest: string[]}[],
 *   printed: string[], error: (PlanError & {is_at_run_time: boolean}) | null}} DryRunResult
 */

/** The most lines of output that are kept. */
const MAX_LINES = 1000;

const EXAMPLE = `let hits = methods("com.shop..*::*(..)").before(counter());
every(1.0, || print(hits.table(10)));
`;

/**
 * What a plan of this tab does: it starts, runs, and prints.
 *
 * @param {number} pid
 */
function usePlanRun(pid) {
  const [lines, setLines] = useState(/** @type {string[]} */ ([]));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [state, setState] = useState(/** @type {"starting" | "running" | null} */ (null));
  const attached = useRef(/** @type {string | null} */ (null));
  const add = (/** @type {string} */ text) =>
    setLines((before) => [...before, ...text.split("\n")].slice(-MAX_LINES));
  const stop = () => {
    if (attached.current !== null) {
      sessionOf(pid).detach(attached.current).catch(setError);
      attached.current = null;
      setState(null);
    }
  };
  useEffect(() => stop, [pid]);
  const run = async (/** @type {string} */ source) => {
    stop();
    setError(null);
    setLines([]);
    setState("starting");
    const ended = (/** @type {unknown} */ reason) => {
      setError(reason);
      setState(null);
    };
    try {
      const answer = await sessionOf(pid).attach({ kind: "plan", source }, { print: add, ended });
      attached.current = answer.attachment;
      setState("running");
      answer.attached.notes.forEach(add);
      if (answer.attached.value !== undefined) {
        add(answer.attached.value);
      }
    } catch (problem) {
      ended(problem);
    }
  };
  return { lines, error, state, run, stop };
}

/** @param {{pid: number, about: {allow_edits: boolean}}} props */
export default function PlanView({ pid, about }) {
  const [source, setSource] = useState(() => sessionStorage.getItem("plan") ?? EXAMPLE);
  const { lines, error: runError, state, run, stop } = usePlanRun(pid);
  const [checked, setChecked] = useState(/** @type {DryRunResult | null} */ (null));
  const [checkError, setCheckError] = useState(/** @type {unknown} */ (null));
  // An error belongs to the text that was sent. Its mark is removed when the text changes.
  const [sent, setSent] = useState(/** @type {string | null} */ (null));
  const edit = (/** @type {string} */ next) => {
    setSource(next);
    sessionStorage.setItem("plan", next);
  };
  const start = () => {
    if (about.allow_edits) {
      setSent(source);
      setChecked(null);
      setCheckError(null);
      run(source);
    }
  };
  const check = async () => {
    setSent(source);
    setCheckError(null);
    try {
      setChecked(await request("POST", `api/1/jvms/${pid}/dry-run`, { source }));
    } catch (problem) {
      setChecked(null);
      setCheckError(problem);
    }
  };
  const placed = checked?.error ?? placedError(runError);
  const shown = sent === source ? placed : null;
  return html`<h1>Plan</h1>
    ${!about.allow_edits &&
    html`<div class="panel warning">
      Plans can change what the program does, so this server only checks them. To run one, start
      <code> veneer serve --allow-edits</code>, or run the plan with <code>veneer exec ${pid} F</code>.
    </div>`}
    <div class="panel">
      <label for="plan-source" class="soft">The text of the plan</label>
      <${PlanEditor} pid=${pid} source=${source} onSource=${edit} error=${shown} onRun=${start} />
      <div class="row">
        <button class="main" disabled=${!about.allow_edits} onClick=${start}>Run</button>
        <button onClick=${check}>Check without running</button>
        <button disabled=${state === null} onClick=${stop}>Stop and detach</button>
        <span class="soft" role="status">${state ?? ""}</span>
        <span class="soft" id="plan-source-keys">Ctrl+Space completes, Ctrl+Enter runs</span>
      </div>
    </div>
    ${placed !== null && html`<${PlanProblem} error=${placed} source=${sent ?? ""} />`}
    ${placed === null && runError !== null && html`<${Problem} error=${runError} />`}
    ${checkError !== null && html`<${Problem} error=${checkError} />`}
    ${checked !== null && html`<${DryRun} result=${checked} />`}
    ${lines.length > 0 && html`<pre tabindex="0" aria-label="Output of the plan">${lines.join("\n")}</pre>`}`;
}

/**
 * The error of a plan that ran, if it has a place.
 *
 * @param {unknown} error
 * @returns {PlanError | null}
 */
function placedError(error) {
  return error instanceof ServerError ? planError(error.message) : null;
}

/** @param {{result: DryRunResult}} props */
function DryRun({ result: { attached, printed, error } }) {
  return html`<section class="panel" aria-label="Dry run">
    <h2>What the plan would attach</h2>
    ${error?.is_at_run_time &&
    html`<p class="soft">The plan stopped at the error. In a dry run, all measured data are empty.</p>`}
    ${attached.length === 0
      ? html`<p class="empty">Nothing.</p>`
      : html`<div class="scroll">
          <table>
            <thead>
              <tr><th scope="col">instrument or edit</th><th scope="col" class="number">loaded classes</th></tr>
            </thead>
            <tbody>
              ${attached.map(
                ({ text, is_edit, classes, nearest }, at) => html`<tr key=${at}>
                  <td class="mono">
                    ${text} ${is_edit && html`<span class="badge bad">edit</span>`}
                    ${nearest.length > 0 && html`<div>Did you mean ${nearest.join(" or ")}?</div>`}
                  </td>
                  <td class="number">${classes ?? "not known"}</td>
                </tr>`,
              )}
            </tbody>
          </table>
        </div>`}
    ${printed.length > 0 && html`<pre tabindex="0" aria-label="Output of the dry run">${printed.join("\n")}</pre>`}
    <p class="soft">Nothing was attached.</p>
  </section>`;
}
