import assert from "node:assert/strict";
import { test } from "node:test";

import { matchingClasses, packagesOf } from "../lib/class-tree.js";

const classes = ["Main", "shop.Desk", "shop.Desk$Order", "shop.audit.Book", "shopping.Cart"];

test("classes are grouped by package", () => {
  assert.deepEqual(packagesOf(classes), [
    { name: "", classes: ["Main"] },
    { name: "shop", classes: ["shop.Desk", "shop.Desk$Order"] },
    { name: "shop.audit", classes: ["shop.audit.Book"] },
    { name: "shopping", classes: ["shopping.Cart"] },
  ]);
});

test("a query is a pattern of plans, or a part of a name", () => {
  for (const [query, found] of /** @type {[string, string[]][]} */ ([
    ["", classes],
    ["desk", ["shop.Desk", "shop.Desk$Order"]],
    ["shop.*", ["shop.Desk", "shop.Desk$Order"]],
    ["shop..*", ["shop.Desk", "shop.Desk$Order", "shop.audit.Book"]],
    ["*", ["Main"]],
    ["shop.Desk$*", ["shop.Desk$Order"]],
    ["shop.Desk*::serve(..)", ["shop.Desk", "shop.Desk$Order"]],
    ["(", []],
    ["[*", []],
  ])) {
    assert.deepEqual(matchingClasses(classes, query), found, query);
  }
});
