// What can be done with the selected block or edge, and what is attached there.

import { html, useEffect, useRef, useState } from "./html.js";
import { ProbeResults } from "./probe-results.js";
import { Copyable, Problem } from "./parts.js";
import { describeSelection } from "./selection.js";
import { sessionOf } from "./server.js";

/** The most variables of a watch, which the server accepts. */
const MAX_VARIABLES = 8;

/**
 * @typedef {import("./selection.js").Selection} Selection
 * @typedef {object} Probe An instrument that this view has attached.
 * @property {string} attachment
 * @property {string} title
 * @property {string} kind
 * @property {string[]} variables
 * @property {string} plan
 * @property {any} update The last update.
 * @property {any} table The last rows of its table.
 * @property {string | null} ended
 */

/**
 * @param {{pid: number, pattern: string, graph: any, selected: Selection, allowEdits: boolean}} props
 */
export function ProbePanel({ pid, pattern, graph, selected, allowEdits }) {
  const { probes, attach, detach, error } = useProbes(pid, pattern);
  return html`<aside aria-label="Instruments">
    <section class="panel">
      <h2>${describeSelection(selected)}</h2>
      <${Choices} graph=${graph} selected=${selected} attach=${attach} />
      ${allowEdits && html`<${Edits} graph=${graph} selected=${selected} attach=${attach} />`}
      ${error !== null && html`<${Problem} error=${error} />`}
    </section>
    <section class="panel" aria-live="off">
      <h2>Attached here</h2>
      ${probes.length === 0 &&
      html`<p class="empty">
        Only the counters of the picture. Select a block or an edge, and attach an instrument.
      </p>`}
      ${probes.map(
        (probe) => html`<div key=${probe.attachment} class="probe">
          <div class="row">
            <strong>${probe.title}</strong>
            <button
              class="small"
              aria-label=${`Detach ${probe.title}`}
              onClick=${() => detach(probe.attachment)}
            >
              Detach
            </button>
          </div>
          ${probe.ended !== null && html`<div class="soft">ended: ${probe.ended}</div>`}
          <${ProbeResults} probe=${probe} />
          <${Copyable} title="The same as a plan" text=${probe.plan} />
        </div>`,
      )}
    </section>
  </aside>`;
}

/**
 * The instruments that this view has attached. They are detached with the view.
 *
 * @param {number} pid
 * @param {string} pattern
 */
function useProbes(pid, pattern) {
  const [probes, setProbes] = useState(/** @type {Probe[]} */ ([]));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const mine = useRef(/** @type {Set<string>} */ (new Set()));
  useEffect(
    () => () => {
      mine.current.forEach((id) => sessionOf(pid).detach(id).catch(() => {}));
      mine.current.clear();
      setProbes([]);
    },
    [pid, pattern],
  );
  const change = (/** @type {string} */ id, /** @type {Partial<Probe>} */ patch) =>
    setProbes((all) => all.map((one) => (one.attachment === id ? { ...one, ...patch } : one)));
  const attach = async (/** @type {any} */ wish, /** @type {string} */ title) => {
    setError(null);
    /** @type {string | null} */
    let id = null;
    /** @type {Partial<Probe>} */
    const early = {};
    const put = (/** @type {Partial<Probe>} */ patch) =>
      id === null ? Object.assign(early, patch) : change(id, patch);
    try {
      const answer = await sessionOf(pid).attach(
        { pattern, ...wish },
        {
          update: (update) => put({ update }),
          print: (line) => put({ table: tableOf(line) }),
          ended: (reason) => put({ ended: reason }),
        },
      );
      id = answer.attachment;
      mine.current.add(id);
      const { kind, variables = [] } = wish;
      const probe = { attachment: id, title, kind, variables, plan: answer.plan };
      setProbes((all) => [
        { ...probe, update: null, table: null, ended: null, ...early },
        ...all,
      ]);
    } catch (problem) {
      setError(problem);
    }
  };
  const detach = (/** @type {string} */ id) => {
    mine.current.delete(id);
    setProbes((all) => all.filter((one) => one.attachment !== id));
    sessionOf(pid).detach(id).catch(setError);
  };
  return { probes, attach, detach, error };
}

/** The rows that a plan of the server printed. @param {string} line */
function tableOf(line) {
  try {
    return JSON.parse(line);
  } catch {
    // A warning of the agent is no table.
    return null;
  }
}

/**
 * @typedef {(wish: any, title: string) => void} Attach
 * @param {{graph: any, selected: Selection, attach: Attach}} props
 */
function Choices({ graph, selected, attach }) {
  const at = pointOf(selected);
  const where = describeSelection(selected);
  // The variables of the whole method are those at its beginning.
  const block = selected === null ? (graph.blocks[0] ?? null) : blockOf(graph, selected);
  const [chosen, setChosen] = useState(/** @type {string[]} */ ([]));
  useEffect(() => setChosen([]), [where]);
  if (block !== null && !block.reachable) {
    return html`<p class="soft">No path leads to this block, so it can take no instrument.</p>`;
  }
  const toggle = (/** @type {string} */ name) =>
    setChosen((all) => (all.includes(name) ? all.filter((one) => one !== name) : [...all, name]));
  const names = (block?.variables ?? []).map((/** @type {any} */ variable) => variable.name);
  const watched = (chosen.length > 0 ? chosen : names).slice(0, MAX_VARIABLES);
  const watch = () =>
    attach({ kind: "watch", ...at, variables: watched }, `Watch ${watched.join(", ")}, ${where}`);
  return html`<div class="row">
      <button onClick=${() => attach({ kind: "counter", ...at }, `Counter, ${where}`)}>Counter</button>
      <button onClick=${() => attach({ kind: "timer", ...at }, `Timer, ${where}`)}>Timer</button>
    </div>
    ${block !== null &&
    html`<h3>Variables at its beginning</h3>
      ${block.variables.length === 0 && html`<p class="soft">None.</p>`}
      <ul class="tree">
        ${block.variables.map(
          (/** @type {any} */ variable) => html`<li key=${variable.name}>
            <label
              ><input
                type="checkbox"
                checked=${chosen.includes(variable.name)}
                onChange=${() => toggle(variable.name)}
              />
              <span class="mono">${variable.name}</span>
              <span class="soft">${variable.type}</span></label
            >
          </li>`,
        )}
      </ul>
      <div class="row">
        <button disabled=${watched.length === 0} onClick=${watch}>
          ${chosen.length > 0 ? "Watch" : "Watch all"}
        </button>
        <button
          disabled=${chosen.length !== 1}
          onClick=${() =>
            attach(
              { kind: "histogram", ...at, variables: chosen },
              `Histogram of ${chosen.join("")}, ${where}`,
            )}
        >
          Histogram
        </button>
      </div>`}`;
}

/** @param {{graph: any, selected: Selection, attach: Attach}} props */
function Edits({ graph, selected, attach }) {
  const [target, setTarget] = useState("");
  if (selected === null) {
    return null;
  }
  const where = describeSelection(selected);
  if ("block" in selected) {
    const { block } = selected;
    return html`<h3>Edits</h3>
      <button onClick=${() => attach({ kind: "skip", block }, `Skip ${where}`)}>Skip this block</button>`;
  }
  const { edge } = selected;
  return html`<h3>Edits</h3>
    <div class="row">
      <label
        >Lead it to block
        <select
          value=${target}
          onChange=${(/** @type {any} */ event) => setTarget(event.target.value)}
        >
          <option value="">…</option>
          ${graph.blocks.map(
            (/** @type {any} */ block) =>
              html`<option key=${block.number} value=${block.number}>${block.number}</option>`,
          )}
        </select></label
      >
      <button
        disabled=${target === ""}
        onClick=${() =>
          attach(
            { kind: "redirect", edge, target: Number(target) },
            `Lead ${where} to block ${target}`,
          )}
      >
        Redirect
      </button>
    </div>`;
}

/** @param {Selection} selected */
function pointOf(selected) {
  if (selected === null) {
    return {};
  }
  return "block" in selected ? { block: selected.block } : { edge: selected.edge };
}

/**
 * @param {any} graph
 * @param {Selection} selected
 */
function blockOf(graph, selected) {
  if (selected === null || !("block" in selected)) {
    return null;
  }
  const { block } = selected;
  return graph.blocks.find((/** @type {any} */ one) => one.number === block) ?? null;
}
