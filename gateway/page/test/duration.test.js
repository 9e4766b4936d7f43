import assert from "node:assert/strict";
import { test } from "node:test";

import { formatAge, formatMark } from "../lib/duration.js";

test("an age has two units at most", () => {
  for (const [seconds, text] of /** @type {[number, string][]} */ ([
    [0, "0 s"],
    [0.7, "0 s"],
    [59.9, "59 s"],
    [60, "1 min"],
    [3_661, "1 h 1 min"],
    [90_000, "1 d 1 h"],
    [86_401, "1 d"],
  ])) {
    assert.equal(formatAge(seconds), text);
  }
});

test("marks of an axis can be told apart", () => {
  for (const [nanos, step, text] of /** @type {[number, number, string][]} */ ([
    [435_120_000, 10_000, "435.12 ms"],
    [435_130_000, 10_000, "435.13 ms"],
    [2_000_000_000, 500_000_000, "2.0 s"],
    [30, 10, "30 ns"],
    [0, 1_000_000, "0 ns"],
  ])) {
    assert.equal(formatMark(nanos, step), text);
  }
});
