// A report from `file:`, beside the page with the same recordings: both show the same figures, and names
// with markup are text.

import assert from "node:assert/strict";

/** The texts of the cells of the first table in an element. */
async function cells(/** @type {import("playwright-core").Locator} */ place) {
  const rows = await place.locator("tbody tr, [role=row]").allInnerTexts();
  return rows.map((text) => text.replace(/\s+/g, " ").trim());
}

export default async function report(tools, { address, file, recordings, figures }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const served = await open();
  await served.goto(address);
  const sent = await open({ local: file });
  const axe = {};
  await sent.goto(file);
  await sent.getByRole("heading", { name: "Recordings" }).first().waitFor();
  axe.report = await accessibilityProblems(sent);
  await screenshot(sent, "report");

  const openBoth = async (/** @type {string} */ name) => {
    await served.goto(`${new URL(address).origin}/#/recordings`);
    await served.getByRole("link", { name, exact: true }).click();
    await sent.getByRole("navigation").getByRole("link", { name, exact: true }).click();
  };
  const compare = async (/** @type {(page: any) => Promise<any>} */ read, /** @type {string} */ what) => {
    const [one, other] = [await read(served), await read(sent)];
    assert.deepEqual(other, one, what);
    assert.ok(one.length > 0, what);
    return one;
  };

  await openBoth(recordings.calls);
  await compare(async (page) => {
    await page.getByRole("tab", { name: "Methods" }).click();
    await page.getByText(figures.calls, { exact: true }).first().waitFor();
    return cells(page.locator(".calls-panel"));
  }, "methods");
  await compare(async (page) => {
    await page.getByRole("tab", { name: "Tree" }).click();
    await page.getByLabel("By thread").check();
    await page.getByText(/onerror/).first().waitFor();
    return cells(page.locator(".calls-panel"));
  }, "tree");
  axe.calls = await accessibilityProblems(sent);
  await sent.getByRole("tab", { name: "Flame graph" }).click();
  await sent.locator("canvas").first().waitFor();
  await screenshot(sent, "report-calls");

  await openBoth(recordings.search);
  await compare(async (page) => {
    await page.getByText(figures.search, { exact: true }).waitFor();
    return (await page.locator(".told p, article").allInnerTexts()).map((text) => text.trim());
  }, "findings");

  await openBoth(recordings.memory);
  await compare(async (page) => {
    const table = page.getByRole("grid", { name: "Accesses" });
    await table.getByText("%").first().waitFor();
    return cells(table);
  }, "accesses");
  await openBoth(recordings.tuning);
  await compare(async (page) => {
    await page.getByText("Nothing was changed").waitFor();
    return page.locator("main").locator(".empty").allInnerTexts();
  }, "experiments");

  await openBoth(recordings.trace);
  await compare(async (page) => {
    await page.getByRole("cell", { name: figures.trace, exact: true }).first().waitFor();
    return cells(page.locator("section[aria-label=Query]"));
  }, "calls of the trace");
  await sent.locator(".timeline canvas").hover({ position: { x: 200, y: 50 } });
  await sent.mouse.wheel(0, -600);
  axe.trace = await accessibilityProblems(sent);
  await screenshot(sent, "report-trace");
  await compare(async (page) => {
    await page.getByLabel("Compare with").selectOption({ index: 1 });
    await page.getByRole("heading", { name: "Where the threads first differ" }).waitFor();
    await page.getByRole("tab", { name: "Tree" }).waitFor();
    return cells(page.locator("section[aria-label='Methods of both traces']"));
  }, "compared methods");

  // Another query needs the trace itself, and says so.
  await sent.getByRole("button", { name: "End the comparison" }).click();
  await sent.getByRole("textbox", { name: "Query" }).fill("calls()");
  await sent.getByRole("button", { name: "Ask" }).click();
  await sent.getByRole("alert").filter({ hasText: "first query only" }).waitFor();

  // The address restores the view, and no name has become an element.
  const again = await open({ context: sent.context(), local: file, dark: true });
  await again.goto(sent.url());
  await again.getByRole("cell", { name: figures.trace, exact: true }).first().waitFor();
  assert.ok(!(await again.title()).includes("hit"));
  assert.equal(await sent.locator("img").count(), 0);
  assert.equal(await sent.locator("script:not([type])").count(), 0);
  return { axe };
}
