// The search tree against a search through all rectangles.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BoxIndex } from "../lib/box-index.js";
import { randomNumbers } from "./flow-oracles.js";

test("a search finds exactly the rectangles that touch", () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const random = randomNumbers(seed);
    const count = Math.floor(random() * 600);
    const [width, height] = [10 ** (random() * 6), 10 ** (random() * 6)];
    const boxes = new Float64Array(count * 4);
    for (let i = 0; i < boxes.length; i += 4) {
      const [x, y] = [random() * width, random() * height];
      // Segments of edges are rectangles without area.
      const right = x + (random() < 0.3 ? 0 : random() * width * 0.2);
      boxes.set([x, y, right, y + (random() < 0.3 ? 0 : random() * height * 0.2)], i);
    }
    const index = new BoxIndex(boxes);
    for (let k = 0; k < 20; k += 1) {
      const [left, top] = [random() * width, random() * height];
      const [right, bottom] = [left + random() * width * 0.3, top + random() * height * 0.3];
      /** @type {number[]} */
      const found = [];
      index.search(left, top, right, bottom, (box) => found.push(box));
      const expected = [];
      for (let i = 0; i < count; i += 1) {
        const [x0, y0, x1, y1] = boxes.subarray(4 * i, 4 * i + 4);
        if (x0 <= right && y0 <= bottom && x1 >= left && y1 >= top) expected.push(i);
      }
      assert.deepEqual(found.sort((a, b) => a - b), expected);
    }
  }
});

test("many equal rectangles, and one", () => {
  const equal = new BoxIndex(new Float64Array(4000));
  let found = 0;
  equal.search(0, 0, 0, 0, () => (found += 1));
  assert.equal(found, 1000);
  const one = new BoxIndex(Float64Array.of(1, 1, 2, 2));
  one.search(3, 3, 4, 4, () => assert.fail());
  one.search(0, 0, 1, 1, (box) => assert.equal(box, 0));
});
