// Runs one scenario in a real browser: node run.mjs SCENARIO PARAMETERS
//
// PARAMETERS is a JSON object with `playwright` and `axe` (folders of the packages), `chromium` (path),
// `screenshots` (folder) and what the scenario needs. With `files` (folder), the browser gets the files
// of the page from there, so that the page can be changed without building the server. Prints the scenario's result as one line of JSON.
// Any error of the page, any request to another server and any message of its security policy fails it.

import { mkdirSync } from "node:fs";
import path from "node:path";

const [, , scenario, text] = process.argv;
const parameters = JSON.parse(text);
const { chromium } = await import(path.join(parameters.playwright, "index.mjs"));
const { default: run } = await import(`./${scenario}.mjs`);

/** Flags without which Chromium asks servers of its maker. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

mkdirSync(parameters.screenshots, { recursive: true });
const browser = await chromium.launch({ executablePath: parameters.chromium, args: FLAGS });
const problems = [];
const pages = [];
/** Whether a tool inspects the page. axe and screenshots insert styles, which the page's policy forbids. */
let isInspecting = false;

/** Inspects a page without reporting what the tool does to it. */
async function inspecting(work) {
  isInspecting = true;
  try {
    return await work();
  } finally {
    isInspecting = false;
  }
}
const origin = new URL(parameters.address).origin;

/**
 * Opens a page in a window of its own, with cookies of its own unless `context` is given. Problems with a
 * text of `expected` are not reported. With `own`, requests to all servers of this machine are allowed, and
 * with `local`, only that file may be read.
 */
async function open({ width = 1400, height = 900, dark = false, context, expected = [], own = null, local = null } = {}) {
  const home =
    context ??
    (await browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? "dark" : "light",
      permissions: ["clipboard-read", "clipboard-write"],
    }));
  const page = await home.newPage();
  pages.push(page);
  if (parameters.files !== undefined) {
    await page.route(/\.(m?js|css|html|svg)$/, (route) => {
      const { pathname } = new URL(route.request().url());
      return route.fulfill({ path: path.join(parameters.files, pathname) });
    });
  }
  page.setDefaultTimeout(parameters.timeout ?? 20_000);
  const report = (problem) => {
    if (!isInspecting && !expected.some((one) => problem.includes(one))) {
      problems.push(problem);
    }
  };
  page.on("pageerror", (error) => report(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && report(`console: ${message.text()}`));
  page.on("response", (response) => {
    if (response.status() >= 400) {
      report(`${response.status()} ${new URL(response.url()).pathname}`);
    }
  });
  page.on("request", (request) => {
    const allowed = local ?? (own === null ? origin : "http://127.0.0.1:");
    if (!request.url().startsWith(allowed) && !request.url().startsWith("data:")) {
      report(`foreign request: ${request.url()}`);
    }
  });
  return page;
}

/** The findings of axe that are serious. */
async function accessibilityProblems(page) {
  // The page's policy forbids scripts from elsewhere, so the script is not added as an element.
  const { readFileSync } = await import("node:fs");
  const axe = readFileSync(path.join(parameters.axe, "axe.min.js"), "utf8");
  const result = await inspecting(async () => {
    await page.evaluate(axe);
    return page.evaluate(() => globalThis.axe.run());
  });
  const serious = result.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((n) => n.html.slice(0, 120)).join(" | ")}`);
}

const screenshot = (page, name) =>
  inspecting(() => page.screenshot({ path: path.join(parameters.screenshots, `${name}.png`) }));

let code = 0;
try {
  const result = await run({ open, accessibilityProblems, screenshot, problems }, parameters);
  console.log(JSON.stringify(result ?? {}));
  if (problems.length > 0) {
    throw new Error(problems.join("\n"));
  }
} catch (error) {
  console.error([...problems, error.stack ?? String(error)].join("\n"));
  for (const [n, page] of pages.entries()) {
    await screenshot(page, `${scenario}-failed-${n}`).catch(() => {});
  }
  code = 1;
}
await browser.close();
process.exit(code);
