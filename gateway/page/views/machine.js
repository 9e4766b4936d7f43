// The JVMs of this machine: what runs, what would work with each, what is attached; attach and leave.

import { html, useEffect, useState } from "../lib/html.js";
import { formatAddress } from "../lib/address.js";
import { formatAge } from "../lib/duration.js";
import { useLoaded } from "../lib/loaded.js";
import { JvmDiagnosis } from "../lib/jvm-diagnosis.js";
import { Problem, Waiting } from "../lib/parts.js";
import { request } from "../lib/server.js";

/** How often the list is loaded again, in milliseconds. */
const RELOAD_INTERVAL = 3000;

/** @param {{about: {version: string, allow_edits: boolean}}} props */
export default function MachineView({ about }) {
  const list = useLoaded(() => request("GET", "api/1/machine"), []);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  useEffect(() => {
    const timer = setInterval(() => document.hidden || list.reload(), RELOAD_INTERVAL);
    return () => clearInterval(timer);
  }, [list.reload]);
  const act = (/** @type {Promise<unknown>} */ action) => {
    setError(null);
    action.catch(setError).finally(list.reload);
  };
  return html`<h1>JVMs</h1>
    ${error !== null && html`<${Problem} error=${error} />`}
    ${list.error !== null && html`<${Problem} error=${list.error} retry=${list.reload} />`}
    ${list.data === null && list.error === null && html`<${Waiting}>Looking for JVMs…<//>`}
    ${list.data !== null && html`<${JvmTable} jvms=${list.data.jvms} act=${act} />`}
    <p class="soft">
      Veneer ${about.version}.
      ${about.allow_edits
        ? " Edits are allowed: this page can change what a program does."
        : " Read-only: this page measures and changes nothing (veneer serve --allow-edits)."}
    </p>`;
}

/** @param {{jvms: any[], act: (action: Promise<unknown>) => void}} props */
function JvmTable({ jvms, act }) {
  if (jvms.length === 0) {
    return html`<p class="empty">
      No JVM of this user runs on this machine. Start a Java program, and it appears here.
    </p>`;
  }
  return html`<div class="scroll panel">
    <table>
      <thead>
        <tr>
          <th class="number" scope="col">Process</th>
          <th scope="col">Program</th>
          <th class="number" scope="col">JDK</th>
          <th class="number" scope="col">Running</th>
          <th scope="col">Agent</th>
          <th scope="col">Attached</th>
          <th scope="col">What works</th>
          <th scope="col"><span class="hidden-text">Actions</span></th>
        </tr>
      </thead>
      <tbody>
        ${jvms.map((jvm) => html`<${JvmRow} key=${jvm.pid} jvm=${jvm} act=${act} />`)}
      </tbody>
    </table>
  </div>`;
}

/** @param {{jvm: any, act: (action: Promise<unknown>) => void}} props */
function JvmRow({ jvm, act }) {
  const agent = jvm.veneer;
  const [isOpen, setOpen] = useState(false);
  const open = formatAddress({ view: "code", pid: jvm.pid, parts: {} });
  const path = `api/1/jvms/${jvm.pid}`;
  return html`<tr>
    <td class="number">${jvm.pid}</td>
    <td class="mono"><a href=${open}>${jvm.main}</a></td>
    <td class="number">${jvm.jdk ?? "?"}</td>
    <td class="number">${jvm.running_s === undefined ? "?" : formatAge(jvm.running_s)}</td>
    <td>
      ${agent !== undefined
        ? html`<span class="badge good">loaded</span>`
        : jvm.problem !== undefined
          ? html`<span class="badge bad">${jvm.problem}</span>`
          : html`<span class="soft">not loaded</span>`}
    </td>
    <td><${Attached} agent=${agent} /></td>
    <td><button aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}>${isOpen ? "Hide" : "Check"}</button></td>
    <td>
      ${agent === undefined
        ? html`<button onClick=${() => act(request("POST", `${path}/attach`, {}))}>Attach</button>`
        : html`<button onClick=${() => act(request("POST", `${path}/detach`, { unload: true }))}>
            Leave
          </button>`}
    </td>
  </tr>
  ${isOpen && html`<tr><td colspan="8"><${JvmDiagnosis} pid=${jvm.pid} /></td></tr>`}`;
}

/** @param {{agent: any}} props */
function Attached({ agent }) {
  const loads = agent?.loads ?? [];
  if (loads.length === 0) {
    return html`<span class="soft">nothing</span>`;
  }
  return html`<ul class="tree">
    ${loads.map((/** @type {any} */ load) => {
      const names = [...load.instruments, ...load.patches].map((one) => one.name ?? one.id);
      return html`<li key=${load.id}>
        <span class="mono">${load.plan}</span> <span class="soft">of ${load.owner}</span>
        ${names.length > 0 && html`: ${names.join(", ")}`}
      </li>`;
    })}
  </ul>`;
}
