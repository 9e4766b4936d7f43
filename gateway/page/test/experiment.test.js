// The figures of experiments, and the bars of their windows.

import assert from "node:assert/strict";
import { test } from "node:test";

import { gainText, rateOf, ratesText, windowBars } from "../lib/experiment.js";

/** @param {Partial<import("../lib/experiment.js").TuningDecision>} part */
function decision(part) {
  /** @type {import("../lib/experiment.js").TuningDecision} */
  const whole = {
    method: "a.B::m(int)",
    transformation: "huge",
    arguments: { size: 9000, goal: "a.C::next(..)" },
    before: 2e6,
    after: 3e6,
    gain: 1.5,
    low: 1.4,
    high: 1.6,
    kept: true,
    reason: "faster in 8 blocks of windows",
  };
  return { ...whole, ...part };
}

test("a gain has the ends of its interval that are known", () => {
  assert.equal(gainText(decision({})), "1.50 times as many (1.40 to 1.60)");
  assert.equal(gainText(decision({ high: null })), "1.50 times as many (1.40 at least)");
  assert.equal(gainText(decision({ low: null })), "1.50 times as many (1.60 at most)");
  assert.equal(gainText(decision({ low: null, high: null })), "1.50 times as many");
  assert.equal(gainText(decision({ gain: null })), "");
});

test("rates are shown only if both are known", () => {
  assert.equal(
    ratesText(decision({})),
    "Calls of a.C::next(..) per second: 2.00\u00a0M before, 3.00\u00a0M after; 1.50 times as many (1.40 to 1.60)",
  );
  assert.equal(ratesText(decision({ before: null })), "");
});

test("the height of a bar is its rate, and blocks are apart", () => {
  const windows = [1, 2, 4, 3, 2].map((progress, at) => ({ transformed: at % 2 === 1, seconds: 2, progress }));
  assert.equal(rateOf(windows[2]), 2);
  const bars = windowBars(windows, { width: 560, height: 100 });
  assert.deepEqual(bars.map(({ height }) => height), [25, 50, 100, 75, 50]);
  assert.deepEqual(bars.map(({ y, height }) => y + height), [100, 100, 100, 100, 100]);
  // 5 windows and a gap of 0.6 windows after the first block.
  const steps = bars.slice(1).map(({ x }, at) => Math.round(x - bars[at].x));
  assert.deepEqual(steps, [100, 100, 100, 160]);
  assert.ok(bars[4].x + bars[4].width <= 560);
  assert.deepEqual(windowBars([], { width: 1, height: 1 }), []);
  const idle = windowBars([{ transformed: false, seconds: 0, progress: 0 }], { width: 10, height: 10 });
  assert.equal(idle[0].height, 0);
});
