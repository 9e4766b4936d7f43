// The bottleneck search: start it, watch it, read what it found.

import { html, useEffect, useState } from "../lib/html.js";
import { formatAddress } from "../lib/address.js";
import { placeOf, sortedFindings } from "../lib/finding.js";
import { useLoaded } from "../lib/loaded.js";
import { Problem, Waiting } from "../lib/parts.js";
import { RecordingStatus } from "../lib/recording-status.js";
import { SearchPicture } from "../lib/search-picture.js";
import { request } from "../lib/server.js";
import { shareText } from "../lib/share.js";

/**
 * @param {{pid: number | null, address: Record<string, string>, setAddress: (patch: Record<string, string>) => void}} props
 */
export default function BottlenecksView({ pid, address, setAddress }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const id = address.recording ?? "";
  const start = async (/** @type {number} */ seconds) => {
    setError(null);
    try {
      const wish = { kind: "search", seconds };
      const recording = await request("POST", `api/1/jvms/${pid}/recordings`, wish);
      setAddress({ recording: recording.id });
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<h1>Bottlenecks</h1>
    ${pid !== null && html`<${Start} start=${start} />`}
    ${error !== null && html`<${Problem} error=${error} />`}
    ${id === ""
      ? html`<p class="empty">
          A search finds where the threads of the program spend their time, and why. It samples stacks
          and costs next to nothing.
        </p>`
      : html`<${RecordingStatus}
          key=${id}
          id=${id}
          endTitle="Stop, and show what is known"
          live=${(/** @type {any} */ { state }) =>
            pid !== null &&
            state !== "failed" &&
            html`<${SearchPicture} pid=${pid} id=${id} isRunning=${state === "running"} />`}
        >
          <${Outcome} pid=${pid} id=${id} />
        <//>`}`;
}

/** @param {{start: (seconds: number) => void}} props */
function Start({ start }) {
  const [seconds, setSeconds] = useState("10");
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    start(Number(seconds));
  };
  return html`<form class="row panel" onSubmit=${submit}>
    <label
      >Search for
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
    <button class="main">Search</button>
  </form>`;
}

/** @param {{pid: number | null, id: string}} props `pid` is `null` for a file */
function Outcome({ pid, id }) {
  const { data, error, reload } = useLoaded(
    () => request("GET", `api/1/recordings/${id}/result`),
    [id],
  );
  const [threshold, setThreshold] = useState(0);
  useEffect(() => setThreshold(data?.threshold ?? 0), [data]);
  if (error !== null) {
    return html`<${Problem} error=${error} retry=${reload} />`;
  }
  if (data === null) {
    return html`<${Waiting}>Reading the result…<//>`;
  }
  const findings = sortedFindings(data.findings);
  return html`<section class="panel told" aria-label="In words">
      ${(data.sentences ?? []).map(
        (/** @type {string} */ line, /** @type {number} */ n) =>
          html`<p key=${n} class=${line.startsWith(" ") ? "soft" : ""}>${line.trim()}</p>`,
      )}
    </section>
    <section aria-label="Findings">
      <h2>${findings.length === 0 ? "Nothing found" : "Found"}</h2>
      ${findings.length === 0 &&
      html`<p class="empty">
        No place takes more than ${shareText(threshold)} of the active time${data.ended ? `: ${data.ended}` : "."}
      </p>`}
      ${findings.map((finding, n) => html`<${Found} key=${n} pid=${pid} finding=${finding} />`)}
    </section>
    <${RuledOut} rows=${data.ruled_out ?? []} />
    <p class="soft">
      ${data.seconds?.toFixed(1)} seconds, cost ${shareText(data.cost?.share ?? 0)} of processor time,
      ceiling ${shareText(data.cost?.ceiling ?? 0)}.
    </p>`;
}

/** @param {{pid: number | null, finding: import("../lib/finding.js").Finding}} props */
function Found({ pid, finding }) {
  const place = placeOf(finding);
  const parts = { pattern: `${place.class}::${place.method}(..)` };
  return html`<article class="panel">
    <h3>
      ${shareText(finding.share)}
      <span class="soft"> (${shareText(finding.low)} to ${shareText(finding.high)})</span> ${" "}
      ${finding.why.replaceAll("_", " ")}
      ${!finding.specific && html`<span class="badge">explained by its callees</span>`}
    </h3>
    <div class="mono">
      ${place.class}${place.method !== "" && `.${place.method}`} ${place.detail !== "" && `(${place.detail})`}
      ${place.method !== "" &&
      pid !== null &&
      html` <a href=${formatAddress({ view: "method", pid, parts })}>open its flow graph</a>`}
    </div>
    ${finding.threads.length > 0 &&
    html`<div class="soft">
      threads: ${finding.threads.map((group) => `${group.name} ${shareText(group.share)}`).join(", ")}
    </div>`}
    <ul>
      ${finding.evidence.map((fact) => html`<li key=${fact.text}>${fact.text}</li>`)}
    </ul>
  </article>`;
}

/** @param {{rows: any[]}} props */
function RuledOut({ rows }) {
  return rows.length === 0
    ? null
    : html`<details>
        <summary>${rows.length} places were ruled out</summary>
        <table>
          <tbody>
            ${rows.slice(0, 200).map((row, n) => {
              const place = placeOf(row);
              return html`<tr key=${n}>
                <td class="mono">${place.class}${place.method !== "" && `.${place.method}`}</td>
                <td>${row.why.replaceAll("_", " ")}</td>
                <td class="number">${shareText(row.share)}</td>
              </tr>`;
            })}
          </tbody>
        </table>
      </details>`;
}
