// Searches, compared with a test of each path.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readProfile } from "../lib/call-profile.js";
import { buildTree } from "../lib/context-tree.js";
import { matchedWeight, readQuery, searchTree } from "../lib/tree-search.js";
import { randomDocument, randomNumbers } from "./random-profile.js";

/** @typedef {import("../lib/tree-builder.js").ContextTree} ContextTree */
/** @typedef {import("../lib/tree-search.js").SearchResult} SearchResult */

/** @param {number} seed */
function tree(seed) {
  const document = randomDocument(seed, { contexts: 5 + ((seed * 17) % 300), methods: 12 });
  return /** @type {ContextTree} */ (buildTree(readProfile(document), { measure: "self" }));
}

test("the weight is that of the nodes at or below a match, each counted once", () => {
  for (let seed = 0; seed < 80; seed++) {
    const one = tree(seed);
    const query = ["method3", "METHOD1", "/method(1|2)\\b/", "/^shop\\.part2/", "part"][seed % 5];
    const result = /** @type {SearchResult} */ (searchTree(one, query));
    const matches = (/** @type {number} */ node) => result.frames[one.frame[node]] === 1;
    const isCovered = (/** @type {number} */ node) => {
      let at = node;
      while (at >= 0 && !matches(at)) {
        at = one.parent[at];
      }
      return at >= 0;
    };
    for (let root = 0; root < one.count; root += 7) {
      let weight = 0;
      let nodes = 0;
      for (let node = root; node < one.end[root]; node++) {
        weight += isCovered(node) ? one.own[node] : 0;
        nodes += matches(node) ? 1 : 0;
      }
      assert.deepEqual(matchedWeight(one, result, root), { nodes, weight });
    }
  }
});

test("levels count the matches before each position", () => {
  const one = tree(11);
  const result = /** @type {SearchResult} */ (searchTree(one, "method5"));
  let count = 0;
  one.levelNodes.forEach((node, position) => {
    assert.equal(result.levelCounts[position], count);
    count += one.frames[one.frame[node]].label.includes("method5(") ? 1 : 0;
  });
  assert.equal(result.levelCounts[one.count], count);
});

test("texts match in any case, expressions as written", () => {
  const matches = (/** @type {string} */ query) => readQuery(query).matches("shop.Cart::add(int[])");
  for (const query of ["cart", "ADD(INT[])", "/Cart::(add|remove)/", "/cart/i", "/\\(.*\\)$/", "/"]) {
    assert.equal(matches(query), query !== "/", query);
  }
  for (const query of ["/cart/", "trolley", "/^Cart/"]) {
    assert.equal(matches(query), false, query);
  }
  assert.equal(readQuery("").isEmpty, true);
});

test("a malformed expression is a problem, never an exception", () => {
  for (const query of ["/(/", "/[/", "/a{2,1}/", "/\\/", "/(?<=/", "/a/ii", "/*/", `/${"x".repeat(600)}/`]) {
    const read = readQuery(query);
    assert.equal(typeof read.problem, "string", query);
    assert.equal(read.matches("anything"), false);
    const result = /** @type {SearchResult} */ (searchTree(tree(1), query));
    assert.equal(result.problem, read.problem);
    assert.deepEqual(matchedWeight(tree(1), result, 0), { nodes: 0, weight: 0 });
  }
});

test("random texts never throw", () => {
  const random = randomNumbers(3);
  const characters = [..."/()[]{}*+?|\\^$.a-9:=!<>u\u202e"];
  const one = tree(2);
  for (let round = 0; round < 3000; round++) {
    const length = Math.floor(random() * 9);
    const text = Array.from({ length }, () => characters[Math.floor(random() * characters.length)]).join("");
    searchTree(one, round % 2 === 0 ? `/${text}/` : text);
  }
});

test("a slow search ends and says so", () => {
  const document = randomDocument(4, { contexts: 50, methods: 500 });
  const many = /** @type {ContextTree} */ (buildTree(readProfile(document), { measure: "self" }));
  let now = 0;
  const result = searchTree(many, "/method/", () => (now += 300));
  assert.match(/** @type {string} */ (result?.problem), /It ended after 128 of 502 names/);
});
