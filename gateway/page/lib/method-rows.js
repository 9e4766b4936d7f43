// The rows of the table of methods, and their order.

import { methodCosts } from "./call-costs.js";
import { readQuery } from "./tree-search.js";

/** @typedef {import("./call-profile.js").CallProfile} CallProfile */

/**
 * @typedef {object} MethodRow
 * @property {string} label
 * @property {number} method the position in the profile; -1 if only the earlier recording has it
 * @property {number} calls
 * @property {number} total
 * @property {number} self
 * @property {number} cpu
 * @property {number} allocations
 * @property {number} share of the self time; of the calls if the profile has no times
 * @property {number} callsBefore
 * @property {number} selfBefore
 */

/** @typedef {"label" | "calls" | "total" | "self" | "cpu" | "allocations" | "share" | "before" | "change"} MethodKey */

/**
 * @typedef {object} MethodTable
 * @property {MethodRow[]} rows
 * @property {boolean} hasTimes
 * @property {boolean} hasCpu
 * @property {boolean} hasAllocations
 */

/**
 * @param {CallProfile} profile
 * @param {CallProfile | null} against an earlier recording
 * @returns {MethodTable}
 */
export function methodTable(profile, against) {
  const costs = methodCosts(profile);
  const hasTimes = costs.sums.self > 0;
  const [shares, whole] = hasTimes ? [costs.self, costs.sums.self] : [costs.calls, costs.sums.calls];
  const rows = profile.methods.map(({ label }, method) => ({
    label,
    method,
    calls: costs.calls[method],
    total: costs.total[method],
    self: costs.self[method],
    cpu: costs.cpu[method],
    allocations: costs.allocations[method],
    share: whole > 0 ? shares[method] / whole : 0,
    callsBefore: 0,
    selfBefore: 0,
  }));
  if (against !== null) {
    addEarlier(rows, profile, against);
  }
  return { rows, hasTimes, hasCpu: costs.sums.cpu > 0, hasAllocations: costs.sums.allocations > 0 };
}

/**
 * Adds the costs of an earlier recording to the rows.
 * @param {MethodRow[]} rows
 * @param {CallProfile} profile
 * @param {CallProfile} against
 */
function addEarlier(rows, profile, against) {
  const positions = new Map(profile.methods.map(({ identity }, method) => [identity, method]));
  const costs = methodCosts(against);
  against.methods.forEach(({ identity, label }, method) => {
    let position = positions.get(identity);
    if (position === undefined) {
      position = rows.push({ ...EMPTY_ROW, label }) - 1;
    }
    rows[position].callsBefore += costs.calls[method];
    rows[position].selfBefore += costs.self[method];
  });
}

const EMPTY_ROW = {
  method: -1,
  calls: 0,
  total: 0,
  self: 0,
  cpu: 0,
  allocations: 0,
  share: 0,
  callsBefore: 0,
  selfBefore: 0,
};

/**
 * The rows whose label matches a query, ordered by a column. Rows with equal values are ordered by
 * their labels.
 * @param {MethodTable} table
 * @param {{key: MethodKey, isDescending: boolean, query: string}} options
 * @returns {MethodRow[]}
 */
export function sortedRows({ rows, hasTimes }, { key, isDescending, query }) {
  const wanted = readQuery(query);
  const found = wanted.isEmpty ? rows.slice() : rows.filter(({ label }) => wanted.matches(label));
  const byLabel = (/** @type {MethodRow} */ a, /** @type {MethodRow} */ b) =>
    a.label < b.label ? -1 : a.label > b.label ? 1 : a.method - b.method;
  if (key === "label") {
    return found.sort((a, b) => (isDescending ? byLabel(b, a) : byLabel(a, b)));
  }
  const direction = isDescending ? -1 : 1;
  const value = (/** @type {MethodRow} */ row) => sortValue(row, key, hasTimes);
  return found.sort((a, b) => direction * (value(a) - value(b)) || byLabel(a, b));
}

/**
 * @param {MethodRow} row
 * @param {Exclude<MethodKey, "label">} key
 * @param {boolean} hasTimes
 */
function sortValue(row, key, hasTimes) {
  const before = hasTimes ? row.selfBefore : row.callsBefore;
  switch (key) {
    case "before":
      return before;
    case "change":
      return (hasTimes ? row.self : row.calls) - before;
    default:
      return row[key];
  }
}
