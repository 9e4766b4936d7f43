// Completions and places of errors in plans.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  classCompletions,
  completionContext,
  declaredNames,
  wordCompletions,
} from "../lib/plan-completion.js";
import { errorPlace, planError } from "../lib/plan-error.js";

const FUNCTIONS = [
  { name: "methods", of_something: false, help: "methods(\"…\")" },
  { name: "counter", of_something: false, help: "counter()" },
  { name: "hits", of_something: true, help: "….hits()" },
  { name: "block", of_something: true, help: "….block(…)" },
  { name: "blocks", of_something: true, help: "….blocks()" },
];

/** @param {string} before */
function offered(before) {
  const context = completionContext(before);
  return context.kind === "word"
    ? wordCompletions(context, FUNCTIONS, `${before}; let counted = 1; const cut = 2;`).map(({ typed }) => typed)
    : context.kind;
}

test("functions, methods and variables are completed", () => {
  assert.deepEqual(offered("let m = meth"), ["methods("]);
  assert.deepEqual(offered("cou"), ["counted", "counter("]);
  assert.deepEqual(offered("c.hit"), ["hits("]);
  assert.deepEqual(offered('methods("a").\n  blo'), ["block(", "blocks("]);
  assert.deepEqual(offered("c."), ["block(", "blocks(", "hits("]);
  assert.equal(offered(""), "none");
  assert.equal(completionContext("let m = meth").from, 8);
});

test("strings and comments have no completions, except patterns", () => {
  for (const before of [
    'log("cou',
    "// cou",
    "/* a /* b */ cou",
    "`text cou",
    'if x { "shop',
    'methods("a").named("b',
  ]) {
    assert.equal(completionContext(before).kind, "none", before);
  }
  for (const [before, start] of [
    ['methods("shop.De', "shop.De"],
    ['let m = methods(["a.B::m(..)", "', ""],
    ['m.calls("java.', "java."],
    ["print(`${methods(\"a", "a"],
  ]) {
    assert.deepEqual(completionContext(before), { kind: "pattern", from: before.length - start.length, start });
  }
  assert.deepEqual(offered("/* a */ let c = '\"'; `${x}`; // b\ncou"), ["counted", "counter("]);
});

test("classes are completed up to the next dot", () => {
  const classes = ["shop.Desk", "shop.desk.Drawer", "shop.desk.Key", "other.A"];
  const typed = (/** @type {string} */ start) => classCompletions(start, classes).map((one) => one.typed);
  assert.deepEqual(typed("shop."), ["shop.Desk", "shop.desk."]);
  assert.deepEqual(typed("shop.desk."), ["shop.desk.Drawer", "shop.desk.Key"]);
  assert.deepEqual(typed("shop.Desk"), []);
  assert.deepEqual(typed(""), ["other.", "shop."]);
});

test("declared names are found", () => {
  assert.deepEqual(declaredNames("let a = 1; const B = 2;\nfn half(x) { let a = x; }; outlet c"), ["a", "B", "half"]);
});

test("an error is found in the text of the plan", () => {
  const source = "let a = 1;\n  countr();\n";
  const error = planError("page:2:3: no function `countr()`; did you mean counter()?\n  countr();\n  ^");
  assert.ok(error !== null);
  assert.deepEqual([error.line, error.column], [2, 3]);
  const place = errorPlace(source, error);
  assert.ok(place !== null);
  assert.equal(source.slice(place.from, place.to), "countr");
  const inner = planError("page:1:9: a.B::m()V at entry: 2:5: `cost` cannot be read here");
  assert.deepEqual(inner, { line: 2, column: 5, message: "a.B::m()V at entry: `cost` cannot be read here" });
  assert.equal(planError("the JVM is shutting down"), null);
  assert.deepEqual(planError("page:7: stopped"), { line: 7, column: 0, message: "stopped" });
});

test("places beyond the text and characters of two units are no trouble", () => {
  assert.equal(errorPlace("a", { line: 2, column: 1 }), null);
  assert.deepEqual(errorPlace("a", { line: 1, column: 9 }), { from: 1, to: 1 });
  assert.deepEqual(errorPlace("ab\ncd", { line: 2, column: 0 }), { from: 3, to: 5 });
  const place = errorPlace('"😀" x', { line: 1, column: 5 });
  assert.deepEqual(place, { from: 5, to: 6 });
});
