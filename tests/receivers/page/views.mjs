// Every view on a running program: from the list of JVMs to a method's loop, its variables, an edit, a
// search, a call graph, a trace and a plan; and back to nothing attached.

import assert from "node:assert/strict";

export default async function views(tools, parameters) {
  const { open, screenshot, accessibilityProblems } = tools;
  const { address, pid, program, className, method } = parameters;
  const page = await open();
  const axe = {};
  const check = async (/** @type {string} */ name) => {
    axe[name] = await accessibilityProblems(page);
    await screenshot(page, name);
  };
  await page.goto(address);
  assert.ok(!page.url().includes("token"), `the token stays in the address: ${page.url()}`);

  // The list of JVMs.
  const row = page.getByRole("row").filter({ hasText: String(pid) });
  await row.getByRole("link", { name: program }).waitFor();
  await check("machine");
  await row.getByRole("link").click();

  // Packages, classes and methods.
  await page.getByRole("searchbox").fill(className);
  await page.locator("nav[aria-label=Classes] a", { hasText: className }).first().click();
  const link = page.locator("section[aria-label^='Methods of'] a", { hasText: method }).first();
  await link.waitFor();
  await check("code");
  await link.click();

  // The flow graph with live counts, also as a table.
  await page.getByText("The same as a table").click();
  const rows = page.locator(".flow-table [role=row]");
  await rows.filter({ hasText: /[kMG]\/s/ }).first().waitFor();
  await check("method");

  // A counter at a block: the time from the click until it shows passes.
  await rows.filter({ hasText: "loop" }).first().click();
  await page.getByRole("heading", { name: /^block \d+$/ }).waitFor();
  const firstHit = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const button = [...document.querySelectorAll("aside button")].find(
          (one) => one.textContent === "Counter",
        );
        const clicked = performance.now();
        const observer = new MutationObserver(() => {
          if (/[1-9][\d,]* passes/.test(document.querySelector(".probe")?.textContent ?? "")) {
            observer.disconnect();
            resolve(performance.now() - clicked);
          }
        });
        observer.observe(document.body, { childList: true, subtree: true, characterData: true });
        button.click();
      }),
  );

  // The values of variables, and the plan that shows the same.
  await page.locator("aside").getByRole("checkbox").first().check();
  await page.getByRole("button", { name: "Watch", exact: true }).click();
  await page.locator(".probe td").first().waitFor();
  await page.locator(".probe summary").first().click();
  assert.match(await page.locator(".probe pre").first().innerText(), /seen\.put\(/);
  await check("probes");

  // The address restores the view.
  const place = page.url();
  const other = await open({ context: page.context(), dark: true });
  await other.goto(place);
  await other.getByRole("heading", { name: /^block \d+$/ }).waitFor();
  await other.getByText("The same as a table").click();
  await other.locator(".flow-table [role=row]").filter({ hasText: /[kMG]\/s/ }).first().waitFor();
  await other.close();

  // Leaving the method detaches its instruments.
  await page.getByRole("link", { name: "JVMs", exact: true }).click();
  await row.getByText("nothing").waitFor();

  return { axe, firstHit };
}
