// The page: the menu, the address bar and the current view.

import { html, render, useEffect, useState } from "./lib/html.js";
import { formatAddress } from "./lib/address.js";
import { changeAddress, useAddress } from "./lib/browser-address.js";
import { useLoaded } from "./lib/loaded.js";
import { Problem, Waiting } from "./lib/parts.js";
import { request, sessionOf } from "./lib/server.js";
import { applyTheme, Theme } from "./lib/theme.js";
import BottlenecksView from "./views/bottlenecks.js";
import CallsView from "./views/calls.js";
import CodeView from "./views/code.js";
import ExperimentsView from "./views/experiments.js";
import MachineView from "./views/machine.js";
import MemoryView from "./views/memory.js";
import MethodView from "./views/method.js";
import PlanView from "./views/plan.js";
import RecordingsView from "./views/recordings.js";
import TraceView from "./views/trace.js";

/** @typedef {import("./lib/address.js").Address} Address */

/** The views of a JVM or a recording, in the order of the menu. A method is opened from its class. */
const VIEWS = [
  { name: "code", title: "Code", view: CodeView },
  { name: "method", title: "Method", view: MethodView },
  { name: "bottlenecks", title: "Bottlenecks", view: BottlenecksView },
  { name: "calls", title: "Calls", view: CallsView },
  { name: "trace", title: "Trace", view: TraceView },
  { name: "experiments", title: "Experiments", view: ExperimentsView },
  { name: "memory", title: "Memory", view: MemoryView },
  { name: "plan", title: "Plan", view: PlanView },
];

/** The views that no JVM has: they show files only. */
const FILE_VIEWS = ["memory"];

/** The views that also show a recording without a JVM: a file, or one in a report. */
const RECORDING_VIEWS = ["bottlenecks", "calls", "trace", "experiments", "memory"];

/** @param {{address: Address}} props */
function Menu({ address }) {
  const { view, pid, parts } = address;
  const current = (/** @type {string} */ name) => (view === name ? "page" : undefined);
  const ofJvm = VIEWS.filter(({ name }) => !FILE_VIEWS.includes(name));
  const shown = ofJvm.filter(({ name }) => name !== "method" || view === "method");
  return html`<nav class="menu" aria-label="Views">
    <a class="name" href="#/machine">Veneer</a>
    <ul>
      <li><a href="#/machine" aria-current=${current("machine")}>JVMs</a></li>
      <li><a href="#/recordings" aria-current=${pid === null && view !== "machine" ? "page" : undefined}>Recordings</a></li>
    </ul>
    ${pid !== null &&
    html`<div class="jvm">Process ${pid}</div>
      <ul>
        ${shown.map(
          ({ name, title }) => html`<li key=${name}>
            <a
              href=${formatAddress({ view: name, pid, parts: name === "method" ? parts : {} })}
              aria-current=${current(name)}
              >${title}</a
            >
          </li>`,
        )}
      </ul>`}
    <${Theme} />
  </nav>`;
}

/** Says so while the connection to the server is lost. @param {{pid: number}} props */
function Loss({ pid }) {
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    setLost(false);
    const stop = sessionOf(pid).onLoss(setLost);
    return () => {
      stop();
    };
  }, [pid]);
  return isLost
    ? html`<div class="panel warning lost" role="alert">
        The connection to the server is lost. The browser tries again. What this page has attached is
        detached after ten seconds.
      </div>`
    : null;
}

function Page() {
  const address = useAddress();
  const about = useLoaded(() => request("GET", "api/1/about"), []);
  useEffect(() => {
    const title = VIEWS.find(({ name }) => name === address.view)?.title ?? "JVMs";
    const isOfJvm = address.pid !== null;
    const isRecording = !isOfJvm && RECORDING_VIEWS.includes(address.view);
    document.title = isOfJvm ? `${title} · ${address.pid} · Veneer` : isRecording ? `${title} · Veneer` : "Veneer";
  }, [address]);
  if (about.error !== null) {
    return html`<main class="view"><${Problem} error=${about.error} retry=${about.reload} /></main>`;
  }
  if (about.data === null) {
    return html`<${Waiting}>Loading…<//>`;
  }
  const { view, pid, parts } = address;
  const found = VIEWS.find(({ name }) => name === view);
  const isShown = pid !== null || (RECORDING_VIEWS.includes(view) && parts.recording !== undefined);
  const props = { pid, address: parts, setAddress: changeAddress, about: about.data };
  return html`<div class="frame">
    <${Menu} address=${address} />
    <main class="view" key=${`${view} ${pid}`}>
      ${pid !== null && html`<${Loss} pid=${pid} />`}
      ${found !== undefined && isShown
        ? html`<${found.view} ...${props} />`
        : pid === null && (view === "recordings" || RECORDING_VIEWS.includes(view))
          ? html`<${RecordingsView} about=${about.data} />`
          : html`<${MachineView} about=${about.data} />`}
    </main>
  </div>`;
}

applyTheme();
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(html`<${Page} />`, root);
}
