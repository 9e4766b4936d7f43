// An experiment that the user ends before it is decided.

export default async function experimentEnded(tools, { address, pid, method }) {
  const { open, screenshot, accessibilityProblems } = tools;
  const page = await open();
  const axe = {};
  await page.goto(address);
  await page.getByRole("row").filter({ hasText: String(pid) }).getByRole("link").click();
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Experiments" }).click();
  await page.getByRole("textbox", { name: "Methods" }).fill("Huge::run(..)");
  await page.getByRole("button", { name: "Try", exact: true }).click();
  await page.getByRole("status").filter({ hasText: "trying to split" }).waitFor();
  axe.running = await accessibilityProblems(page);
  // After the blocks were counted, the program runs with the instruments of the experiment.
  await page.waitForTimeout(4_000);
  await page.getByRole("button", { name: "Stop, and show what is decided" }).click();
  const decision = page.getByRole("article").filter({ hasText: method });
  await decision.getByText("ended early").waitFor();
  axe.ended = await accessibilityProblems(page);
  await screenshot(page, "experiments-ended");
  return { axe };
}
