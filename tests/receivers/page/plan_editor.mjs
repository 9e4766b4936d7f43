// The plan editor by keyboard: completions, an error in its place, and a dry run.

import assert from "node:assert/strict";

export default async function planEditor(tools, { address, pid, className, method }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open({ expected: ["400 ", "502 ", "Failed to load resource"] });
  await page.goto(address);
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/#/plan/${pid}`);
  const field = page.getByLabel("The text of the plan");
  const list = page.getByRole("listbox", { name: "Completions" });
  await field.fill("");

  // A function, a class, a method, and a function with a receiver.
  await field.pressSequentially("let h = meth");
  await list.getByRole("option", { name: "methods()" }).waitFor();
  await page.keyboard.press("Enter");
  assert.equal(await field.inputValue(), "let h = methods(");
  await field.pressSequentially(`"${className.slice(0, 4)}`);
  await list.getByRole("option", { name: className, exact: true }).waitFor();
  const axe = { completions: await accessibilityProblems(page) };
  await screenshot(page, "plan-completions");
  while ((await list.locator("[aria-selected=true]").innerText()) !== className) {
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Tab");
  assert.equal(await field.inputValue(), `let h = methods("${className}`);
  await field.pressSequentially(`::${method.slice(0, 2)}`);
  await list.getByRole("option", { name: new RegExp(`::${method}\\(`) }).first().waitFor();
  await page.keyboard.press("Enter");
  assert.match(await field.inputValue(), new RegExp(`${className}::${method}\\(`));
  await field.pressSequentially('").befo');
  await list.getByRole("option", { name: "before()" }).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await list.count(), 0);
  await field.pressSequentially("re(countr());");

  // A dry run finds the error, and marks its place.
  const check = page.getByRole("button", { name: "Check without running" });
  await check.click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  const said = await alert.innerText();
  assert.match(said, /Line 1, column \d+: no function `countr\(\)`/);
  assert.equal(await page.locator(".plan-mirror mark").innerText(), "countr");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  axe.error = await accessibilityProblems(page);
  await screenshot(page, "plan-error");
  await page.getByRole("button", { name: "Go to it" }).click();
  const chosen = await field.evaluate((one) => one.value.slice(one.selectionStart, one.selectionEnd));
  assert.equal(chosen, "countr");
  await page.keyboard.type("counter");
  assert.equal(await page.locator(".plan-mirror mark").count(), 0, "the mark stays after the text changed");

  // The corrected plan: what would be attached, and nothing is.
  await check.click();
  const dry = page.getByRole("region", { name: "Dry run" });
  await dry.getByRole("row").filter({ hasText: className }).waitFor();
  assert.match(await dry.innerText(), /counter before[^]*Nothing was attached/);
  axe.dry = await accessibilityProblems(page);
  await screenshot(page, "plan-dry-run");

  // An error that only the agent finds is marked, too.
  await field.fill(`print(1);\nmethods("${className}::${method}(..)").before(|p| { let t = p["nosuch"]; });`);
  await field.press("Control+Enter");
  await alert.waitFor();
  assert.match(await alert.innerText(), /Line 2[^]*nosuch/);
  return { axe, said };
}
