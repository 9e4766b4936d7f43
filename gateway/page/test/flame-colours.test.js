// Contrast of all fills with their texts, for random palettes too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { changePaint, contrast, flamePaints, packagePaint, readColour } from "../lib/flame-colours.js";
import { randomNumbers } from "./random-profile.js";

/** @typedef {import("../lib/flame-colours.js").Colour} Colour */

test("colours are read in the forms that browsers return", () => {
  assert.deepEqual(readColour("#1a2B3c"), [26, 43, 60]);
  assert.deepEqual(readColour(" #fa0 "), [255, 170, 0]);
  assert.deepEqual(readColour("rgb(1, 2, 3)"), [1, 2, 3]);
  assert.deepEqual(readColour("rgba(1, 2, 3, 0.5)"), [1, 2, 3]);
  assert.deepEqual(readColour("color(srgb 1 0.2 0)"), [255, 51, 0]);
  assert.deepEqual(readColour("nonsense"), [0, 0, 0]);
});

test("contrast is that of WCAG", () => {
  assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21);
  assert.equal(contrast([9, 9, 9], [9, 9, 9]), 1);
  assert.ok(Math.abs(contrast([119, 119, 119], [255, 255, 255]) - 4.48) < 0.01);
});

test("all texts are readable, whatever the colours of the page", () => {
  const random = randomNumbers(2);
  const colour = () => /** @type {Colour} */ ([0, 1, 2].map(() => Math.floor(256 * random())));
  for (let round = 0; round < 500; round++) {
    const paints = flamePaints({
      ground: colour(),
      surface: colour(),
      line: colour(),
      text: colour(),
      textSoft: colour(),
      accent: colour(),
      good: colour(),
      bad: colour(),
      heat: Array.from({ length: 7 }, colour),
      heatText: Array.from({ length: 7 }, colour),
    });
    const all = [...paints.packages, ...paints.changes, paints.plain, paints.match, paints.dimmed];
    for (const { fill, text } of all) {
      // Colours are rounded to whole numbers.
      assert.ok(contrast(numbers(fill), numbers(text)) > 4.4, `${text} on ${fill}`);
    }
  }
});

/** @param {string} css @returns {Colour} */
function numbers(css) {
  return /** @type {Colour} */ ((css.match(/\d+/g) ?? []).map(Number));
}

test("methods of a package have shades of one colour", () => {
  const paint = (/** @type {string} */ name) =>
    packagePaint({ packageName: "shop.cart", className: `shop.cart.${name}` }, 21);
  const found = ["Cart", "Desk", "Item", "Order", "Price"].map(paint);
  assert.equal(new Set(found.map((position) => Math.floor(position / 3))).size, 1);
  assert.ok(new Set(found).size > 1);
  assert.equal(packagePaint({ packageName: "", className: "" }, 21), -1);
});

test("packages use all colours", () => {
  const names = Array.from({ length: 300 }, (_, number) => `com.example.part${number}`);
  const used = names.map((packageName) => packagePaint({ packageName, className: `${packageName}.A` }, 21));
  assert.equal(new Set(used).size >= 14, true);
  assert.ok(used.every((position) => position >= 0 && position < 21));
});

test("a change has the colour of its size and direction", () => {
  assert.equal(changePaint(100, 100), 4);
  assert.equal(changePaint(0, 0), 4);
  assert.equal(changePaint(100, 101), 4);
  assert.equal(changePaint(0, 1), 8);
  assert.equal(changePaint(1, 0), 0);
  assert.equal(changePaint(100, 130), 6);
  assert.equal(changePaint(130, 100), 2);
});
