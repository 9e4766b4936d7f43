// Costs of methods and arcs, compared with their definitions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { calleesOf, callersOf, costliestMethod, methodCosts, outermostContexts } from "../lib/call-costs.js";
import { availableMeasures, readProfile } from "../lib/call-profile.js";
import { randomDocument } from "./random-profile.js";

/** @param {number} seed */
function randomSmall(seed) {
  return randomDocument(seed, { contexts: 1 + ((seed * 11) % 200), methods: 2 + (seed % 8) });
}

/**
 * @param {any[]} contexts
 * @param {number} id
 */
function isOutermost(contexts, id) {
  let at = contexts[id].parent;
  while (at !== undefined && contexts[at].method !== contexts[id].method) {
    at = contexts[at].parent;
  }
  return at === undefined;
}

test("a context is outermost if its method is not above it", () => {
  for (let seed = 0; seed < 60; seed++) {
    const document = randomSmall(seed);
    const found = outermostContexts(readProfile(document));
    document.contexts.forEach((_, id) => {
      assert.equal(found[id] === 1, isOutermost(document.contexts, id));
    });
  }
});

test("a task of another thread is not part of its parent", () => {
  const contexts = [
    { id: 0, method: 0, calls: 1, wall_ns: 5, self_ns: 5, origin: "virtual" },
    { id: 1, parent: 0, method: 0, calls: 1, wall_ns: 9, self_ns: 9, origin: "handover" },
  ];
  const methods = [{ id: 0, class: "A", method: "m", descriptor: "()V", entries: 2 }];
  assert.equal(methodCosts(readProfile({ methods, contexts })).total[0], 14);
});

test("costs are sums over the contexts, the total over the outermost ones", () => {
  for (let seed = 0; seed < 60; seed++) {
    const document = randomSmall(seed);
    const costs = methodCosts(readProfile(document));
    document.methods.forEach((method, id) => {
      const own = document.contexts.filter((context) => context.method === id);
      const sum = (/** @type {(context: any) => number} */ value) =>
        own.reduce((all, context) => all + value(context), 0);
      assert.equal(costs.calls[id], method.entries);
      assert.equal(costs.self[id], sum(({ self_ns }) => self_ns));
      assert.equal(costs.cpu[id], sum(({ self_cpu_ns }) => self_cpu_ns));
      assert.equal(
        costs.total[id],
        sum((context) => (isOutermost(document.contexts, context.id) ? context.wall_ns : 0)),
      );
    });
    const roots = document.contexts.filter(({ parent }) => parent === undefined);
    assert.equal(costs.sums.self, roots.reduce((all, { wall_ns }) => all + wall_ns, 0));
  }
});

test("arcs have the counts of the edges and the times of the contexts", () => {
  for (let seed = 0; seed < 60; seed++) {
    const document = randomSmall(seed);
    const profile = readProfile(document);
    const { contexts, edges } = document;
    document.methods.forEach((_, method) => {
      for (const arc of calleesOf(profile, method)) {
        const own = contexts.filter(
          (context) => context.method === arc.method && contexts[context.parent]?.method === method,
        );
        const count = edges.find(({ caller, callee }) => caller === method && callee === arc.method).count;
        assert.equal(arc.calls, count);
        assert.equal(arc.self, own.reduce((all, { self_ns }) => all + self_ns, 0));
        const outer = own.filter(({ id }) => isOutermost(contexts, id));
        assert.equal(arc.descendants, outer.reduce((all, { wall_ns, self_ns }) => all + wall_ns - self_ns, 0));
        const caller = callersOf(profile, arc.method).find((one) => one.method === method);
        assert.deepEqual(caller, { ...arc, method });
      }
      const incoming = edges.filter(({ callee }) => callee === method);
      assert.equal(callersOf(profile, method).length, incoming.length);
    });
  }
});

test("callers and callees are in the order of gprof", () => {
  const profile = readProfile(randomDocument(9, { contexts: 500, methods: 9 }));
  for (let method = 0; method < 9; method++) {
    const callers = callersOf(profile, method).map(({ calls }) => calls);
    const callees = calleesOf(profile, method).map(({ calls }) => calls);
    assert.deepEqual(callers, [...callers].sort((a, b) => a - b));
    assert.deepEqual(callees, [...callees].sort((a, b) => b - a));
  }
});

test("without edges, the counts are those of the contexts", () => {
  const document = { ...randomSmall(12), edges: [] };
  const profile = readProfile(document);
  const calls = document.methods.flatMap((_, method) => calleesOf(profile, method)).map((arc) => arc.calls);
  const expected = document.contexts.filter(({ parent }) => parent !== undefined);
  assert.equal(
    calls.reduce((all, one) => all + one, 0),
    expected.reduce((all, one) => all + one.calls, 0),
  );
});

test("the costliest method has the most self time, or the most calls", () => {
  const document = randomSmall(40);
  const profile = readProfile(document);
  const { self, calls } = methodCosts(profile);
  assert.equal(self[costliestMethod(profile)], Math.max(...self));
  const counts = readProfile({ ...document, contexts: [] });
  assert.equal(calls[costliestMethod(counts)], Math.max(...calls));
  assert.equal(costliestMethod(readProfile({})), -1);
});

test("measures without values are not available", () => {
  const document = randomSmall(30);
  assert.deepEqual(availableMeasures(readProfile(document)), ["calls", "wall", "self", "cpu", "allocations"]);
  document.contexts.forEach((context) => {
    context.self_cpu_ns = 0;
    context.allocations = 0;
  });
  assert.deepEqual(availableMeasures(readProfile(document)), ["calls", "wall", "self"]);
  assert.deepEqual(availableMeasures(readProfile({ ...document, contexts: [] })), []);
});

test("methods of one name are distinguished by their loader", () => {
  const method = { class: "A", method: "m", descriptor: "()V", entries: 1 };
  const loaders = [
    { id: 0, name: "app", number: 1 },
    { id: 1, name: "app", number: 2 },
  ];
  const { methods } = readProfile({ loaders, methods: [0, 1].map((id) => ({ id, loader: id, ...method })) });
  assert.deepEqual(methods.map(({ label }) => label), ["A::m() [app]", "A::m() [app#2]"]);
  assert.notEqual(methods[0].identity, methods[1].identity);
});
