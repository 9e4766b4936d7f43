// Two traces in the view Trace: where they first differ, their methods, their trees; and the address that
// restores the comparison.

import assert from "node:assert/strict";

export default async function traceComparison(tools, { address, before, after, method }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open();
  await page.goto(address);
  await page.goto(`${new URL(page.url()).origin}/#/recordings`);
  await page.getByRole("link", { name: after, exact: true }).click();
  const choice = page.getByLabel("Compare with");
  const label = await choice.locator("option").filter({ hasText: before }).innerText();
  await choice.selectOption({ label });
  await page.getByRole("heading", { name: "Where the threads first differ" }).waitFor();

  const read = async (/** @type {import("playwright-core").Page} */ page) => {
    const table = page.locator("section[aria-label='Methods of both traces']");
    const row = table.getByRole("row").filter({ hasText: method }).first();
    await row.waitFor();
    const cells = await row.getByRole("cell").allInnerTexts();
    const headings = await page.locator(".first-difference h3").allInnerTexts();
    const differences = headings.map((text) => /after ([\d,]+) equal/.exec(text)?.[1].replaceAll(",", ""));
    return { row: cells.slice(1, 5), differences };
  };
  const found = await read(page);

  // The trees of both, as a picture and as a table.
  await page.locator("section[aria-label='Trees of both traces'] canvas").first().waitFor();
  await page.getByRole("tab", { name: "Tree" }).click();
  const tree = page.locator(".calls-tree");
  await tree.getByText(method).first().waitFor();
  assert.match(await tree.innerText(), /Before[\s\S]*After/i);
  const axe = { comparison: await accessibilityProblems(page) };
  await screenshot(page, "trace-comparison");

  // A difference leads to its time in the timeline.
  const show = page.getByRole("button", { name: "Show in B" });
  if ((await show.count()) > 0) {
    await show.first().click();
    await page.waitForURL(/from=\d+/);
  }

  const place = page.url();
  const other = await open({ context: page.context(), dark: true });
  await other.goto(place);
  assert.deepEqual(await read(other), found);
  await other.locator(".calls-tree").getByText(method).first().waitFor();
  return { axe, ...found };
}
