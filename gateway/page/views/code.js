// Packages, classes and methods of a JVM.

import { html, useEffect, useMemo, useState } from "../lib/html.js";
import { formatAddress } from "../lib/address.js";
import { matchingClasses, packagesOf } from "../lib/class-tree.js";
import { useLoaded } from "../lib/loaded.js";
import { Problem, Waiting } from "../lib/parts.js";
import { request } from "../lib/server.js";

/** The most classes that the list shows. */
const MAX_SHOWN = 2000;
/** The most methods of a class that are shown, and the number from which there is a field to find one. */
const MAX_METHODS = 500;
const MANY_METHODS = 30;

/**
 * @param {{pid: number, address: Record<string, string>, setAddress: (patch: Record<string, string>) => void}} props
 */
export default function CodeView({ pid, address, setAddress }) {
  const list = useLoaded(() => request("GET", `api/1/jvms/${pid}/classes`), [pid]);
  const query = address.query ?? "";
  const isJdk = address.jdk === "1";
  const found = useMemo(() => {
    const classes = list.data === null ? [] : isJdk ? list.data.jdk : list.data.application;
    return matchingClasses(classes, query);
  }, [list.data, query, isJdk]);
  const choose = (/** @type {string} */ name) => setAddress({ class: name });
  // Enter chooses the first class, also if it was pressed before the list came.
  const [isFirstWanted, setFirstWanted] = useState(false);
  useEffect(() => {
    if (isFirstWanted && list.data !== null) {
      setFirstWanted(false);
      found.length > 0 && choose(found[0]);
    }
  }, [isFirstWanted, list.data, found]);
  return html`<h1>Code</h1>
    <div class="row panel">
      <label
        >Find
        <input
          type="search"
          value=${query}
          placeholder="Desk, or shop..*"
          onInput=${(/** @type {any} */ event) => setAddress({ query: event.target.value })}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && setFirstWanted(true)}
      /></label>
      <label
        ><input
          type="checkbox"
          checked=${isJdk}
          onChange=${(/** @type {any} */ event) => setAddress({ jdk: event.target.checked ? "1" : "" })}
        />
        classes of the JDK</label
      >
      ${list.data !== null && html`<span class="soft">${found.length} classes</span>`}
    </div>
    ${list.error !== null && html`<${Problem} error=${list.error} retry=${list.reload} />`}
    ${list.data === null && list.error === null && html`<${Waiting}>Asking the JVM for its classes…<//>`}
    ${list.data !== null &&
    html`<div class="class-parts">
      <${ClassList} classes=${found} chosen=${address.class ?? ""} choose=${choose} />
      ${address.class !== undefined && address.class !== ""
        ? html`<${ClassMethods} key=${address.class} pid=${pid} name=${address.class} />`
        : html`<p class="empty">Choose a class to see its methods.</p>`}
    </div>`}`;
}

/**
 * @param {{classes: string[], chosen: string, choose: (name: string) => void}} props
 */
function ClassList({ classes, chosen, choose }) {
  const packages = useMemo(() => packagesOf(classes.slice(0, MAX_SHOWN)), [classes]);
  const [closed, setClosed] = useState(/** @type {Set<string>} */ (new Set()));
  if (classes.length === 0) {
    return html`<p class="empty">No loaded class matches.</p>`;
  }
  const toggle = (/** @type {string} */ name) => {
    const next = new Set(closed);
    next.delete(name) || next.add(name);
    setClosed(next);
  };
  return html`<nav class="panel class-list" aria-label="Classes">
    <ul class="tree">
      ${packages.map(
        ({ name, classes: members }) => html`<li key=${name}>
          <button
            class="small"
            aria-expanded=${!closed.has(name)}
            onClick=${() => toggle(name)}
          >
            ${name === "" ? "(no package)" : name} <span class="soft">${members.length}</span>
          </button>
          ${!closed.has(name) &&
          html`<ul class="tree">
            ${members.map(
              (member) => html`<li key=${member}>
                <a
                  href="#"
                  class="mono"
                  aria-current=${member === chosen ? "true" : undefined}
                  onClick=${(/** @type {Event} */ event) => {
                    event.preventDefault();
                    choose(member);
                  }}
                  >${name === "" ? member : member.slice(name.length + 1)}</a
                >
              </li>`,
            )}
          </ul>`}
        </li>`,
      )}
    </ul>
    ${classes.length > MAX_SHOWN &&
    html`<p class="soft">${classes.length - MAX_SHOWN} more: type a part of a name.</p>`}
  </nav>`;
}

/** @param {{pid: number, name: string}} props */
function ClassMethods({ pid, name }) {
  const path = `api/1/jvms/${pid}/methods?class=${encodeURIComponent(name)}`;
  const list = useLoaded(() => request("GET", path), [path]);
  const [wanted, setWanted] = useState("");
  if (list.error !== null) {
    return html`<${Problem} error=${list.error} retry=${list.reload} />`;
  }
  if (list.data === null) {
    return html`<${Waiting}>Asking the agent for the methods of ${name}…<//>`;
  }
  const { methods: all, refused } = list.data;
  const part = wanted.toLowerCase();
  const methods = all.filter((/** @type {any} */ { pattern }) => shortMethod(pattern).toLowerCase().includes(part));
  return html`<section class="panel" aria-label=${`Methods of ${name}`}>
    <h2 class="mono">${name}</h2>
    ${all.length === 0 && html`<p class="empty">No method of this class can take an instrument.</p>`}
    ${all.length >= MANY_METHODS &&
    html`<p class="row">
      <label
        >Find a method
        <input
          type="search"
          value=${wanted}
          onInput=${(/** @type {any} */ event) => setWanted(event.target.value)}
      /></label>
      <span class="soft" role="status">${methods.length} of ${all.length} methods</span>
    </p>`}
    <ul class="tree">
      ${methods.slice(0, MAX_METHODS).map((/** @type {any} */ method) => {
        const parts = { pattern: method.pattern };
        return html`<li key=${method.method}>
          <a class="mono" href=${formatAddress({ view: "method", pid, parts })}
            >${shortMethod(method.pattern)}</a
          >
        </li>`;
      })}
    </ul>
    ${methods.length > MAX_METHODS &&
    html`<p class="soft">${methods.length - MAX_METHODS} more: type a part of a name.</p>`}
    ${refused.length > 0 &&
    html`<details>
      <summary>${refused.length} methods refused, with reasons</summary>
      <ul>
        ${refused.map(
          (/** @type {any} */ row) =>
            html`<li key=${row.method}>
              <span class="mono">${row.method ?? "the class"}</span>: ${row.reason}
              <span class="soft"> ${row.detail}</span>
            </li>`,
        )}
      </ul>
    </details>`}
  </section>`;
}

/** @param {string} pattern */
function shortMethod(pattern) {
  const at = pattern.indexOf("::");
  return at < 0 ? pattern : pattern.slice(at + 2);
}
