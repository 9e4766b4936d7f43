// A method: its flow graph with live counts, and the instruments of its blocks and edges.
//
// Opening the view attaches a counter to each block and edge; leaving it detaches them.

import { html, useCallback, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { addUpdate, noCounts } from "../lib/counts.js";
import { FlowPicture } from "../lib/flow-picture.js";
import { FlowTable } from "../lib/flow-table.js";
import { Copyable, Problem, Waiting } from "../lib/parts.js";
import { ProbePanel } from "../lib/probe-panel.js";
import { SourceText } from "../lib/source-text.js";
import { formatSelection, parseSelection } from "../lib/selection.js";
import { sessionOf } from "../lib/server.js";

/**
 * @typedef {import("../lib/counts.js").Counts} Counts
 * @typedef {import("../lib/selection.js").Selection} Selection
 */

/**
 * Attaches counters to all blocks and edges of a method while the view is shown.
 *
 * @param {number} pid
 * @param {string} pattern
 */
function useFlow(pid, pattern) {
  const [flow, setFlow] = useState(/** @type {any} */ (null));
  const [counts, setCounts] = useState(/** @type {Counts} */ (noCounts()));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const session = sessionOf(pid);
    let isLeft = false;
    /** @type {any} */
    let attached = null;
    setFlow(null);
    setCounts(noCounts());
    setError(null);
    const update = (/** @type {import("../lib/counts.js").Update} */ next) => {
      const graph = attached?.attached.graphs?.[0];
      if (graph !== undefined) {
        const { instruments } = attached.attached;
        setCounts((before) => addUpdate(before, next, instruments, graph));
      }
    };
    /** @type {any[]} */
    const early = [];
    session
      .attach(
        { kind: "graph", pattern },
        {
          update: (next) => (attached === null ? early.push(next) : update(next)),
          ended: setError,
        },
      )
      .then(
        (answer) => {
          if (isLeft) {
            session.detach(answer.attachment).catch(() => {});
            return;
          }
          attached = answer;
          setFlow(answer);
          early.forEach(update);
        },
        (problem) => isLeft || setError(problem),
      );
    return () => {
      isLeft = true;
      if (attached !== null) {
        session.detach(attached.attachment).catch(() => {});
      }
    };
  }, [pid, pattern, attempt]);
  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  return { flow, counts, error, retry };
}

/**
 * @param {{pid: number, address: Record<string, string>, setAddress: (patch: Record<string, string>) => void,
 *   about: {allow_edits: boolean}}} props
 */
export default function MethodView({ pid, address, setAddress, about }) {
  const pattern = address.pattern ?? "";
  const { flow, counts, error, retry } = useFlow(pid, pattern);
  const selected = useMemo(() => parseSelection(address.select ?? ""), [address.select]);
  const setAddressNow = useRef(setAddress);
  setAddressNow.current = setAddress;
  const select = useCallback(
    (/** @type {Selection} */ next) => setAddressNow.current({ select: formatSelection(next) }),
    [],
  );
  if (pattern === "") {
    return html`<p class="empty">Choose a method in the view Code.</p>`;
  }
  const graph = flow?.attached.graphs?.[0];
  return html`<h1 class="mono">${pattern}</h1>
    ${error !== null && html`<${Problem} error=${error} retry=${retry} />`}
    ${flow === null && error === null &&
    html`<${Waiting}>Attaching a counter to each block and edge…<//>`}
    ${flow !== null && graph === undefined &&
    html`<p class="empty">No armed method matches: see the reasons in the view Code.</p>`}
    ${graph !== undefined &&
    html`<${Notes} notes=${flow.attached.notes} />
      <div class="method-parts">
        <div>
          <div class="method-picture">
            <${FlowPicture} graph=${graph} counts=${counts} selected=${selected} onSelect=${select} />
          </div>
          <details open>
            <summary>Source</summary>
            <${SourceText} pid=${pid} pattern=${pattern} counts=${counts} selected=${selected} onSelect=${select} />
          </details>
          <details>
            <summary>The same as a table</summary>
            <${FlowTable} graph=${graph} counts=${counts} selected=${selected} onSelect=${select} />
          </details>
          <${Copyable} title="The same as a plan" text=${flow.plan} />
        </div>
        <${ProbePanel}
          pid=${pid}
          pattern=${pattern}
          graph=${graph}
          selected=${selected}
          allowEdits=${about.allow_edits}
        />
      </div>`}`;
}

/** @param {{notes: string[]}} props */
function Notes({ notes }) {
  return notes.length === 0
    ? null
    : html`<div class="panel warning">${notes.map((note) => html`<div key=${note}>${note}</div>`)}</div>`;
}
