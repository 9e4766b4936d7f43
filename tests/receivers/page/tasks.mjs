// Ten tasks of a newcomer, each from the list of JVMs. The script counts the clicks; typing and Enter are named.

import assert from "node:assert/strict";

/** The most clicks of a task. */
const MAX_CLICKS = 4;
/** A search decides within ten seconds on a machine that does nothing else. */
const SEARCH_SECONDS = 25;

/** A page on which every step is noted. */
class Steps {
  constructor(page) {
    this.page = page;
    this.clicks = 0;
    this.notes = [];
  }

  /** Clicks, and counts it. */
  async click(locator, name) {
    await locator.click();
    this.clicks += 1;
    this.notes.push(name);
  }

  /** Types a text into a field that the page shows, and presses Enter. */
  async type(locator, text) {
    await locator.fill(text);
    await locator.press("Enter");
    this.notes.push(`type \`${text}\`, Enter`);
  }

  /** Moves the pointer. */
  async point(locator, position, name) {
    await locator.hover({ position });
    if (this.notes.at(-1) !== name) {
      this.notes.push(name);
    }
  }
}

/** The tasks in their order. The first one loads the agent, and the last one unloads it. */
function tasks({ pid }) {
  const menu = (page, name) => page.getByRole("navigation", { name: "Views" }).getByRole("link", { name, exact: true });
  const row = (page) => page.getByRole("row").filter({ hasText: String(pid) });
  const openJvm = (steps) => steps.click(row(steps.page).getByRole("link"), "the JVM");
  const open = async (steps, view) => {
    await openJvm(steps);
    await steps.click(menu(steps.page, view), view);
  };
  const openMethod = async (steps, className, method) => {
    await openJvm(steps);
    await steps.type(steps.page.getByRole("searchbox"), className);
    const methods = steps.page.locator("section[aria-label^='Methods of'] a", { hasText: method });
    await steps.click(methods.first(), "the method");
  };
  const search = async (steps) => {
    await open(steps, "Bottlenecks");
    await steps.type(steps.page.getByRole("spinbutton", { name: "Search for" }), String(SEARCH_SECONDS));
    await steps.page.locator("article").first().waitFor();
  };
  const record = async (steps, pattern) => {
    await open(steps, "Calls");
    await steps.type(steps.page.getByRole("textbox", { name: "Methods" }), pattern);
    await steps.page.getByRole("tab", { name: "Flame graph" }).waitFor();
  };
  return [
    {
      name: "attach",
      run: async (steps) => {
        await steps.click(row(steps.page).getByRole("button", { name: "Attach" }), "Attach");
        await row(steps.page).getByText("loaded", { exact: true }).waitFor();
      },
    },
    {
      name: "find the hottest method",
      run: async (steps) => {
        await search(steps);
        assert.match(await steps.page.locator("section[aria-label=Findings]").innerText(), /Newcomer\.price/);
      },
    },
    {
      name: "count its loop",
      run: async (steps) => {
        await openMethod(steps, "Newcomer", "price");
        await steps.click(steps.page.getByText("The same as a table"), "The same as a table");
        await steps.page
          .locator(".flow-table [role=row]")
          .filter({ hasText: "loop" })
          .filter({ hasText: /[kMG]\/s/ })
          .first()
          .waitFor();
      },
    },
    {
      name: "see a local variable",
      run: async (steps) => {
        await openMethod(steps, "Newcomer", "serve");
        await steps.click(steps.page.getByRole("button", { name: "Watch all" }), "Watch all");
        await steps.page.locator(".probe td", { hasText: /customer=(ann|eve)/ }).first().waitFor();
      },
    },
    {
      name: "find the lock",
      run: async (steps) => {
        await search(steps);
        const found = steps.page.locator("article", { hasText: "monitor" }).filter({ hasText: "Newcomer.book" });
        await found.first().waitFor();
        assert.match(await found.first().innerText(), /the monitor is held in/);
      },
    },
    {
      name: "see callers",
      run: async (steps) => {
        await record(steps, "Newcomer");
        await steps.click(steps.page.getByRole("tab", { name: "Callers and callees" }), "Callers and callees");
        await steps.page.getByRole("grid", { name: "Callers" }).getByText("Newcomer::serve").first().waitFor();
      },
    },
    {
      name: "compare two recordings",
      run: async (steps) => {
        await record(steps, "Newcomer");
        await steps.click(steps.page.getByRole("button", { name: "Record again and compare" }), "Record again and compare");
        await steps.page.getByText(/^Compared with/).waitFor();
      },
    },
    {
      name: "see what one thread did",
      run: async (steps) => {
        await open(steps, "Trace");
        await steps.type(steps.page.getByRole("textbox", { name: "Methods" }), "Newcomer");
        const canvas = steps.page.locator("canvas");
        await canvas.waitFor();
        const said = steps.page.locator(".timeline-hover");
        const isThread = async () => /worker-\d/.test(await said.innerText());
        for (let y = 50; !(await isThread()); y += 8) {
          assert.ok(y < 500, `no thread in the picture: ${await said.innerText()}`);
          await steps.point(canvas, { x: 400 + (y % 5), y }, "point at the thread");
          await steps.page.waitForTimeout(50);
        }
      },
    },
    {
      name: "run a plan",
      run: async (steps) => {
        await open(steps, "Plan");
        const plan = 'let c = methods("Newcomer::serve(..)").before(counter());\nevery(0.5, || print(c.hits()));';
        await steps.page.getByLabel("The text of the plan").fill(plan);
        steps.notes.push("type the plan");
        await steps.click(steps.page.getByRole("button", { name: "Run", exact: true }), "Run");
        await steps.page.locator("pre[aria-label='Output of the plan']").getByText(/[1-9]/).first().waitFor();
      },
    },
    {
      name: "undo everything",
      run: async (steps) => {
        await steps.click(row(steps.page).getByRole("button", { name: "Leave" }), "Leave");
        await row(steps.page).getByRole("button", { name: "Attach" }).waitFor();
      },
    },
  ];
}

export default async function newcomer(tools, parameters) {
  const { open, screenshot } = tools;
  const page = await open();
  await page.goto(parameters.address);
  const { origin } = new URL(page.url());
  const table = [];
  for (const { name, run } of tasks(parameters)) {
    await page.goto(`${origin}/#/machine`);
    await page.getByRole("row").filter({ hasText: String(parameters.pid) }).waitFor();
    const steps = new Steps(page);
    const begun = Date.now();
    try {
      await run(steps);
    } catch (error) {
      throw new Error(`${name} (${steps.notes.join(", ")}): ${error.message}`);
    }
    assert.ok(steps.clicks <= MAX_CLICKS, `${name} takes ${steps.clicks} clicks: ${steps.notes.join(", ")}`);
    table.push({ task: name, clicks: steps.clicks, steps: steps.notes.join("; "), seconds: (Date.now() - begun) / 1000 });
    await screenshot(page, `task-${table.length}`);
  }
  return { table };
}
