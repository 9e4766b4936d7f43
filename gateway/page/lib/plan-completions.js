// A hook with the completions at the cursor of the plan editor. Names of classes come from the list of loaded
// classes, names of methods from the agent if it is there.

import { useCallback, useEffect, useRef, useState } from "./html.js";
import { classCompletions, completionContext, MAX_COMPLETIONS, wordCompletions } from "./plan-completion.js";
import { request } from "./server.js";

/** @typedef {import("./plan-completion.js").Completion} Completion */
/** @typedef {{from: number, to: number, all: Completion[], active: number}} Offer */

/** The shortest word for which the list opens by itself. */
const MIN_WORD = 2;

/**
 * @param {number} pid
 * @returns {{offer: Offer | null, ask: (source: string, cursor: number, isWanted: boolean) => void,
 *   move: (step: number) => void, close: () => void}}
 */
export function usePlanCompletions(pid) {
  const [offer, setOffer] = useState(/** @type {Offer | null} */ (null));
  const functions = useRef(/** @type {import("./plan-completion.js").PlanFunction[]} */ ([]));
  const classes = useRef(/** @type {string[] | null} */ (null));
  const newest = useRef(0);
  useEffect(() => {
    classes.current = null;
    // Without the reference or the classes, the editor still works.
    request("GET", "api/1/plan-functions").then(
      (all) => (functions.current = all),
      () => {},
    );
  }, [pid]);
  const close = useCallback(() => {
    newest.current += 1;
    setOffer(null);
  }, []);
  const ask = useCallback(
    (/** @type {string} */ source, /** @type {number} */ cursor, /** @type {boolean} */ isWanted) => {
      newest.current += 1;
      const mine = newest.current;
      const context = completionContext(source.slice(0, cursor));
      const show = (/** @type {Completion[]} */ all) => {
        if (mine === newest.current) {
          setOffer(all.length === 0 ? null : { from: context.from, to: cursor, all, active: 0 });
        }
      };
      if (context.kind === "none") {
        show([]);
      } else if (context.kind === "word") {
        const isLong = isWanted || context.isOfSomething || context.start.length >= MIN_WORD;
        show(isLong ? wordCompletions(context, functions.current, source) : []);
      } else {
        patternCompletions(pid, context.start, classes).then(show, () => show([]));
      }
    },
    [pid],
  );
  const move = useCallback((/** @type {number} */ step) => {
    setOffer((before) =>
      before === null
        ? null
        : { ...before, active: (before.active + step + before.all.length) % before.all.length },
    );
  }, []);
  return { offer, ask, move, close };
}

/**
 * @param {number} pid
 * @param {string} start
 * @param {{current: string[] | null}} classes the names that were loaded; is filled
 * @returns {Promise<Completion[]>}
 */
async function patternCompletions(pid, start, classes) {
  if (start.includes("::")) {
    const query = new URLSearchParams({ beginning: start });
    const { names } = await request("GET", `api/1/jvms/${pid}/names?${query}`);
    return (names ?? [])
      .slice(0, MAX_COMPLETIONS)
      .map((/** @type {string} */ name) => ({ shown: name, typed: name, help: "a method" }));
  }
  if (classes.current === null) {
    const { application, jdk } = await request("GET", `api/1/jvms/${pid}/classes`);
    classes.current = [...application, ...jdk];
  }
  return classCompletions(start, classes.current);
}
