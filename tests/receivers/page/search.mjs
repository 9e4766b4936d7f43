// A search that is watched, and a reload in the middle of it.

import assert from "node:assert/strict";

export default async function search(tools, { address, pid, seconds, method }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open();
  await page.goto(address);
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/#/bottlenecks/${pid}`);
  await page.getByLabel("Search for").fill(String(seconds));
  await page.getByRole("button", { name: "Search", exact: true }).click();

  // The graph grows while the search runs.
  const box = page.locator("a.search-box", { hasText: method }).first();
  await box.waitFor();
  assert.equal(await page.getByRole("progressbar").count(), 1, "the search has ended already");
  const axe = { running: await accessibilityProblems(page) };
  await screenshot(page, "search-running");
  const before = await page.getByRole("progressbar").getAttribute("value");

  // A reload continues with the same search.
  const place = page.url();
  await page.reload();
  await page.getByRole("progressbar").waitFor();
  assert.equal(page.url(), place);
  const after = await page.getByRole("progressbar").getAttribute("value");
  assert.ok(Number(after) >= Number(before), `the search began again: ${before} ${after}`);
  await box.waitFor();
  await page.locator("article").first().waitFor();
  await box.waitFor();
  const colour = await box.locator("rect").evaluate((rect) => getComputedStyle(rect).fill);
  const plain = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--surface"));
  assert.notEqual(colour, plain, "a method above the threshold has a colour");
  assert.match(await box.innerHTML(), /\d %/);
  // The table has the same node, and Enter opens its method.
  const table = page.getByRole("grid", { name: "Examined methods and loops" });
  await table.getByText(method, { exact: false }).first().waitFor();
  await box.scrollIntoViewIfNeeded();
  await screenshot(page, "search-graph");
  axe.done = await accessibilityProblems(page);
  await box.click();
  await page.waitForURL(/#\/method\//);
  await page.locator(".flow-window canvas").first().waitFor();
  return { axe };
}
