// What the page calls a recording: one that the server made, or a file on disk.

import { durationText } from "./call-figures.js";

/** @typedef {"search" | "calls" | "trace" | "memory" | "tuning"} RecordingKind */

/**
 * A recording in a list.
 * @typedef {object} RecordingRow
 * @property {string} id
 * @property {number | null} pid `null` for a file
 * @property {RecordingKind} kind
 * @property {"running" | "done" | "failed"} state
 * @property {number} seconds
 * @property {number} wanted
 * @property {string[]} progress
 * @property {string} command
 * @property {{code: string, problem: string, remedy: string} | null} [error]
 * @property {number} [begun] of a recording of the server: when it began, in seconds since 1970
 * @property {string} [pattern]
 * @property {boolean} [contexts]
 * @property {boolean} [dry_run] of experiments: whether methods are listed only
 * @property {string} [file] of a file: its path below the folder
 * @property {string} [folder]
 * @property {number} [bytes]
 * @property {number} [modified] in seconds since 1970
 */

/**
 * The view that shows a kind, and the name of the kind.
 * @type {Record<RecordingKind, {view: string, title: string}>}
 */
export const KINDS = {
  search: { view: "bottlenecks", title: "Bottlenecks" },
  calls: { view: "calls", title: "Calls" },
  trace: { view: "trace", title: "Trace" },
  memory: { view: "memory", title: "Memory" },
  tuning: { view: "experiments", title: "Experiments" },
};

/**
 * The name of a recording: its file, or its methods.
 * @param {RecordingRow} row
 * @returns {string}
 */
export function recordingName({ file, pattern, kind, contexts, dry_run }) {
  if (file !== undefined) {
    return file;
  }
  if (kind === "search") {
    return "all threads";
  }
  const methods = pattern || (kind === "tuning" ? "running methods" : "all methods");
  return contexts ? `${methods}, contexts` : dry_run ? `${methods}, list` : methods;
}

/**
 * The name of a recording in a list to choose from, with its time and length.
 * @param {RecordingRow} row
 * @returns {string}
 */
export function recordingLabel(row) {
  const time = timeText(row.modified ?? row.begun);
  const length = row.file === undefined ? `, ${durationText(row.wanted * 1e9)}` : "";
  return `${time}: ${recordingName(row)}${length}`;
}

/**
 * A time as the user writes it, with the day.
 * @param {number | undefined} seconds since 1970
 * @returns {string}
 */
export function timeText(seconds) {
  return seconds === undefined || seconds <= 0 ? "?" : new Date(seconds * 1000).toLocaleString();
}

/**
 * A size with three digits: `1.23 MB`.
 * @param {number} bytes
 * @returns {string}
 */
export function sizeText(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let size = bytes;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return `${size.toFixed(digits)} ${units[unit]}`;
}

/**
 * The recordings that another one can be compared with: of the same kind, readable, and not the same.
 * @param {RecordingRow[]} rows
 * @param {{kind: string, id: string}} own
 * @returns {RecordingRow[]}
 */
export function comparable(rows, { kind, id }) {
  return rows.filter((row) => row.kind === kind && row.id !== id && row.state === "done");
}
