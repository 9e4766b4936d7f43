// Shares as text.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shareText } from "../lib/share.js";

test("a share has one decimal, and a small one is not 0", () => {
  assert.equal(shareText(1, 8), "12.5 %");
  assert.equal(shareText(1, 0), "-");
  assert.equal(shareText(0, 5), "0.0 %");
  assert.equal(shareText(1, 1e6), "< 0.1 %");
  assert.equal(shareText(-1, 4), "−25.0 %");
  assert.equal(shareText(-1, 1e6), "> −0.1 %");
  assert.equal(shareText(0.62), "62.0 %");
});
