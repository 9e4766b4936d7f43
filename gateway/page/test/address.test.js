import assert from "node:assert/strict";
import { test } from "node:test";

import { formatAddress, parseAddress } from "../lib/address.js";

test("an address is restored from its text", () => {
  for (const address of /** @type {import("../lib/address.js").Address[]} */ ([
    { view: "machine", pid: null, parts: {} },
    { view: "code", pid: 4711, parts: { query: "shop..*" } },
    { view: "method", pid: 1, parts: { pattern: "a.B::m(int, java.lang.String[])", select: "e3-4" } },
    { view: "calls", pid: 7, parts: { query: "a&b=c?d#e/f%20 ü" } },
  ])) {
    assert.deepEqual(parseAddress(formatAddress(address)), address);
  }
});

test("anything else leads to the list of JVMs", () => {
  for (const hash of ["", "#", "#/", "#?x", "/"]) {
    assert.equal(parseAddress(hash).view, "machine");
  }
  for (const hash of ["#/code/x", "#/code/-1", "#/code/1e9", "#/code/99999999999"]) {
    assert.equal(parseAddress(hash).pid, null);
  }
});
