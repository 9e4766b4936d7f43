// The scale from figures to heat colours.

import assert from "node:assert/strict";
import { test } from "node:test";
import { heatOf, heatScale, heatThresholds } from "../lib/heat-scale.js";

test("steps fall by factors of four below the greatest figure", () => {
  const { step } = heatScale(4096);
  assert.deepEqual([4096, 1025, 1024, 1023, 256, 64, 16, 15, 1, 0.001].map(step), [6, 6, 6, 5, 5, 4, 3, 2, 1, 1]);
  assert.deepEqual([0, -1, NaN, undefined].map(step), [0, 0, 0, 0]);
  assert.equal(heatScale(0).step(0), 0);
  assert.equal(step(1e9), 6, "a figure above the greatest has the last step");
});

test("the legend agrees with the scale", () => {
  const greatest = 123_456;
  const { step } = heatScale(greatest);
  heatThresholds(greatest).forEach((least, i) => {
    if (least === 0) return;
    assert.equal(step(least * 1.001), i + 1);
    assert.equal(step(least * 0.999), i);
  });
});

test("the scale covers blocks and edges of the chosen figure", () => {
  const counts = {
    blocks: new Map([[0, 5]]),
    edges: new Map([["0>0", 70]]),
    blockRates: new Map([[0, 2]]),
    edgeRates: new Map([["0>0", 1]]),
  };
  assert.equal(heatOf(counts, "rate").scale.greatest, 2);
  assert.equal(heatOf(counts, "total").scale.greatest, 70);
  assert.equal(heatOf(counts, "off").scale.greatest, 0);
});
