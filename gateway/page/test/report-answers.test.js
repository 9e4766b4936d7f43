// The answers of a report to the requests of the views.

import assert from "node:assert/strict";
import { test } from "node:test";

import { reportAnswers } from "../lib/report-answers.js";
import { ServerError } from "../lib/server-error.js";

/** @type {any} */
const REPORT = {
  recordings: [
    { row: { id: "f1", kind: "calls" }, result: { methods: [] } },
    { row: { id: "f2", kind: "trace" }, threads: { threads: [] }, query: { text: "calls()", answer: { rows: [1] } } },
  ],
  differences: { "f3 f2": { threads: [] } },
};

test("each request of a view is answered from the data", async () => {
  const ask = reportAnswers(REPORT);
  assert.deepEqual((await ask("GET", "api/1/recordings")).files.map((/** @type {any} */ row) => row.id), ["f1", "f2"]);
  assert.equal((await ask("GET", "api/1/recordings/f1")).kind, "calls");
  assert.deepEqual(await ask("GET", "api/1/recordings/f1/result"), { methods: [] });
  assert.deepEqual(await ask("GET", "api/1/recordings/f2/threads"), { threads: [] });
  assert.deepEqual(await ask("GET", "api/1/recordings/f2/difference?against=f3"), { threads: [] });
  assert.deepEqual(await ask("POST", "api/1/recordings/f2/query", { text: "calls()" }), { rows: [1] });
});

test("everything else says that it is not in the report", async () => {
  const ask = reportAnswers(REPORT);
  for (const path of ["recordings/f9", "recordings/f1/threads", "recordings/f2/difference?against=f1", "machine"]) {
    await assert.rejects(ask("GET", `api/1/${path}`), ServerError, path);
  }
  await assert.rejects(ask("POST", "api/1/recordings/f2/query", { text: "events()" }), /first query only/);
  await assert.rejects(ask("POST", "api/1/recordings/f1/query", { text: "events()" }), ServerError);
});
