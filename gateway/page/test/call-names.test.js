// Names of methods as text.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  fittingLabel,
  methodLabel,
  packageOf,
  parameterTypes,
  plainText,
  shortMethodLabel,
} from "../lib/call-names.js";
import { randomNumbers } from "./random-profile.js";

/** @param {string} className @param {string} method @param {string} descriptor */
const name = (className, method, descriptor) => ({ class: className, method, descriptor });

test("methods are named as the commands name them", () => {
  const serve = name("shop.Desk$Inner", "serve", "(Ljava/lang/String;[I)V");
  assert.equal(methodLabel(serve), "shop.Desk$Inner::serve(java.lang.String, int[])");
  assert.equal(shortMethodLabel(serve), "Desk$Inner::serve(String, int[])");
  const deep = name("a.Größe", "m", "(J[[La/B$C;Z)Ljava/util/List;");
  assert.equal(methodLabel(deep), "a.Größe::m(long, a.B$C[][], boolean)");
  assert.equal(methodLabel(name("Main", "<init>", "()V")), "Main::<init>()");
  assert.equal(methodLabel(name("", "beyond 64 receivers", "")), "[beyond 64 receivers]");
  assert.equal(shortMethodLabel(name("", "beyond 64 receivers", "")), "[beyond 64 receivers]");
});

test("malformed descriptors are shown as they are", () => {
  for (const descriptor of ["", "(Q)V", "(La/B)V", "([)V", "(L;)V", "(I", "I)V", "(["]) {
    assert.equal(parameterTypes(descriptor), null, descriptor);
    assert.equal(methodLabel(name("A", "m", descriptor)), `A::m${descriptor}`);
  }
  assert.deepEqual(parameterTypes("()V"), []);
});

test("characters that control the display are replaced", () => {
  const controls = "a\u202eb\u0000c\u2066d\u2028e\u200ff\u061cg\u0085";
  assert.equal(plainText(controls), "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg\ufffd");
  assert.equal(plainText("<img src=x onerror=alert(1)> Größe 数"), "<img src=x onerror=alert(1)> Größe 数");
  assert.ok(!/[\u202a-\u202e]/.test(methodLabel(name("a.\u202eB", "m\u202d", "(\u202c)V"))));
});

test("the package is the part before the last dot", () => {
  assert.equal(packageOf("shop.cart.Item"), "shop.cart");
  assert.equal(packageOf("Main"), "");
});

test("a fitting label has at most the characters that have room", () => {
  const [label, short] = ["shop.Desk::serve(int)", "Desk::serve(int)"];
  assert.equal(fittingLabel(label, short, 21), label);
  assert.equal(fittingLabel(label, short, 20), short);
  assert.equal(fittingLabel(label, short, 15), "Desk::serve");
  assert.equal(fittingLabel(label, short, 6), "Desk:…");
  assert.equal(fittingLabel(label, short, 1), "");
  assert.equal(fittingLabel("a::\u{1d400}\u{1d400}", "\u{1d400}\u{1d400}", 2), "…");
  const random = randomNumbers(1);
  for (let round = 0; round < 200; round++) {
    const room = Math.floor(random() * 30);
    assert.ok(fittingLabel(label, short, room).length <= room);
  }
});

test("random descriptors never throw", () => {
  const random = randomNumbers(4);
  const characters = [..."([)L;/IJQ.V"];
  for (let round = 0; round < 5000; round++) {
    const length = Math.floor(random() * 12);
    const text = Array.from({ length }, () => characters[Math.floor(random() * characters.length)]).join("");
    const types = parameterTypes(text);
    assert.ok(types === null || types.every((type) => type.length > 0));
  }
});
