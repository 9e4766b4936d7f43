// From the command to the first counted block on the screen. Starts a server of its own.

import { spawn } from "node:child_process";

export default async function firstCount(tools, { veneer, pid, pattern }) {
  const page = await tools.open({ own: "any" });
  const begun = Date.now();
  const server = spawn(veneer, ["serve", String(pid)]);
  try {
    const address = await new Promise((resolve, reject) => {
      server.stdout.once("data", (text) => resolve(String(text).trim()));
      server.once("exit", () => reject(new Error("the server ended")));
    });
    await page.goto(address);
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/#/method/${pid}?pattern=${encodeURIComponent(pattern)}`);
    await page.getByText("The same as a table").click();
    await page.locator(".flow-table [role=row]").filter({ hasText: /\/s/ }).first().waitFor();
    return { firstCount: Date.now() - begun };
  } finally {
    server.kill("SIGINT");
  }
}
