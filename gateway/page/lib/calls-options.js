// What the address of the page says about the view of calls.

import { availableMeasures } from "./call-profile.js";

/** @typedef {import("./call-figures.js").Measure} Measure */
/** @typedef {import("./call-profile.js").CallProfile} CallProfile */

/** @typedef {"flame" | "tree" | "methods" | "callers" | "packages"} Tab */

/** @type {readonly {id: Tab, title: string, needsContexts: boolean}[]} */
export const TABS = [
  { id: "flame", title: "Flame graph", needsContexts: true },
  { id: "tree", title: "Tree", needsContexts: true },
  { id: "methods", title: "Methods", needsContexts: false },
  { id: "callers", title: "Callers and callees", needsContexts: false },
  { id: "packages", title: "Packages", needsContexts: false },
];

/** The switches of the tree, and their words in the address. */
export const SWITCHES = /** @type {const} */ (["folded", "inverted", "threads", "equal"]);

/** @typedef {typeof SWITCHES[number]} Switch */

/**
 * @typedef {object} ViewOptions
 * @property {Tab} tab
 * @property {Measure} measure
 * @property {Measure[]} measures
 * @property {ReadonlySet<Switch>} switches
 * @property {string} query
 * @property {number} method -1 if none is chosen
 */

/**
 * Reads the address. Words that the profile does not have are replaced by defaults.
 * @param {Record<string, string | undefined>} address
 * @param {CallProfile} profile
 * @returns {ViewOptions}
 */
export function readOptions(address, profile) {
  const measures = availableMeasures(profile);
  const wanted = TABS.find(({ id }) => id === address.tab)?.id;
  const words = (address.shape ?? "").split(",");
  const byTime = measures.includes("wall") ? "wall" : "calls";
  return {
    tab: wanted ?? (profile.contexts.count > 0 ? "flame" : "methods"),
    measures,
    measure: measures.find((measure) => measure === address.measure) ?? byTime,
    switches: new Set(SWITCHES.filter((word) => words.includes(word))),
    query: address.query ?? "",
    method: methodOfLabel(profile, address.method ?? ""),
  };
}

/**
 * The word of the address for switches of which one was changed.
 * @param {ReadonlySet<Switch>} switches
 * @param {Switch} changed
 * @returns {string}
 */
export function shapeWith(switches, changed) {
  return SWITCHES.filter((word) => switches.has(word) !== (word === changed)).join(",");
}

/**
 * @param {CallProfile} profile
 * @param {string} label
 */
function methodOfLabel({ methods }, label) {
  return label === "" ? -1 : methods.findIndex((method) => method.label === label);
}
