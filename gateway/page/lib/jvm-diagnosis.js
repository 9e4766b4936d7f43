// What would work with a JVM and what not, with the reasons: the answers of `veneer doctor PID`.

import { html } from "./html.js";
import { useLoaded } from "./loaded.js";
import { Copyable, Problem, Waiting } from "./parts.js";
import { request } from "./server.js";

/**
 * @typedef {{of_machine: boolean, what: string, state: "good" | "note" | "bad", found: string, remedy: string}} Finding
 */

/** The word and the class of a badge for each state. */
const STATES = {
  good: { word: "works", badge: "good" },
  note: { word: "note", badge: "" },
  bad: { word: "does not work", badge: "bad" },
};

/** @param {{pid: number}} props */
export function JvmDiagnosis({ pid }) {
  const { data, error, reload } = useLoaded(() => request("GET", `api/1/jvms/${pid}/doctor`), [pid]);
  if (error !== null) {
    return html`<${Problem} error=${error} retry=${reload} />`;
  }
  if (data === null) {
    return html`<${Waiting}>Checking…<//>`;
  }
  const all = /** @type {Finding[]} */ (data.findings);
  const bad = all.filter(({ state }) => state === "bad").length;
  return html`<section aria-label=${`What works with process ${pid}`}>
    <p>
      ${bad === 0 ? "Everything that Veneer needs works." : `${bad} of ${all.length} checks failed.`}
      ${" "}<button class="small" onClick=${reload}>Check again</button>
    </p>
    <${Findings} title="This JVM" all=${all.filter((one) => !one.of_machine)} />
    <${Findings} title="This machine" all=${all.filter((one) => one.of_machine)} />
    <${Copyable} title="The same in a terminal" text=${`veneer doctor ${pid}`} />
  </section>`;
}

/** @param {{title: string, all: Finding[]}} props */
function Findings({ title, all }) {
  return html`<table>
    <caption class="left">${title}</caption>
    <tbody>
      ${all.map(({ what, state, found, remedy }, n) => {
        const { word, badge } = STATES[state] ?? STATES.note;
        return html`<tr key=${n}>
          <td><span class=${`badge ${badge}`}>${word}</span></td>
          <th scope="row">${what}</th>
          <td>
            ${found}
            ${remedy !== "" && html`<div class="soft">→ ${remedy}</div>`}
          </td>
        </tr>`;
      })}
    </tbody>
  </table>`;
}
