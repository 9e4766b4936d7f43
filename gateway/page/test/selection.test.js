import assert from "node:assert/strict";
import { test } from "node:test";

import { formatSelection, parseSelection } from "../lib/selection.js";

test("a selection is restored from its text", () => {
  for (const selection of /** @type {import("../lib/selection.js").Selection[]} */ ([
    null,
    { block: 0 },
    { block: 12 },
    { edge: [3, 4] },
  ])) {
    assert.deepEqual(parseSelection(formatSelection(selection)), selection);
  }
  for (const text of ["b", "e3", "x1", "b-1", "e1-2-3"]) {
    assert.equal(parseSelection(text), null);
  }
});
