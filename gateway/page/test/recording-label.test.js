// Names of recordings in lists.

import assert from "node:assert/strict";
import { test } from "node:test";

import { comparable, recordingLabel, recordingName, sizeText, timeText } from "../lib/recording-label.js";

/** @param {Partial<import("../lib/recording-label.js").RecordingRow>} part */
function row(part) {
  /** @type {import("../lib/recording-label.js").RecordingRow} */
  const whole = { id: "r1", pid: 7, kind: "calls", state: "done", seconds: 1, wanted: 2.5, progress: [], command: "" };
  return { ...whole, ...part };
}

test("a recording has the name of its file or of its methods", () => {
  assert.equal(recordingName(row({ file: "a/shop.calls", pattern: "x" })), "a/shop.calls");
  assert.equal(recordingName(row({ pattern: "shop..*", contexts: true })), "shop..*, contexts");
  assert.equal(recordingName(row({ pattern: "" })), "all methods");
  assert.equal(recordingName(row({ kind: "search", pattern: "" })), "all threads");
  assert.equal(recordingName(row({ kind: "tuning", pattern: "", dry_run: true })), "running methods, list");
  assert.match(recordingLabel(row({ begun: 1_700_000_000, pattern: "m" })), /2023.*: m, 2\.50 s$/);
  assert.match(recordingLabel(row({ modified: 1_700_000_000, file: "t" })), /2023.*: t$/);
  assert.equal(timeText(undefined), "?");
  assert.equal(timeText(-1), "?");
});

test("sizes have three digits", () => {
  const sizes = [0, 999, 1000, 12_345, 999_499, 999_600, 5e9];
  assert.deepEqual(sizes.map(sizeText), ["0 bytes", "999 bytes", "1.00 kB", "12.3 kB", "999 kB", "1.00 MB", "5.00 GB"]);
});

test("a recording is compared with readable ones of its kind", () => {
  const rows = [
    row({ id: "r1" }),
    row({ id: "r2", kind: "trace" }),
    row({ id: "r3", state: "running" }),
    row({ id: "f4", pid: null }),
  ];
  assert.deepEqual(comparable(rows, { kind: "calls", id: "r1" }).map(({ id }) => id), ["f4"]);
});
