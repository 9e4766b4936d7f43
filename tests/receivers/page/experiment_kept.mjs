// An experiment until it is decided: the decision, its windows as a picture and as a table, and the plan.

import assert from "node:assert/strict";

/** The most time that the experiment takes, in milliseconds. */
const LIMIT = 300_000;

export default async function experimentKept(tools, { address, pid, method }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open();
  const axe = {};
  await page.goto(address);
  await page.getByRole("row").filter({ hasText: String(pid) }).getByRole("link").click();
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Experiments" }).click();
  await page.getByLabel(/^at most/).fill("240");
  await page.getByRole("button", { name: "Try", exact: true }).click();
  const decision = page.getByRole("article").filter({ hasText: method });
  await decision.getByText("kept", { exact: true }).waitFor({ timeout: LIMIT });
  const place = page.url();
  const id = /recording=(r\d+)/.exec(place)?.[1];
  const tuned = await page.evaluate((one) => fetch(`api/1/recordings/${one}/result`).then((answer) => answer.json()), id);
  const { windows, gain } = tuned.decisions[0];
  assert.match(await decision.innerText(), new RegExp(`${gain.toFixed(2)} times as many`));
  assert.equal(await decision.locator("svg rect").count(), windows.length);
  await screenshot(page, "experiments-kept");
  await decision.getByText("The same as a table").click();
  assert.equal(await decision.locator("tbody tr").count(), windows.length);
  await page.getByText("A plan that does the same at the next start").click();
  assert.equal((await page.locator("pre").filter({ hasText: "optimise" }).innerText()).trim(), tuned.plan.trim());
  axe.kept = await accessibilityProblems(page);
  // The address restores the decision, in the dark colours.
  const other = await open({ context: page.context(), dark: true });
  await other.goto(place);
  await other.getByRole("article").getByText("kept", { exact: true }).waitFor();
  axe.dark = await accessibilityProblems(other);
  return { axe, tuned, place: new URL(place).hash };
}
