// The views that record: bottlenecks, calls, traces; and a plan.

import assert from "node:assert/strict";

export default async function recordings(tools, { address, pid, pattern, method }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open({ expected: ["400 ", "502 ", "Failed to load resource"] });
  const axe = {};
  const check = async (/** @type {string} */ name) => {
    axe[name] = await accessibilityProblems(page);
    await screenshot(page, name);
  };
  await page.goto(address);
  const menu = page.getByRole("navigation", { name: "Views" });
  await page.getByRole("row").filter({ hasText: String(pid) }).getByRole("link").click();

  await menu.getByRole("link", { name: "Bottlenecks" }).click();
  await page.getByLabel("Search for").fill("4");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByRole("progressbar").waitFor();
  await page.locator("article").first().waitFor();
  assert.match(await page.locator("article").first().innerText(), /%/);
  await check("bottlenecks");

  await menu.getByRole("link", { name: "Calls" }).click();
  await page.locator(".calls-field input").first().fill(pattern);
  await page.locator(".calls-field input").nth(1).fill("1");
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await page.getByRole("tab", { name: "Flame graph" }).waitFor();
  await page.locator("canvas").first().waitFor();
  await check("calls");
  await page.getByRole("tab", { name: "Methods" }).click();
  await page.getByText(method.split("::")[1]).first().waitFor();
  await check("calls-methods");

  await menu.getByRole("link", { name: "Trace" }).click();
  await page.getByRole("textbox", { name: "Methods" }).fill(pattern);
  await page.getByLabel(/^for/).fill("1");
  await page.getByRole("button", { name: "Record" }).click();
  await page.locator("canvas").waitFor();
  await page.getByRole("cell", { name: method }).first().waitFor();
  const canvas = page.locator("canvas");
  await canvas.hover({ position: { x: 300, y: 50 } });
  for (let n = 0; n < 8; n += 1) {
    await page.mouse.wheel(0, -600);
    await page.waitForTimeout(150);
  }
  await canvas.hover({ position: { x: 301, y: 50 } });
  await page.waitForTimeout(500);
  await check("trace");
  const address_ = page.url();
  assert.match(address_, /from=\d+/);
  await page.getByRole("textbox", { name: "Query" }).fill("nonsense(");
  await page.getByRole("button", { name: "Ask" }).click();
  await page.getByRole("alert").waitFor();

  await menu.getByRole("link", { name: "Plan" }).click();
  await page.getByLabel("The text of the plan").fill('print("hello " + 6 * 7);');
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("hello 42").waitFor();
  await page.getByLabel("The text of the plan").fill("nonsense(");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await check("plan");
  return { axe };
}
