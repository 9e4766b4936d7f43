// The form that starts a recording of calls.

import { html, useState } from "./html.js";
import { recordingCommand } from "./calls-command.js";
import { Copyable, Problem } from "./parts.js";
import { startRecording } from "./recordings.js";

const MAX_SECONDS = 3600;

/**
 * @param {{pid: number, onStarted: (id: string) => void}} props
 */
export function CallsForm({ pid, onStarted }) {
  const [options, setOptions] = useState({ pattern: "", seconds: 5, contexts: true });
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const [isStarting, setStarting] = useState(false);
  const change = (/** @type {Partial<typeof options>} */ patch) => setOptions({ ...options, ...patch });
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    setStarting(true);
    setProblem(null);
    try {
      const pattern = options.pattern.trim();
      onStarted(await startRecording(pid, { kind: "calls", ...options, pattern }));
    } catch (error) {
      setProblem(error);
    } finally {
      setStarting(false);
    }
  };
  const input = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.currentTarget);
  return html`
    <form class="calls-form" onSubmit=${submit}>
      <p>Counts the calls of the methods that match the pattern. Nothing stays attached afterwards.</p>
      <label class="calls-field">
        Methods
        <input type="text" placeholder="shop..*" autocomplete="off" spellcheck=${false} value=${options.pattern}
          aria-describedby="calls-pattern-help"
          onInput=${(/** @type {Event} */ event) => change({ pattern: input(event).value })} />
      </label>
      <p class="calls-help" id="calls-pattern-help">
        ${"`shop..*` are all classes of the package shop and of the packages below it. Empty: all methods."}
      </p>
      <label class="calls-field">
        Seconds
        <input type="number" min="0.5" max=${MAX_SECONDS} step="any" required value=${options.seconds}
          onInput=${(/** @type {Event} */ event) => change({ seconds: input(event).valueAsNumber })} />
      </label>
      <label class="calls-check">
        <input type="checkbox" checked=${options.contexts}
          onChange=${(/** @type {Event} */ event) => change({ contexts: input(event).checked })} />
        Contexts: calls and wall time of each chain of callers, for the flame graph and the tree
      </label>
      <button type="submit" disabled=${isStarting}>${isStarting ? "Starting …" : "Record"}</button>
      ${problem !== null && html`<${Problem} error=${problem} />`}
      <${Copyable} title="The same in a terminal" text=${recordingCommand(pid, options)} open=${true} />
    </form>
  `;
}
