// Rows of the tables of methods, callers and callees.

import assert from "node:assert/strict";
import { test } from "node:test";

import { butterflyOf, sitesText } from "../lib/butterfly-rows.js";
import { readProfile } from "../lib/call-profile.js";
import { methodTable, sortedRows } from "../lib/method-rows.js";
import { randomDocument } from "./random-profile.js";

/** @typedef {import("../lib/method-rows.js").MethodKey} MethodKey */

const profile = readProfile(randomDocument(31, { contexts: 400, methods: 30 }));

test("rows are ordered by any column, in both directions", () => {
  const table = methodTable(profile, null);
  const keys = /** @type {MethodKey[]} */ (["label", "calls", "total", "self", "cpu", "allocations", "share"]);
  for (const key of keys) {
    const values = (/** @type {boolean} */ isDescending) =>
      sortedRows(table, { key, isDescending, query: "" }).map((row) => row[/** @type {"calls"} */ (key)]);
    const ascending = values(false);
    assert.equal(ascending.length, 30);
    ascending.slice(1).forEach((value, at) => assert.ok(ascending[at] <= value));
    assert.deepEqual(values(true), ascending.slice().reverse());
  }
});

test("a query selects rows, and the shares are those of all rows", () => {
  const table = methodTable(profile, null);
  const options = { key: /** @type {MethodKey} */ ("self"), isDescending: true };
  assert.equal(sortedRows(table, { ...options, query: "/method1\\d/" }).length, 10);
  assert.equal(sortedRows(table, { ...options, query: "/(/" }).length, 0);
  const sum = table.rows.reduce((all, { share }) => all + share, 0);
  assert.ok(Math.abs(sum - 1) < 1e-9);
});

test("without contexts, the shares are those of the calls", () => {
  const document = randomDocument(2, { contexts: 100, methods: 5 });
  const table = methodTable(readProfile({ ...document, contexts: [] }), null);
  assert.deepEqual([table.hasTimes, table.hasCpu, table.hasAllocations], [false, false, false]);
  const calls = table.rows.reduce((all, row) => all + row.calls, 0);
  table.rows.forEach((row) => assert.equal(row.share, row.calls / calls));
});

test("a comparison has the methods of both recordings", () => {
  const earlier = randomDocument(8, { contexts: 200, methods: 40 });
  earlier.methods.reverse();
  const { rows } = methodTable(profile, readProfile(earlier));
  assert.equal(rows.length, 40);
  const own = rows.filter(({ method }) => method < 0);
  assert.equal(own.length, 10);
  const entries = earlier.methods.reduce((all, method) => all + method.entries, 0);
  assert.equal(rows.reduce((all, { callsBefore }) => all + callsBefore, 0), entries);
  const sorted = sortedRows(methodTable(profile, readProfile(earlier)), {
    key: "change",
    isDescending: false,
    query: "",
  });
  const changes = sorted.map(({ self, selfBefore }) => self - selfBefore);
  changes.slice(1).forEach((change, at) => assert.ok(changes[at] <= change));
});

test("calls that no edge explains are a row of the callers", () => {
  const methods = ["a", "b"].map((method, id) => {
    return { id, class: "A", method, descriptor: "()V", entries: 10, residue: 10 - 7 * id };
  });
  const edges = [{ caller: 0, callee: 1, bci: 4, line: 12, kind: "static", count: 7 }];
  const small = readProfile({ methods, edges });
  const { callers, callees, facts, hasTimes } = butterflyOf(small, 1);
  assert.deepEqual(callers.map(({ label, calls, share }) => [label, calls, share]), [
    ["[native code, the JVM, or classes that were not recorded]", "3", "30.0 %"],
    ["A::a()", "7", "70.0 %"],
  ]);
  assert.equal(callers[1].sites, "line 12, static");
  assert.deepEqual([callees.length, hasTimes], [0, false]);
  assert.deepEqual(facts[0], { term: "calls", value: "10" });
});

test("call sites are lines, those with the most calls first", () => {
  const site = (/** @type {number} */ line, /** @type {number} */ calls, bci = 0) => {
    return { line, bci, kind: "virtual", calls };
  };
  assert.equal(sitesText([]), "");
  assert.equal(sitesText([site(12, 5)]), "line 12, virtual");
  assert.equal(sitesText([site(-1, 5, 7)]), "bytecode 7, virtual");
  assert.equal(sitesText([site(40, 1000), site(-1, 3, 9)]), "lines 40 (1,000), bytecode 9 (3)");
  assert.equal(
    sitesText([1, 2, 3, 4, 5, 6].map((line) => site(line, 9))),
    "lines 1 (9), 2 (9), 3 (9), 4 (9), … 2 more",
  );
});
