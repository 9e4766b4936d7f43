// The rows of the callers and callees of a method, as text.

import { calleesOf, callersOf, methodCosts } from "./call-costs.js";
import { countText, durationText } from "./call-figures.js";
import { shareText } from "./share.js";

/** @typedef {import("./call-costs.js").CallSite} CallSite */
/** @typedef {import("./call-profile.js").CallProfile} CallProfile */

/**
 * @typedef {object} ArcRow
 * @property {number} method -1 for calls that no recorded call explains
 * @property {string} label
 * @property {string} calls
 * @property {string} share of the calls of the method from all callers, or to all callees
 * @property {string} self
 * @property {string} descendants
 * @property {string} sites
 */

/**
 * @typedef {object} Butterfly
 * @property {ArcRow[]} callers those with the fewest calls first
 * @property {ArcRow[]} callees those with the most calls first
 * @property {{term: string, value: string}[]} facts
 * @property {boolean} hasTimes
 */

const MAX_SITES = 4;

/**
 * @param {CallProfile} profile
 * @param {number} method
 * @returns {Butterfly}
 */
export function butterflyOf(profile, method) {
  const hasTimes = profile.contexts.count > 0;
  const { residue } = profile.methods[method];
  const [callers, callees] = [callersOf(profile, method), calleesOf(profile, method)];
  const sum = (/** @type {{calls: number}[]} */ arcs) => arcs.reduce((all, { calls }) => all + calls, 0);
  const incoming = sum(callers) + Math.max(0, residue);
  const outgoing = sum(callees);
  const rowOf = (/** @type {import("./call-costs.js").Arc} */ arc, /** @type {number} */ whole) => ({
    method: arc.method,
    label: profile.methods[arc.method].label,
    calls: countText(arc.calls),
    share: shareText(arc.calls, whole),
    self: durationText(arc.self),
    descendants: durationText(arc.descendants),
    sites: sitesText(arc.sites),
  });
  const rows = callers.map((arc) => rowOf(arc, incoming));
  if (residue !== 0) {
    rows.unshift({ ...RESIDUE_ROW, calls: countText(residue), share: shareText(residue, incoming) });
  }
  const costs = methodCosts(profile);
  const facts = [{ term: "calls", value: countText(costs.calls[method]) }];
  if (hasTimes) {
    facts.push({ term: "total", value: durationText(costs.total[method]) });
    facts.push({ term: "self", value: durationText(costs.self[method]) });
  }
  facts.push({ term: "calls that it made", value: countText(outgoing) });
  return { callers: rows, callees: callees.map((arc) => rowOf(arc, outgoing)), facts, hasTimes };
}

const RESIDUE_ROW = {
  method: -1,
  label: "[native code, the JVM, or classes that were not recorded]",
  self: "",
  descendants: "",
  sites: "",
};

/**
 * The call sites of an arc: `line 12`, `lines 12 (1,000), 40 (3)`.
 * @param {CallSite[]} sites those with the most calls first
 * @returns {string}
 */
export function sitesText(sites) {
  const place = (/** @type {CallSite} */ { line, bci }) =>
    line >= 0 ? String(line) : bci >= 0 ? `bytecode ${bci}` : "unknown";
  if (sites.length === 0) {
    return "";
  }
  if (sites.length === 1) {
    const [{ line, kind }] = sites;
    return `${line >= 0 ? "line " : ""}${place(sites[0])}, ${kind}`;
  }
  const shown = sites.slice(0, MAX_SITES).map((site) => `${place(site)} (${countText(site.calls)})`);
  const rest = sites.length - shown.length;
  return `lines ${shown.join(", ")}${rest > 0 ? `, … ${rest} more` : ""}`;
}
