// The address of the view.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readProfile } from "../lib/call-profile.js";
import { readOptions, shapeWith } from "../lib/calls-options.js";
import { randomDocument } from "./random-profile.js";

const document = randomDocument(3, { contexts: 100, methods: 8 });
const profile = readProfile(document);

test("an empty address has the defaults", () => {
  const { tab, measure, switches, query, method } = readOptions({}, profile);
  assert.deepEqual([tab, measure, switches.size, query, method], ["flame", "wall", 0, "", -1]);
});

test("without contexts, the first view is the table of methods", () => {
  const { tab, measure, measures } = readOptions({}, readProfile({ ...document, contexts: [] }));
  assert.deepEqual([tab, measure, measures], ["methods", "calls", []]);
});

test("an address restores the view", () => {
  const { label } = profile.methods[5];
  const address = { tab: "callers", measure: "cpu", shape: "inverted,folded", query: "/x/", method: label };
  const { tab, measure, switches, query, method } = readOptions(address, profile);
  assert.deepEqual([tab, measure, query, method], ["callers", "cpu", "/x/", 5]);
  assert.deepEqual([...switches], ["folded", "inverted"]);
});

test("words that mean nothing are ignored", () => {
  const address = { tab: "constructor", measure: "toString", shape: "<b>,,folded", method: "none" };
  const { tab, measure, switches, method } = readOptions(address, profile);
  assert.deepEqual([tab, measure, [...switches], method], ["flame", "wall", ["folded"], -1]);
});

test("a switch is changed in the address", () => {
  assert.equal(shapeWith(new Set(), "threads"), "threads");
  assert.equal(shapeWith(new Set(/** @type {const} */ (["threads", "folded"])), "threads"), "folded");
  assert.equal(shapeWith(new Set(/** @type {const} */ (["threads"])), "folded"), "folded,threads");
});
