// The command of a form.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { recordingCommand, shellWord } from "../lib/calls-command.js";
import { randomNumbers } from "./random-profile.js";

test("a form becomes the command that records the same", () => {
  assert.equal(
    recordingCommand(4711, { pattern: " static shop..* ", seconds: 5, contexts: true }),
    "veneer calls 4711 'static shop..*' --contexts --for 5",
  );
  assert.equal(
    recordingCommand("4711", { pattern: "", seconds: 0.5, contexts: false }),
    "veneer calls 4711 --for 0.5",
  );
});

test("a shell reads each word as it was", () => {
  const random = randomNumbers(6);
  const characters = [..."a'\"\\$`*!;&|<>() ~#{}\n."];
  const words = Array.from({ length: 40 }, () =>
    Array.from({ length: 6 }, () => characters[Math.floor(random() * characters.length)]).join(""),
  );
  const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
  const printed = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" });
  assert.deepEqual(printed.split("\0").slice(0, -1), words);
});
