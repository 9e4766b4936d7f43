// A class of 5,000 methods, if the parameters ask for it, and a method of thousands of blocks.

import { usedHeap, wheelFrames } from "./frames.mjs";

/** Opens the class, in which every method is in the list. Returns the time until the list is there. */
async function showClass({ screenshot }, page, address) {
  const begun = Date.now();
  await page.goto(address);
  const links = page.locator("section[aria-label='Methods of Methods'] a");
  await links.first().waitFor();
  const time = Date.now() - begun;
  const box = page.getByRole("searchbox", { name: /method/i });
  await box.fill("m4999");
  await page.getByRole("link", { name: "m4999(int)" }).waitFor();
  await screenshot(page, "class-of-5000-methods");
  return time;
}

export default async function wide(tools, { address, pid, withClass }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open();
  // The agent needs some time to describe thousands of blocks.
  page.setDefaultTimeout(120_000);
  await page.goto(address);
  const { origin } = new URL(page.url());
  const axe = {};
  let classTime = null;
  if (withClass) {
    classTime = await showClass(tools, page, `${origin}/#/code/${pid}?class=Methods`);
    axe.class = await accessibilityProblems(page);
  }

  // The method: its picture.
  const begun = Date.now();
  await page.goto(`${origin}/#/method/${pid}?pattern=${encodeURIComponent("Blocks::run(boolean)")}`);
  await page.locator(".flow-window canvas").first().waitFor();
  const pictureTime = Date.now() - begun;
  await page.locator(".flow-table [role=row]").filter({ hasText: /\/s/ }).first().waitFor({ state: "attached" });
  const rateTime = Date.now() - begun;
  // The first second counts the loading of the page: its code is compiled, and glyphs are drawn for the first time.
  await page.waitForTimeout(2_000);
  const zoom = await wheelFrames(page, ".flow-window canvas", "zoom", 120);
  const pan = await wheelFrames(page, ".flow-window canvas", "pan", 120);
  await screenshot(page, "method-of-many-blocks");
  axe.method = await accessibilityProblems(page);
  const heap = await usedHeap(page);
  return { classTime, pictureTime, rateTime, zoom, pan, heap, axe };
}
