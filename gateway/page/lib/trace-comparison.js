// Two traces of the same program: the first point at which each thread differs, the methods, and the
// difference of their trees.

import { html, useState } from "./html.js";
import { durationText } from "./call-figures.js";
import { useProfile } from "./calls-profile-loading.js";
import { CallsResult } from "./calls-result.js";
import { useLoaded } from "./loaded.js";
import { errorText, ratioText } from "./method-comparison.js";
import { Copyable, Problem, Waiting } from "./parts.js";
import { pathOf } from "./recordings.js";
import { request } from "./server.js";

/** @typedef {import("./method-comparison.js").MethodRow} MethodRow */
/** @typedef {{thread: number, event: string, at: number}} Side */
/** @typedef {{name: string, entries: number, path: string[], a: Side | null, b: Side | null}} ThreadDifference */
/** @typedef {Record<string, string>} Address */

/** The rows that are shown first. */
const FIRST_ROWS = 30;
/** The part of a trace before a difference that is shown with it, in nanoseconds. */
const BEFORE = 1e6;

/**
 * @param {{id: string, against: string, address: Address, setAddress: (patch: Address) => void,
 *   onTime: (time: number, length: number) => void}} props
 */
export function TraceComparison({ id, against, address, setAddress, onTime }) {
  const path = `${pathOf(id)}/difference?against=${encodeURIComponent(against)}`;
  const { data, error, reload } = useLoaded(() => request("GET", path), [path]);
  if (error !== null) {
    return html`<${Problem} error=${error} retry=${reload} />`;
  }
  if (data === null) {
    return html`<${Waiting}>Comparing the traces…<//>`;
  }
  const { threads, methods } = data;
  return html`<section class="panel" aria-label="First differences">
      <h2>Where the threads first differ</h2>
      <p class="soft">A is the trace that is compared with, B the one above. Only the order of calls counts, not their times.</p>
      ${threads.length === 0 && html`<p>Both traces have the same calls in the same order.</p>`}
      ${threads.map(
        (/** @type {ThreadDifference} */ one, /** @type {number} */ n) =>
          html`<${FirstDifference} key=${n} one=${one} onTime=${onTime} />`,
      )}
      ${data.threads_left_out > 0 && html`<p class="soft">${data.threads_left_out} more threads differ.</p>`}
    </section>
    <section class="panel" aria-label="Methods of both traces">
      <h2>Methods</h2>
      <${MethodTable} rows=${methods} leftOut=${data.methods_left_out} />
    </section>
    <${TreeComparison} id=${id} against=${against} address=${address} setAddress=${setAddress} />
    <p>
      <button onClick=${() => setAddress({ against: "", tab: "", root: "", query: "", shape: "", measure: "" })}>
        End the comparison
      </button>
    </p>`;
}

/** @param {{one: ThreadDifference, onTime: (time: number, length: number) => void}} props */
function FirstDifference({ one: { name, entries, path, a, b }, onTime }) {
  const side = (/** @type {Side | null} */ one) =>
    one === null ? "has no such thread" : `${one.event} at ${durationText(one.at)}`;
  return html`<div class="first-difference">
    <h3><bdi>${name}</bdi> <span class="soft">after ${entries.toLocaleString("en")} equal entries</span></h3>
    ${path.length > 0 && html`<div class="mono soft">in ${path.join(" › ")}</div>`}
    <div class="mono">A ${side(a)}</div>
    <div class="mono">
      B ${side(b)}
      ${b !== null &&
      html` <button class="small" onClick=${() => onTime(Math.max(0, b.at - BEFORE), 2 * BEFORE)}>Show in B</button>`}
    </div>
  </div>`;
}

/** @param {{rows: MethodRow[], leftOut: number}} props */
function MethodTable({ rows, leftOut }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? rows : rows.slice(0, FIRST_ROWS);
  return html`<div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Method</th>
            <th class="number" scope="col">Calls A</th>
            <th class="number" scope="col">Calls B</th>
            <th class="number" scope="col">Total A</th>
            <th class="number" scope="col">Total B</th>
            <th class="number" scope="col">A call, B/A</th>
            <th class="number" scope="col">Error</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            ({ method, calls, wall, ratio, error }) => html`<tr key=${method}>
              <td class="mono">${method}</td>
              <td class="number">${calls[0].toLocaleString("en")}</td>
              <td class="number">${calls[1].toLocaleString("en")}</td>
              <td class="number">${durationText(wall[0])}</td>
              <td class="number">${durationText(wall[1])}</td>
              <td class="number">${ratioText(ratio)}</td>
              <td class="number">${errorText(error)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${rows.length > shown.length &&
    html`<button onClick=${() => setWhole(true)}>All ${rows.length} methods</button>`}
    ${leftOut > 0 && html`<p class="soft">${leftOut} methods with smaller differences are left out.</p>`}
    <p class="soft">
      A method is compared if it has 30 calls in each trace. Error is the probability of such a ratio without a
      cause; ★ marks those below 5 %.
    </p>`;
}

/** @param {{id: string, against: string, address: Address, setAddress: (patch: Address) => void}} props */
function TreeComparison({ id, against, address, setAddress }) {
  const after = useProfile(`${pathOf(id)}/contexts`);
  const before = useProfile(`${pathOf(against)}/contexts`);
  const error = after.error ?? before.error;
  if (error !== null) {
    return html`<${Problem} error=${error} retry=${() => (after.reload(), before.reload())} />`;
  }
  if (after.data === null || before.data === null) {
    return html`<${Waiting}>Reading the trees…<//>`;
  }
  return html`<section class="panel calls" aria-label="Trees of both traces">
    <h2>Trees</h2>
    <${CallsResult}
      profile=${after.data}
      against=${before.data}
      address=${address}
      setAddress=${setAddress}
      isTreeOnly=${true}
    />
    <${Copyable} title="How to read it" text=${HOW_TO_READ} />
  </section>`;
}

const HOW_TO_READ = `Each call stands below its caller, in both traces at the same place.
Its width is the mean of its times in A and B; its colour is the change.
The tab Tree has the same figures as a table: before is A, after is B.`;
