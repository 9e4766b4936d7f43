// Event traces: record one or open one, see what each thread did, ask for its calls, compare it.

import { html, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { AgainstChoice } from "../lib/against-choice.js";
import { durationText } from "../lib/call-figures.js";
import { useLoaded } from "../lib/loaded.js";
import { Problem, Waiting } from "../lib/parts.js";
import { RecordingStatus } from "../lib/recording-status.js";
import { RecordingTable } from "../lib/recording-table.js";
import { request } from "../lib/server.js";
import { TimelinePicture } from "../lib/timeline-picture.js";
import { TraceComparison } from "../lib/trace-comparison.js";

/** The columns that the server is asked for. */
const COLUMNS = 1600;
/** How long the server is not asked again while the user zooms, in milliseconds. */
const REQUEST_DELAY = 60;
/** The columns of a query whose values are nanoseconds. */
const TIME_COLUMN = /^(start|end|wall|cpu|self|self_cpu|corrected|corrected_self|unexplained|(sum|avg|min|max|p\d+)\((wall|cpu|self|self_cpu|corrected|corrected_self|unexplained)\))$/;

/**
 * @typedef {import("../lib/time-scale.js").Interval} Interval
 * @typedef {import("../lib/recording-label.js").RecordingRow} RecordingRow
 * @typedef {Record<string, string>} Address
 * @param {{pid: number | null, address: Address, setAddress: (patch: Address) => void,
 *   about: {first_query: string}}} props `pid` is `null` for a file
 */
export default function TraceView({ pid, address, setAddress, about }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const id = address.recording ?? "";
  const start = async (/** @type {{pattern: string, seconds: number}} */ wish) => {
    setError(null);
    try {
      const path = `api/1/jvms/${pid}/recordings`;
      const recording = await request("POST", path, { kind: "trace", ...wish });
      setAddress({ recording: recording.id, from: "", to: "", against: "" });
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<h1>Trace</h1>
    ${pid !== null && html`<${Start} start=${start} />`}
    ${error !== null && html`<${Problem} error=${error} />`}
    ${id === ""
      ? html`<p class="empty">
            A trace has every call of the chosen methods, thread by thread, with waits for monitors and
            collections. Choose few methods: a call takes 8 to 16 bytes and some tens of nanoseconds.
          </p>
          <${RecordingTable} kind="trace" />`
      : html`<${RecordingStatus} key=${id} id=${id} endTitle="Stop now">
          ${(/** @type {RecordingRow} */ row) =>
            html`<${Trace}
              row=${row}
              firstQuery=${about.first_query}
              address=${address}
              setAddress=${setAddress}
            />`}
        <//>`}`;
}

/** @param {{start: (wish: {pattern: string, seconds: number}) => void}} props */
function Start({ start }) {
  const [pattern, setPattern] = useState("");
  const [seconds, setSeconds] = useState("3");
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    start({ pattern, seconds: Number(seconds) });
  };
  return html`<form class="row panel" onSubmit=${submit}>
    <label
      >Methods
      <input
        required
        placeholder="com.shop..*"
        value=${pattern}
        onInput=${(/** @type {any} */ event) => setPattern(event.target.value)}
    /></label>
    <label
      >for
      <input
        type="number"
        min="1"
        max="3600"
        required
        value=${seconds}
        onInput=${(/** @type {any} */ event) => setSeconds(event.target.value)}
      />
      seconds</label
    >
    <button class="main">Record</button>
  </form>`;
}

/**
 * @param {{row: RecordingRow, firstQuery: string, address: Address, setAddress: (patch: Address) => void}} props
 */
function Trace({ row, firstQuery, address, setAddress }) {
  const { id } = row;
  const against = address.against === id ? "" : (address.against ?? "");
  const list = useLoaded(() => request("GET", `api/1/recordings/${id}/threads`), [id]);
  const [wanted, setWanted] = useState(/** @type {Interval | null} */ (null));
  if (list.error !== null) {
    return html`<${Problem} error=${list.error} retry=${list.reload} />`;
  }
  if (list.data === null) {
    return html`<${Waiting}>Reading the trace…<//>`;
  }
  const { threads, notes } = list.data;
  const showTime = (/** @type {number} */ time, /** @type {number} */ length) => {
    setWanted({ from: time, to: time + length });
    document.querySelector(".timeline")?.scrollIntoView({ block: "nearest" });
  };
  return html`<div class="row">
      ${row.file !== undefined && html`<strong class="mono">${row.file}</strong>`}
      <${AgainstChoice} kind="trace" id=${id} chosen=${against} setAddress=${setAddress} />
    </div>
    ${notes.map((/** @type {string} */ note) => html`<div key=${note} class="panel warning">${note}</div>`)}
    ${threads.length === 0
      ? html`<p class="empty">No call of these methods was recorded.</p>`
      : html`<${Timeline}
            id=${id}
            threads=${threads}
            wanted=${wanted}
            address=${address}
            setAddress=${setAddress}
          />
          ${against === ""
            ? html`<${QueryPanel} id=${id} firstQuery=${firstQuery} />`
            : html`<${TraceComparison}
                key=${against}
                id=${id}
                against=${against}
                address=${address}
                setAddress=${setAddress}
                onTime=${showTime}
              />`}`}`;
}

/**
 * @param {{id: string, threads: any[], wanted: Interval | null, address: Address,
 *   setAddress: (patch: Address) => void}} props `wanted` is an interval to show now
 */
function Timeline({ id, threads, wanted, address, setAddress }) {
  const whole = useMemo(
    () => ({
      from: Math.min(...threads.map((thread) => thread.from)),
      to: Math.max(...threads.map((thread) => thread.to)) + 1,
    }),
    [threads],
  );
  const [view, setView] = useState(() => restored(address, whole));
  useEffect(() => {
    if (wanted !== null) {
      const length = Math.min(wanted.to - wanted.from, whole.to - whole.from);
      const from = Math.min(Math.max(wanted.from, whole.from), whole.to - length);
      setView({ from, to: from + length });
    }
  }, [wanted]);
  const [picture, setPicture] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const keep = useRef(setAddress);
  keep.current = setAddress;
  useEffect(() => {
    let isLeft = false;
    const timer = setTimeout(async () => {
      const from = Math.floor(view.from);
      const to = Math.max(Math.ceil(view.to), from + 1);
      const query = `from=${from}&to=${to}&columns=${COLUMNS}`;
      try {
        const next = await request("GET", `api/1/recordings/${id}/timeline?${query}`);
        if (!isLeft) {
          setPicture(next);
          setError(null);
          keep.current({ from: String(from), to: String(to) });
        }
      } catch (problem) {
        isLeft || setError(problem);
      }
    }, REQUEST_DELAY);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [id, view]);
  const shown = useMemo(() => [...threads].sort((a, b) => b.nodes - a.nodes), [threads]);
  return html`${error !== null && html`<${Problem} error=${error} />`}
    <${TimelinePicture}
      threads=${shown}
      picture=${picture}
      view=${view}
      whole=${whole}
      onView=${setView}
    />`;
}

/**
 * The interval of an address, if it is one of this trace.
 *
 * @param {Record<string, string>} address
 * @param {Interval} whole
 * @returns {Interval}
 */
function restored(address, whole) {
  const [from, to] = [Number(address.from), Number(address.to)];
  const isInside = from >= whole.from && to > from && to <= whole.to + 1;
  return address.from !== undefined && address.from !== "" && isInside ? { from, to } : whole;
}

/** @param {{id: string, firstQuery: string}} props */
function QueryPanel({ id, firstQuery }) {
  const [text, setText] = useState(firstQuery);
  const [asked, setAsked] = useState(firstQuery);
  const answer = useLoaded(
    () => request("POST", `api/1/recordings/${id}/query`, { text: asked }),
    [id, asked],
  );
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    setAsked(text);
  };
  return html`<section class="panel" aria-label="Query">
    <h2>Calls</h2>
    <form class="row" onSubmit=${submit}>
      <label class="query-label"
        >Query
        <input
          class="mono query"
          value=${text}
          onInput=${(/** @type {any} */ event) => setText(event.target.value)}
      /></label>
      <button>Ask</button>
    </form>
    ${answer.error !== null && html`<${Problem} error=${answer.error} />`}
    ${answer.isLoading && html`<${Waiting}>Reading the trace…<//>`}
    ${answer.data !== null && html`<${Rows} rows=${answer.data.rows} leftOut=${answer.data.left_out} />`}
  </section>`;
}

/** @param {{rows: Record<string, unknown>[], leftOut: number}} props */
function Rows({ rows, leftOut }) {
  const [first] = rows;
  if (first === undefined) {
    return html`<p class="empty">No call is selected.</p>`;
  }
  const columns = Object.keys(first);
  const isNumber = (/** @type {string} */ name) => typeof first[name] === "number";
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${columns.map(
            (name) => html`<th key=${name} scope="col" class=${isNumber(name) ? "number" : ""}>${name}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row, n) =>
            html`<tr key=${n}>
              ${columns.map(
                (name) =>
                  html`<td key=${name} class=${isNumber(name) ? "number" : "mono"}>
                    ${cell(name, row[name])}
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
    ${leftOut > 0 && html`<p class="soft">${leftOut} more rows: add .top(n) or a filter.</p>`}
  </div>`;
}

/**
 * @param {string} column
 * @param {unknown} value
 */
function cell(column, value) {
  if (typeof value !== "number") {
    return value === null || value === undefined ? "" : String(value);
  }
  return TIME_COLUMN.test(column) ? durationText(value) : value.toLocaleString("en");
}
