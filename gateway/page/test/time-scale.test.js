import assert from "node:assert/strict";
import { test } from "node:test";

import { marks, moved, zoomed } from "../lib/time-scale.js";

const whole = { from: 0, to: 1e12 };

test("the time below the pointer stays there", () => {
  const view = { from: 1e6, to: 3e6 };
  const next = zoomed(view, whole, 0.5, 1.5e6);
  assert.deepEqual(next, { from: 1.25e6, to: 2.25e6 });
});

test("no interval leaves the trace or becomes empty", () => {
  let view = { from: 0, to: 1e12 };
  for (let n = 0; n < 200; n += 1) {
    view = zoomed(view, whole, n % 3 === 0 ? 3 : 0.1, view.from + (view.to - view.from) * 0.9);
    view = moved(view, whole, n % 2 === 0 ? 0.7 : -5);
    assert.ok(view.from >= whole.from && view.to <= whole.to && view.to - view.from >= 9.99, JSON.stringify(view));
  }
  assert.deepEqual(zoomed({ from: 5, to: 9e11 }, whole, 1000, 7), whole);
});

test("marks are round and in the interval", () => {
  for (const [from, to, most] of [
    [0, 1e9, 10],
    [123, 456, 7],
    [1e12, 1e12 + 50, 5],
  ]) {
    const all = marks({ from, to }, most);
    assert.ok(all.length > 1 && all.length <= most, String(all));
    assert.ok(all.every((mark) => mark >= from && mark <= to));
    const steps = new Set(all.slice(1).map((mark, n) => mark - all[n]));
    assert.equal(steps.size, 1);
  }
});
