// Experiments without permission to edit: the methods are listed.

import assert from "node:assert/strict";

export default async function experimentList(tools, { address, pid, method }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open();
  const axe = {};
  await page.goto(address);
  await page.getByRole("row").filter({ hasText: String(pid) }).getByRole("link").click();
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Experiments" }).click();
  assert.equal(await page.getByRole("button", { name: "Try", exact: true }).count(), 0);
  await page.getByRole("button", { name: "List methods" }).click();
  const decision = page.getByRole("article").filter({ hasText: method });
  await decision.getByText("not tried").waitFor();
  axe.list = await accessibilityProblems(page);
  await screenshot(page, "experiments-list");
  return { axe };
}
