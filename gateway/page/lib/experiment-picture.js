// The windows of an experiment: a picture of their rates, and the same figures as a table.

import { html } from "./html.js";
import { formatCount, formatRate } from "./count-format.js";
import { rateOf, windowBars } from "./experiment.js";

/** @typedef {import("./experiment.js").TuningWindow} TuningWindow */

// In pixels.
const SIZE = { width: 640, height: 120 };

/** @param {boolean} transformed */
function variant(transformed) {
  return transformed ? "with the transformation" : "without";
}

/** @param {{windows: TuningWindow[]}} props */
export function ExperimentPicture({ windows }) {
  if (windows.length === 0) {
    return null;
  }
  const bars = windowBars(windows, SIZE);
  return html`<figure class="experiment">
    <svg viewBox=${`0 0 ${SIZE.width} ${SIZE.height}`} role="img"
      aria-label=${`The rates of ${windows.length} windows; the table below has the same figures`}>
      ${bars.map(
        (bar, at) => html`<rect key=${at} x=${bar.x} y=${bar.y} width=${bar.width} height=${bar.height}
          class=${bar.transformed ? "experiment-with" : "experiment-without"}>
          <title>window ${at + 1}, ${variant(bar.transformed)}: ${formatRate(bar.rate)}</title>
        </rect>`,
      )}
    </svg>
    <figcaption class="soft">
      Each bar is a window, its height the rate of calls.${" "}
      <span class="experiment-key experiment-without-key"></span> without the transformation,${" "}
      <span class="experiment-key experiment-with-key"></span> with it.
    </figcaption>
    <details>
      <summary>The same as a table</summary>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th class="number" scope="col">Window</th>
              <th scope="col">Method</th>
              <th class="number" scope="col">Seconds</th>
              <th class="number" scope="col">Calls</th>
              <th class="number" scope="col">Rate</th>
            </tr>
          </thead>
          <tbody>
            ${windows.map(
              (window, at) => html`<tr key=${at}>
                <td class="number">${at + 1}</td>
                <td>${variant(window.transformed)}</td>
                <td class="number">${window.seconds.toFixed(2)}</td>
                <td class="number">${formatCount(window.progress)}</td>
                <td class="number">${formatRate(rateOf(window))}</td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>
  </figure>`;
}
