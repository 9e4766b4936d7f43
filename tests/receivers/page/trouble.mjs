// Names with markup, a narrow screen, ten tabs at once, wrong addresses, and a JVM that dies while it is
// watched. The last step kills the JVM.

import assert from "node:assert/strict";
import process from "node:process";

const METHOD = "Trouble::show(java.lang.String, int)";

export default async function trouble(tools, { address, pid }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open({ expected: ["404 ", "502 ", "Failed to load resource"] });
  await page.goto(address);
  const origin = new URL(page.url()).origin;
  const methodPage = `${origin}/#/method/${pid}?pattern=${encodeURIComponent(METHOD)}&select=b0`;

  // A value with markup is shown as text.
  await page.goto(methodPage);
  await page.locator("aside").getByRole("checkbox").first().check();
  await page.getByRole("button", { name: "Watch", exact: true }).click();
  await page.locator(".probe td", { hasText: "<img src=x" }).first().waitFor();
  assert.equal(await page.locator("img").count(), 0);
  assert.doesNotMatch(await page.title(), /hit/);

  // So is the name of a thread with markup.
  await page.goto(`${origin}/#/trace/${pid}`);
  await page.getByRole("textbox", { name: "Methods" }).fill("Trouble::show(..)");
  await page.getByLabel(/^for/).fill("1");
  await page.getByRole("button", { name: "Record" }).click();
  await page.locator("canvas").waitFor();
  await page.getByRole("cell", { name: "Trouble::show" }).waitFor();
  assert.doesNotMatch(await page.title(), /hit/);

  // Addresses that name nothing.
  await page.goto(`${origin}/#/method/${pid}?pattern=${encodeURIComponent("no.Such::method(..)")}`);
  await page.getByText(/No armed method matches|selects no/).first().waitFor();
  await page.goto(`${origin}/#/bottlenecks/${pid}?recording=r99`);
  await page.getByRole("alert").waitFor();
  await page.goto(`${origin}/#/nonsense/1?%%%`);
  await page.getByRole("heading", { name: "JVMs" }).waitFor();

  // A narrow screen.
  const phone = await open({ width: 390, height: 800, context: undefined });
  await phone.goto(address);
  await phone.goto(methodPage);
  await phone.getByRole("heading", { name: "block 0" }).waitFor();
  const overflow = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than the screen`);
  const narrow = await accessibilityProblems(phone);
  await screenshot(phone, "phone");
  await phone.close();

  // Ten tabs at once, each with the counters of a method.
  const tabs = [];
  for (let n = 0; n < 10; n += 1) {
    tabs.push(await open({ context: page.context() }));
  }
  await Promise.all(tabs.map((tab) => tab.goto(methodPage)));
  for (const tab of tabs) {
    await tab.getByText("The same as a table").click();
    await tab.locator(".flow-table [role=row]").filter({ hasText: /[kMG]\/s/ }).first().waitFor();
  }
  await Promise.all(tabs.map((tab) => tab.close()));

  // The JVM dies.
  await page.goto(methodPage);
  await page.getByText("The same as a table").click();
  process.kill(pid, "SIGKILL");
  await page.getByRole("alert").first().waitFor();
  await screenshot(page, "dead");
  const said = await page.getByRole("alert").first().innerText();
  return { axe: { phone: narrow }, said };
}
