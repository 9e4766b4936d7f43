// Recordings on disk, without a JVM: the list, each view, addresses that restore them, and files that are
// damaged, cut or of a later version.

import assert from "node:assert/strict";

/** The accesses of a row of a memory profile. @param {{reads: number, writes: number, fetches: number}} row */
function total({ reads, writes, fetches }) {
  return reads + writes + fetches;
}

export default async function files(tools, { address, recordings, damaged, figures }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open({ expected: ["502 ", "Failed to load resource"] });
  const axe = {};
  const check = async (/** @type {string} */ name) => {
    axe[name] = await accessibilityProblems(page);
    await screenshot(page, name);
  };
  await page.goto(address);
  const menu = page.getByRole("navigation", { name: "Views" });
  await menu.getByRole("link", { name: "Recordings" }).click();
  const row = (/** @type {string} */ name) =>
    page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  await row(recordings.calls).waitFor();
  assert.equal(await row(damaged.link).count(), 0, "a symbolic link is listed");
  await check("recordings");

  // Each kind by its link. The figures are those of the commands.
  const places = {};
  const openFile = async (/** @type {string} */ name) => {
    await menu.getByRole("link", { name: "Recordings" }).click();
    await row(name).getByRole("link").click();
  };
  await openFile(recordings.calls);
  await page.getByRole("tab", { name: "Methods" }).click();
  await page.getByText(figures.calls, { exact: true }).first().waitFor();
  places.calls = page.url();
  await check("file-calls");
  await openFile(recordings.search);
  await page.getByText(figures.search, { exact: true }).waitFor();
  places.search = page.url();
  await check("file-search");
  await openFile(recordings.record);
  await page.locator("article, .empty").first().waitFor();
  await openFile(recordings.trace);
  await page.getByRole("cell", { name: figures.trace, exact: true }).first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Record", exact: true }).count(), 0, "a form without a JVM");
  places.trace = page.url();
  await check("file-trace");
  await openFile(recordings.memory);
  await page.getByLabel("Sum by").selectOption("site");
  const table = page.getByRole("grid", { name: "Accesses" });
  await table.getByText(figures.memory[0].name).waitFor();
  // The rows are those of the command, in its order, with all its counts.
  const rows = await table.getByRole("row").allInnerTexts();
  figures.memory.forEach((/** @type {any} */ row, /** @type {number} */ at) => {
    const text = rows[at + 1].replaceAll(",", "");
    const [{ levels }] = row.caches;
    for (const figure of [row.name, total(row), ...levels.map((one) => one.misses)]) {
      assert.ok(text.includes(String(figure)), `${figure}: ${text}`);
    }
  });
  places.memory = page.url();
  await check("file-memory");
  await table.getByRole("button", { name: "Accesses" }).click();
  const most = figures.memory.toSorted((a, b) => total(b) - total(a))[0];
  await table.getByRole("row").nth(1).getByText(most.name).waitFor();
  await openFile(recordings.tuning);
  await page.getByText("Nothing was changed").waitFor();
  await check("file-tuning");

  // The addresses restore the views in another window, which has the dark colours.
  const other = await open({ context: page.context(), dark: true });
  await other.goto(places.calls);
  await other.getByText(figures.calls, { exact: true }).first().waitFor();
  await other.goto(places.search);
  await other.getByText(figures.search, { exact: true }).waitFor();
  await other.goto(places.trace);
  await other.getByRole("cell", { name: figures.trace, exact: true }).first().waitFor();
  await other.goto(places.memory);
  await other.getByRole("grid", { name: "Accesses" }).getByText(figures.memory[0].name).waitFor();
  await other.close();

  // Files that are not whole say what is wrong and what to do.
  const said = {};
  for (const [name, wanted] of Object.entries(damaged.texts)) {
    await openFile(name);
    const texts = page.locator(".error, .calls-notice, .warning");
    await texts.filter({ hasText: new RegExp(wanted[0]) }).first().waitFor();
    said[name] = (await texts.allInnerTexts()).join(" ").replace(/\s+/g, " ");
    assert.match(said[name], new RegExp(wanted[1]), name);
  }
  await check("file-damaged");

  // A phone.
  const phone = await open({ context: page.context() });
  await phone.setViewportSize({ width: 390, height: 800 });
  await phone.goto(`${new URL(address).origin}/#/recordings`);
  await phone.getByRole("link", { name: recordings.calls, exact: true }).waitFor();
  const width = await phone.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `the page is ${width} pixels wide`);
  await screenshot(phone, "recordings-phone");
  return { axe, said };
}
