// The source beside the flow graph: live counts of its lines, and lines that select blocks. Also what works
// with the JVM, and a view without a source.

import assert from "node:assert/strict";

export default async function source(tools, { address, without, pid, pattern, call, command }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open();
  const axe = {};
  await page.goto(address);

  // What works with the JVM: the same findings as those of the command.
  await page.getByRole("row").filter({ hasText: String(pid) }).getByRole("button", { name: "Check" }).click();
  const checks = page.getByRole("region", { name: `What works with process ${pid}` });
  await checks.waitFor();
  for (const { what, found } of command) {
    const row = checks.getByRole("row").filter({ has: page.getByRole("rowheader", { name: what, exact: true }) });
    assert.ok((await row.innerText()).includes(found), `${what}: ${found}: ${await row.innerText()}`);
  }
  axe.checks = await accessibilityProblems(page);
  await screenshot(page, "machine-checks");

  // The line of a call in a loop has a rate, and a click selects its block.
  const method = `#/method/${pid}?pattern=${encodeURIComponent(pattern)}`;
  await page.goto(`${new URL(address).origin}/${method}`);
  const line = page.locator(".source tr").filter({ hasText: call });
  await line.filter({ hasText: /\/s/ }).first().waitFor();
  await line.getByRole("button").click();
  await page.getByRole("heading", { name: /^block \d+$/ }).waitFor();
  assert.equal(await line.getByRole("button").getAttribute("aria-pressed"), "true");
  const selected = await page.getByRole("heading", { name: /^block \d+$/ }).innerText();
  const title = await line.getByRole("button").getAttribute("title");
  assert.ok(title?.split(/\D+/).includes(selected.replace("block ", "")), `${title}: ${selected}`);
  axe.source = await accessibilityProblems(page);
  await screenshot(page, "method-source");
  await page.close();

  // Without the sources, the view says how to give them.
  const bare = await open({ own: "any" });
  await bare.goto(without);
  await bare.goto(`${new URL(without).origin}/${method}`);
  await bare.getByText("veneer serve --source DIR").waitFor();
  axe.without = await accessibilityProblems(bare);
  await bare.close();
  return { axe };
}
