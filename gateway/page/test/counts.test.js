import assert from "node:assert/strict";
import { test } from "node:test";

import { addUpdate, noCounts } from "../lib/counts.js";

const method = { class: "a.B", method: "m()V" };
const roles = { i1: "blocks", i2: "edges" };

/** @param {number} millis @param {number} hits @param {string} [name] */
function update(millis, hits, name = "m()V") {
  const point = { class: "a.B", method: name, fragment: 3, hits };
  return {
    millis,
    instruments: [
      { id: "i1", attached: true, points: [point] },
      { id: "i2", attached: true, points: [{ ...point, to: 4 }] },
      { id: "i3", attached: true, points: [{ ...point, hits: 999 }] },
    ],
  };
}

test("totals and rates follow from updates", () => {
  const first = addUpdate(noCounts(), update(1000, 10), roles, method);
  assert.equal(first.blocks.get(3), 10);
  assert.equal(first.edges.get("3>4"), 10);
  assert.equal(first.blockRates.size, 0);
  const second = addUpdate(first, update(1500, 60), roles, method);
  assert.equal(second.blocks.get(3), 60);
  assert.equal(second.blockRates.get(3), 100);
  assert.equal(second.edgeRates.get("3>4"), 100);
  assert.equal(first.blocks.get(3), 10, "earlier counts do not change");
});

test("a point that has not changed has no rate, and keeps its total", () => {
  const first = addUpdate(noCounts(), update(1000, 10), roles, method);
  const second = addUpdate(first, { millis: 1200, instruments: [] }, roles, method);
  assert.equal(second.blocks.get(3), 10);
  assert.equal(second.blockRates.size, 0);
});

test("points of other methods are left out", () => {
  const counts = addUpdate(noCounts(), update(1000, 10, "other()V"), roles, method);
  assert.equal(counts.blocks.size, 0);
});
