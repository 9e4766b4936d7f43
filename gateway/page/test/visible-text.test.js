// Names that would change how the text around them is shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shortText, visibleText } from "../lib/visible-text.js";

test("controls, bidirectional marks and lone surrogates are shown as codes; other text is unchanged", () => {
  assert.equal(visibleText("<b>a & \"b\"</b> häß 漢字 שלום"), "<b>a & \"b\"</b> häß 漢字 שלום");
  assert.equal(visibleText("a\u202Eb\u2066c\u0000\n"), "a\\u202Eb\\u2066c\\u0000\\u000A");
  assert.equal(visibleText("\uD800x\u200B\u2028"), "\\uD800x\\u200B\\u2028");
  assert.equal(visibleText("\u{E0041}"), "\\u{E0041}");
});

test("long text ends with an ellipsis and never with half a character", () => {
  assert.equal(shortText("abcdef", 6), "abcdef");
  assert.equal(shortText("abcdefg", 6), "abcde…");
  assert.equal(shortText("abcd😀efgh", 6), "abcd…");
});
