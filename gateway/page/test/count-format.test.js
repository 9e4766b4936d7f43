// Short forms of counts and rates.

import assert from "node:assert/strict";
import { test } from "node:test";
import { UNKNOWN, formatCount, formatExact, formatRate } from "../lib/count-format.js";
import { randomNumbers } from "./flow-oracles.js";

/** @param {string} text */
const plain = (text) => text.replaceAll("\u00a0", " ");

test("examples", () => {
  /** @type {[number | undefined, string][]} */
  const examples = [
    [0, "0"], [7, "7"], [999, "999"], [1000, "1.00 k"], [12_345, "12.3 k"], [123_456, "123 k"], [999_499, "999 k"],
    [999_500, "1.00 M"], [9_994, "9.99 k"], [9_996, "10.0 k"], [99_960, "100 k"], [2.5e9, "2.50 G"], [3e18, "3.00 E"],
    [0.25, "0.25"], [3.14159, "3.14"], [42.42, "42.4"], [999.7, "1.00 k"],
    [undefined, UNKNOWN], [NaN, UNKNOWN], [-1, UNKNOWN], [Infinity, UNKNOWN],
  ];
  for (const [value, text] of examples) assert.equal(plain(formatCount(value)), text, String(value));
  assert.equal(plain(formatRate(12_345)), "12.3 k/s");
  assert.equal(formatRate(undefined), UNKNOWN);
  assert.equal(formatExact(1_234_567), "1,234,567");
  assert.equal(formatExact(undefined), UNKNOWN);
});

test("a text has three digits and is at most half a unit of the last digit away from its value", () => {
  const random = randomNumbers(1);
  const factors = new Map([["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12], ["P", 1e15]]);
  for (let i = 0; i < 5000; i += 1) {
    const value = Math.round(1000 * 10 ** (random() * 14));
    const [digits, prefix] = plain(formatCount(value)).split(" ");
    assert.equal(digits.replace(".", "").length, 3, String(value));
    const read = Number(digits) * Number(factors.get(prefix ?? ""));
    assert.ok(Math.abs(read - value) <= value * 0.00501, `${value} ${digits} ${prefix}`);
  }
});
