// Figures as text. The durations are those of the test of `format_duration` in the commands.

import assert from "node:assert/strict";
import { test } from "node:test";

import { changeText, countOf, countText, durationText, measureText } from "../lib/call-figures.js";

test("durations have three significant digits", () => {
  for (const [nanoseconds, text] of /** @type {[number, string][]} */ ([
    [0, "0 ns"],
    [850, "850 ns"],
    [999.6, "1.00 µs"],
    [1_234, "1.23 µs"],
    [9_996, "10.0 µs"],
    [45_600_000, "45.6 ms"],
    [999_600, "1.00 ms"],
    [7_890_000_000, "7.89 s"],
    [59_940_000_000, "59.9 s"],
    [59_960_000_000, "1 m 00 s"],
    [125_000_000_000, "2 m 05 s"],
    [3 * 3.6e12 + 7 * 6e10, "3 h 07 m"],
    [-2_500, "−2.50 µs"],
  ])) {
    assert.equal(durationText(nanoseconds), text);
  }
});

test("counts and shares", () => {
  assert.equal(countText(1234567), "1,234,567");
  assert.equal(countOf(1, "class", "classes"), "1 class");
  assert.equal(countOf(1200, "class", "classes"), "1,200 classes");
  assert.equal(measureText("wall", 1500), "1.50 µs");
  assert.equal(measureText("calls", 1500), "1,500");
});

test("changes have a sign, and say what is new or gone", () => {
  assert.equal(changeText("calls", 10, 12), "+2 (+20.0 %)");
  assert.equal(changeText("wall", 2000, 1000), "−1.00 µs (−50.0 %)");
  assert.equal(changeText("calls", 0, 5), "+5 (new)");
  assert.equal(changeText("calls", 5, 0), "−5 (gone)");
  assert.equal(changeText("calls", 5, 5), "none");
});
