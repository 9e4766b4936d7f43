// Counts, times and shares of a calls profile as text.
//
// The forms are those of the commands (`veneer calls show`), so that figures of the page and of a
// terminal can be compared.

import { shareText } from "./share.js";

/** @typedef {"calls" | "wall" | "self" | "cpu" | "allocations"} Measure */

/**
 * What a measure is called, and its unit.
 * @type {Readonly<Record<Measure, {title: string, unit: "count" | "time"}>>}
 */
export const MEASURES = {
  calls: { title: "Calls", unit: "count" },
  wall: { title: "Wall time", unit: "time" },
  self: { title: "Self time", unit: "time" },
  cpu: { title: "Processor time", unit: "time" },
  allocations: { title: "Allocated objects", unit: "count" },
};

const SECOND = 1e9;
const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/**
 * A number with separators: `1,234,567`.
 * @param {number} count
 * @returns {string}
 */
export function countText(count) {
  return WHOLE.format(count);
}

/**
 * A number with its noun: `1 class`, `1,200 classes`.
 * @param {number} count
 * @param {string} singular
 * @param {string} plural
 * @returns {string}
 */
export function countOf(count, singular, plural) {
  return `${countText(count)} ${count === 1 ? singular : plural}`;
}

/**
 * Nanoseconds with three significant digits: `850 ns`, `1.23 µs`, `45.6 ms`, `7.89 s`. From one
 * minute the form is `2 m 05 s`, from one hour `3 h 07 m`.
 * @param {number} nanoseconds
 * @returns {string}
 */
export function durationText(nanoseconds) {
  if (nanoseconds < 0) {
    return `−${durationText(-nanoseconds)}`;
  }
  const rounded = Math.round(nanoseconds);
  if (rounded < 1000) {
    return `${rounded} ns`;
  }
  // A value that would round to 1000 of a unit is shown in the next unit.
  for (const [unit, scale, limit] of /** @type {[string, number, number][]} */ ([
    ["µs", 1e3, 999.5],
    ["ms", 1e6, 999.5],
    ["s", SECOND, 59.95],
  ])) {
    const value = rounded / scale;
    if (value < limit) {
      return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
    }
  }
  const seconds = Math.round(rounded / SECOND);
  return seconds < 3600
    ? `${Math.floor(seconds / 60)} m ${twoDigits(seconds % 60)} s`
    : `${countText(Math.floor(seconds / 3600))} h ${twoDigits(Math.floor(seconds / 60) % 60)} m`;
}

/** @param {number} number */
function twoDigits(number) {
  return String(number).padStart(2, "0");
}

/**
 * A value of a measure.
 * @param {Measure} measure
 * @param {number} value
 * @returns {string}
 */
export function measureText(measure, value) {
  return MEASURES[measure].unit === "time" ? durationText(value) : countText(value);
}

/**
 * The change of a value, with its sign and in percent: `+1.20 ms (+12.0 %)`, `new`, `gone`, `none`.
 * @param {Measure} measure
 * @param {number} before
 * @param {number} after
 * @returns {string}
 */
export function changeText(measure, before, after) {
  if (before === after) {
    return "none";
  }
  const sign = after > before ? "+" : "−";
  const size = `${sign}${measureText(measure, Math.abs(after - before))}`;
  if (before === 0) {
    return `${size} (new)`;
  }
  if (after === 0) {
    return `${size} (gone)`;
  }
  return `${size} (${sign}${shareText(Math.abs(after - before), before)})`;
}
