import assert from "node:assert/strict";
import { test } from "node:test";

import { placeOf, sortedFindings } from "../lib/finding.js";

/** @param {Partial<import("../lib/finding.js").Finding>} part */
function finding(part) {
  return {
    path: [],
    why: "time",
    share: 0.5,
    low: 0.4,
    high: 0.6,
    specific: true,
    threads: [],
    evidence: [],
    window: { from: 0, to: 1 },
    ...part,
  };
}

test("the place is the most special step", () => {
  const step = (/** @type {string} */ kind, /** @type {string} */ name) => ({
    axis: "where",
    kind,
    name,
    line: null,
  });
  const path = [step("class", "shop.Desk"), step("method", "serve"), step("block", "Desk.java:41")];
  assert.deepEqual(placeOf(finding({ path })), {
    class: "shop.Desk",
    method: "serve",
    detail: "Desk.java:41",
  });
  assert.equal(placeOf(finding({})).class, "");
});

test("specific findings are first, then the largest", () => {
  const sorted = sortedFindings([
    finding({ share: 0.9, specific: false }),
    finding({ share: 0.2 }),
    finding({ share: 0.3 }),
  ]);
  assert.deepEqual(sorted.map(({ share }) => share), [0.3, 0.2, 0.9]);
});
