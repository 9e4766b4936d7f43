// The call graph with packages folded: groups of methods, and the calls between groups.

import { methodCosts } from "./call-costs.js";

/** @typedef {import("./call-profile.js").CallProfile} CallProfile */

/**
 * @typedef {object} Group
 * @property {string} key distinguishes packages from classes of the same name
 * @property {string} name
 * @property {string} packageName
 * @property {"package" | "class" | "overflow"} kind
 * @property {number} methods the methods that were called
 * @property {number} calls the entries of the methods
 * @property {number} self wall time without callees, in nanoseconds
 * @property {number} inside calls between methods of the group
 */

/** @typedef {{from: number, to: number, calls: number}} Link positions of the groups */

/** @typedef {{groups: Group[], links: Link[]}} GroupGraph */

const OVERFLOW_NAME = "[calls that could not be distinguished]";

/**
 * @param {CallProfile} profile
 * @param {ReadonlySet<string>} expanded the packages whose classes are groups
 * @returns {GroupGraph} groups and links with the most calls first
 */
export function foldPackages(profile, expanded) {
  const costs = methodCosts(profile);
  /** @type {Map<string, Group>} */
  const groups = new Map();
  const groupOf = profile.methods.map((method) => {
    const made = newGroup(method, expanded);
    const group = groups.get(made.key) ?? made;
    groups.set(group.key, group);
    return group;
  });
  profile.methods.forEach((_, method) => {
    const group = groupOf[method];
    group.methods += costs.calls[method] > 0 ? 1 : 0;
    group.calls += costs.calls[method];
    group.self += costs.self[method];
  });
  const { edges } = profile;
  /** @type {Map<string, {from: Group, to: Group, calls: number}>} */
  const links = new Map();
  for (let edge = 0; edge < edges.count; edge++) {
    const [from, to] = [groupOf[edges.caller[edge]], groupOf[edges.callee[edge]]];
    if (from === to) {
      from.inside += edges.calls[edge];
      continue;
    }
    const key = `${from.key}\n${to.key}`;
    const link = links.get(key) ?? { from, to, calls: 0 };
    link.calls += edges.calls[edge];
    links.set(key, link);
  }
  const called = [...links.values()].filter(({ calls }) => calls > 0);
  const linked = new Set(called.flatMap(({ from, to }) => [from, to]));
  const kept = [...groups.values()].filter((group) => group.methods > 0 || linked.has(group));
  kept.sort((a, b) => b.calls - a.calls || (a.key < b.key ? -1 : 1));
  const positions = new Map(kept.map((group, position) => [group, position]));
  const position = (/** @type {Group} */ group) => /** @type {number} */ (positions.get(group));
  return {
    groups: kept,
    links: called
      .map(({ from, to, calls }) => ({ from: position(from), to: position(to), calls }))
      .sort((a, b) => b.calls - a.calls || a.from - b.from || a.to - b.to),
  };
}

/**
 * @param {import("./call-profile.js").Method} method
 * @param {ReadonlySet<string>} expanded
 * @returns {Group}
 */
function newGroup({ className, packageName, overflow }, expanded) {
  const sums = { methods: 0, calls: 0, self: 0, inside: 0 };
  if (overflow) {
    return { key: "overflow", name: OVERFLOW_NAME, packageName: "", kind: "overflow", ...sums };
  }
  if (expanded.has(packageName)) {
    return { key: `class ${className}`, name: className, packageName, kind: "class", ...sums };
  }
  const name = packageName === "" ? "(unnamed package)" : packageName;
  return { key: `package ${packageName}`, name, packageName, kind: "package", ...sums };
}

/**
 * The part of a graph with the groups of the most calls.
 * @param {GroupGraph} graph
 * @param {number} most
 * @returns {GroupGraph}
 */
export function greatestGroups({ groups, links }, most) {
  const weights = groups.map(({ calls }) => calls);
  for (const { from, to, calls } of links) {
    weights[from] += calls;
    weights[to] += calls;
  }
  const order = weights.map((_, group) => group).sort((a, b) => weights[b] - weights[a] || a - b);
  const kept = order.slice(0, most).sort((a, b) => a - b);
  const positions = new Map(kept.map((group, position) => [group, position]));
  return {
    groups: kept.map((group) => groups[group]),
    links: links.flatMap(({ from, to, calls }) => {
      const [newFrom, newTo] = [positions.get(from), positions.get(to)];
      return newFrom === undefined || newTo === undefined ? [] : [{ from: newFrom, to: newTo, calls }];
    }),
  };
}
