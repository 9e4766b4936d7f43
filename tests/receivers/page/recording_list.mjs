// All recordings of the server are in each tab: another tab lists, opens and compares what the first one
// recorded.

import assert from "node:assert/strict";

export default async function recordingList(tools, { address, pid, pattern, method }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open();
  await page.goto(address);
  const { origin } = new URL(page.url());
  const record = async () => {
    await page.goto(`${origin}/#/calls/${pid}`);
    await page.getByLabel("Methods").fill(pattern);
    await page.getByLabel("Seconds").fill("0.5");
    await page.getByRole("button", { name: "Record", exact: true }).click();
    await page.getByRole("tab", { name: "Methods" }).click();
    await page.getByText(method).first().waitFor();
  };
  await record();
  await record();

  const other = await open({ context: page.context() });
  await other.goto(`${origin}/#/calls/${pid}`);
  const list = other.getByRole("region", { name: "Recordings" });
  await list.getByRole("link").nth(1).waitFor();
  assert.equal(await list.getByRole("link").count(), 2);
  const axe = { list: await accessibilityProblems(other) };
  await screenshot(other, "calls-list");
  await list.getByRole("link").first().click();
  await other.getByRole("tab", { name: "Methods" }).click();
  await other.getByText(method).first().waitFor();
  await other.getByLabel("Compare with").selectOption({ index: 1 });
  await other.getByText("Compared with another recording.").waitFor();
  await other.waitForURL(/against=r1/);
  await other.getByRole("button", { name: "Delete" }).click();
  await list.getByRole("link").first().waitFor();
  assert.equal(await list.getByRole("link").count(), 1);
  return { axe };
}
