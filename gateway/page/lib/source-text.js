// The source of a method beside its flow graph: live counts of each line, and lines that select blocks.

import { html, useMemo } from "./html.js";
import { formatExact, formatRate } from "./count-format.js";
import { heatOf } from "./heat-scale.js";
import { useLoaded } from "./loaded.js";
import { Problem, Waiting } from "./parts.js";
import { request } from "./server.js";
import { nextBlock, sourceLines } from "./source-lines.js";

/** @typedef {import("./graph-types.js").Counts} Counts */
/** @typedef {import("./graph-types.js").Selection} Selection */
/** @typedef {import("./source-lines.js").Source} Source */
/** @typedef {import("./source-lines.js").SourceLine} SourceLine */

/**
 * @param {{pid: number, pattern: string, counts: Counts, selected: Selection,
 *   onSelect: (selection: Selection) => void}} props
 */
export function SourceText({ pid, pattern, counts, selected, onSelect }) {
  const path = `api/1/jvms/${pid}/source?pattern=${encodeURIComponent(pattern)}`;
  const { data, error, reload } = useLoaded(() => request("GET", path), [path]);
  if (error !== null) {
    return html`<${Problem} error=${error} retry=${reload} />`;
  }
  if (data === null) {
    return html`<${Waiting}>Looking for the source…<//>`;
  }
  const source = /** @type {Source} */ (data);
  if (source.place === null || source.lines.length === 0) {
    return html`<p class="empty"><${WhyNone} source=${source} /></p>`;
  }
  return html`<p class="soft mono">${source.file} <span>from ${source.place}</span></p>
    <${Lines} source=${source} counts=${counts} selected=${selected} onSelect=${onSelect} />`;
}

/** @param {{source: Source}} props */
function WhyNone({ source: { file, place, blocks } }) {
  if (Object.values(blocks).every((lines) => lines.length === 0)) {
    return html`The class file has no line numbers. Compile with <code>javac -g:lines</code> to see the source here.`;
  }
  return place === null
    ? html`The source <code>${file}</code> was not found. Start <code>veneer serve --source DIR</code> with the folder
        of the sources, or with a jar of them.`
    : html`<code>${file}</code> in <code>${place}</code> has fewer lines than the class file names: it is of another
        version.`;
}

/**
 * @param {{source: Source, counts: Counts, selected: Selection, onSelect: (selection: Selection) => void}} props
 */
function Lines({ source, counts, selected, onSelect }) {
  const lines = useMemo(() => sourceLines(source, counts), [source, counts]);
  const { scale } = useMemo(() => heatOf(counts, "rate"), [counts]);
  const block = selected !== null && "block" in selected ? selected.block : null;
  return html`<div class="source scroll">
    <table>
      <thead>
        <tr>
          <th class="number" scope="col">Line</th>
          <th class="number" scope="col">Count</th>
          <th class="number" scope="col">Per second</th>
          <th scope="col">Source</th>
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          (line) => html`<${Line}
            key=${line.number}
            line=${line}
            step=${scale.step(line.rate)}
            block=${block}
            onSelect=${onSelect}
          />`,
        )}
      </tbody>
    </table>
  </div>`;
}

/**
 * @param {{line: SourceLine, step: number, block: number | null, onSelect: (selection: Selection) => void}} props
 */
function Line({ line: { number, text, blocks, count, rate }, step, block, onSelect }) {
  const isSelected = block !== null && blocks.includes(block);
  const hasCode = blocks.length > 0;
  const select = () => onSelect({ block: nextBlock(blocks, block) ?? blocks[0] });
  const title = blocks.length === 1 ? `block ${blocks[0]}` : `blocks ${blocks.join(", ")}`;
  return html`<tr class=${isSelected ? "source-selected" : ""}>
    <td class="number">
      ${hasCode
        ? html`<button class="small" title=${title} aria-pressed=${String(isSelected)} onClick=${select}>${number}</button>`
        : number}
    </td>
    <td class="number">${hasCode ? formatExact(count) : ""}</td>
    <td class=${`number flow-heat-${hasCode ? step : "none"}`}>${hasCode ? formatRate(rate) : ""}</td>
    <td class="mono source-line" onClick=${hasCode ? select : undefined}>${text === "" ? " " : text}</td>
  </tr>`;
}
