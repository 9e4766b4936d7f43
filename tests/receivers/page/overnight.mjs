// Hours of use in minutes: the same events, faster. The heap of the page and the memory of the server do not
// grow.
//
// The ordinary page shows the counts of one method and one watch: 14 events a second. Here, more instruments
// and a plan that prints make the events, and the views change all the time.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { usedHeap } from "./frames.mjs";

/** Events a second of a page with a flow graph (10 updates) and a watch (4 prints). */
const ORDINARY_RATE = 14;
const HOURS = 8;

/** The resident memory of a process in bytes. */
function residentBytes(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(kilobytes) * 1024;
}

export default async function overnight(tools, { address, pid, serverPid, pattern, minutes }) {
  const { open } = tools;
  const page = await open();
  let events = 0;
  page.on("websocket", (socket) => socket.on("framereceived", () => (events += 1)));
  await page.goto(address);
  const { origin } = new URL(page.url());
  const method = `${origin}/#/method/${pid}?pattern=${encodeURIComponent(pattern)}`;
  const measure = async () => {
    await page.goto(`${origin}/#/machine`);
    await page.getByRole("heading", { name: "JVMs" }).waitFor();
    // The server detaches, and the browser collects.
    await page.waitForTimeout(2000);
    return { heap: await usedHeap(page), resident: residentBytes(serverPid), events };
  };
  const round = async () => {
    await page.goto(method);
    await page.locator(".flow-window canvas").first().waitFor();
    await page.getByText("The same as a table").click();
    for (let n = 0; n < 5; n += 1) {
      await page.getByRole("button", { name: "Counter", exact: true }).click();
      await page.getByRole("button", { name: /^Watch/ }).click();
    }
    await page.locator(".probe td").first().waitFor();
    await page.waitForTimeout(4000);
    // A plan that prints a line in each callback, and many callbacks.
    await page.goto(`${origin}/#/plan/${pid}`);
    const source = 'every(0.05, || { for n in 0..400 { print(`line ${n}`) } });';
    await page.getByLabel("The text of the plan").fill(source);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator("pre[aria-label='Output of the plan']").waitFor();
    await page.waitForTimeout(6000);
    // Each view once.
    for (const view of ["code", "bottlenecks", "calls", "trace"]) {
      await page.goto(`${origin}/#/${view}/${pid}`);
      await page.waitForTimeout(100);
    }
  };
  // The first rounds compile the page's code and fill its caches.
  await round();
  await round();
  const begun = Date.now();
  const measured = [await measure()];
  const first = events;
  let rounds = 0;
  const wanted = HOURS * 3600 * ORDINARY_RATE;
  // On a busy machine, the events take longer.
  while (events - first < wanted && Date.now() - begun < minutes * 60_000) {
    await round();
    rounds += 1;
    measured.push(await measure());
  }
  const seconds = (Date.now() - begun) / 1000;
  const passed = events - first;
  const hours = passed / ORDINARY_RATE / 3600;
  const factor = (hours * 3600) / seconds;
  assert.ok(hours >= HOURS, `${passed} events are ${hours.toFixed(1)} hours`);
  return { hours, factor, seconds, rounds, events: passed, measured };
}
