// A trace of 100 million events in the timeline.

import assert from "node:assert/strict";
import process from "node:process";
import { usedHeap, wheelFrames } from "./frames.mjs";

export default async function longTrace(tools, { address, pid, pattern, seconds }) {
  const { open, screenshot } = tools;
  const page = await open();
  page.setDefaultTimeout(300_000);
  await page.goto(address);
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/#/trace/${pid}`);
  await page.getByRole("textbox", { name: "Methods" }).fill(pattern);
  await page.getByLabel(/^for/).fill(String(seconds));
  const threads = page.waitForResponse(/\/threads$/, { timeout: 300_000 });
  await page.getByRole("button", { name: "Record" }).click();
  await page.getByRole("progressbar").waitFor();
  await page.getByRole("progressbar").waitFor({ state: "detached" });
  // The program would take a processor from the browser.
  process.kill(pid, "SIGSTOP");
  const begun = Date.now();
  const rows = (await (await threads).json()).threads;
  const calls = rows.reduce((sum, { nodes }) => sum + nodes, 0);
  await page.locator(".timeline canvas").waitFor();
  const shown = (Date.now() - begun) / 1000;
  assert.ok(2 * calls >= 100_000_000, `${2 * calls} events`);
  await page.waitForTimeout(2000);
  const zoom = await wheelFrames(page, ".timeline canvas", "zoom", 300);
  await page.getByRole("button", { name: "Zoom in" }).click();
  const pan = await wheelFrames(page, ".timeline canvas", "pan", 300);
  // Down to single calls.
  await page.locator(".timeline canvas").focus();
  for (let n = 0; n < 26; n += 1) {
    await page.keyboard.press("+");
  }
  await page.waitForTimeout(1500);
  const deepZoom = await wheelFrames(page, ".timeline canvas", "zoom", 300);
  await screenshot(page, "trace-of-100-million");
  const heap = await usedHeap(page);
  return { events: 2 * calls, shown, zoom, pan, deepZoom, heap };
}
