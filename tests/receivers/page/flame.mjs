// A flame graph of a million frames: recorded, read and drawn.

import assert from "node:assert/strict";
import process from "node:process";
import { usedHeap, wheelFrames } from "./frames.mjs";

export default async function flame(tools, { address, pid, pattern, seconds }) {
  const { open, screenshot } = tools;
  const page = await open();
  page.setDefaultTimeout(240_000);
  await page.goto(address);
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/#/calls/${pid}`);
  await page.getByRole("textbox", { name: "Methods" }).fill(pattern);
  await page.getByRole("spinbutton", { name: "Seconds" }).fill(String(seconds));
  const begun = Date.now();
  await page.getByRole("button", { name: "Record", exact: true }).click();
  const area = page.getByRole("application");
  await area.waitFor();
  const shown = (Date.now() - begun) / 1000 - seconds;
  // The program would take a processor from the browser.
  process.kill(pid, "SIGSTOP");
  const frames = Number(/of ([\d,]+) frames/.exec(await area.getAttribute("aria-label"))?.[1].replaceAll(",", ""));
  assert.ok(frames >= 1_000_000, `${frames} frames`);
  await page.waitForTimeout(1000);
  const zoom = await wheelFrames(page, ".flame-area", "zoom", 300);
  const pan = await wheelFrames(page, ".flame-area", "pan", 300);
  await screenshot(page, "flame-of-a-million");
  const heap = await usedHeap(page);
  return { frames, shown, zoom, pan, heap };
}
