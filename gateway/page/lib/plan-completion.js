// Completions of the plan editor: functions and variables in code, classes and methods in patterns. Pure.
//
//   meth|                     methods(              functions that are called without a receiver
//   c.hi|                     hits(                 functions with a receiver
//   methods("shop.De|         shop.Desk             names of loaded classes, up to the next dot
//   methods("shop.Desk::se|   shop.Desk::serve(..)  methods, which the agent knows

/**
 * @typedef {{name: string, of_something: boolean, help: string}} PlanFunction
 * @typedef {{shown: string, typed: string, help: string}} Completion
 * @typedef {{kind: "word", from: number, start: string, isOfSomething: boolean}
 *   | {kind: "pattern", from: number, start: string}
 *   | {kind: "none", from: number}} CompletionContext
 */

/** Functions whose string argument is a pattern of methods, or begins like one. */
const PATTERN_FUNCTIONS = ["methods", "classes", "calls", "reads", "writes", "names"];
/** The most completions that are offered. */
export const MAX_COMPLETIONS = 100;

/**
 * The text before the cursor as the editor completes it.
 *
 * @param {string} before
 * @returns {CompletionContext}
 */
export function completionContext(before) {
  const state = lexicalState(before);
  if (state.kind === "string") {
    const start = before.slice(state.from);
    return isPatternArgument(before.slice(0, state.from - 1))
      ? { kind: "pattern", from: state.from, start }
      : { kind: "none", from: before.length };
  }
  if (state.kind !== "code") {
    return { kind: "none", from: before.length };
  }
  const [start] = /** @type {RegExpMatchArray} */ (before.match(/[\p{L}\p{N}_]*$/u));
  const from = before.length - start.length;
  const isOfSomething = before.slice(0, from).trimEnd().endsWith(".");
  // Without a letter, only a dot asks for completions: the list would have every function.
  return start === "" && !isOfSomething
    ? { kind: "none", from }
    : { kind: "word", from, start, isOfSomething };
}

/**
 * Whether the end of a text is code, and if it is in a string: where its text begins.
 *
 * @param {string} text
 * @returns {{kind: "code" | "comment" | "raw"} | {kind: "string", from: number}}
 */
function lexicalState(text) {
  // In a string in backticks, `${` begins code that ends at its `}`.
  /** @type {number[]} */
  const nested = [];
  let depth = 0;
  let at = 0;
  let isRaw = false;
  while (at < text.length) {
    const rest = text.slice(at, at + 2);
    if (isRaw) {
      if (rest === "${") {
        nested.push(depth);
        depth += 1;
        isRaw = false;
        at += 2;
        continue;
      }
      isRaw = text[at] !== "`";
      at += 1;
    } else if (rest === "//") {
      const end = text.indexOf("\n", at);
      if (end < 0) {
        return { kind: "comment" };
      }
      at = end + 1;
    } else if (rest === "/*") {
      const end = endOfComment(text, at + 2);
      if (end < 0) {
        return { kind: "comment" };
      }
      at = end;
    } else if (text[at] === '"') {
      const end = endOfString(text, at + 1);
      if (end < 0) {
        return { kind: "string", from: at + 1 };
      }
      at = end;
    } else if (text[at] === "`") {
      isRaw = true;
      at += 1;
    } else if (text[at] === "'") {
      const [literal = "'"] = text.slice(at, at + 12).match(/^'(\\.[^'\n]*|[^'\n])'/u) ?? [];
      at += literal.length;
    } else {
      depth += "([{".includes(text[at]) ? 1 : ")]}".includes(text[at]) ? -1 : 0;
      if (text[at] === "}" && nested.at(-1) === depth) {
        nested.pop();
        isRaw = true;
      }
      at += 1;
    }
  }
  return { kind: isRaw ? "raw" : "code" };
}

/**
 * The position after a comment, which may have others in it; -1 if it has no end.
 *
 * @param {string} text
 * @param {number} from
 */
function endOfComment(text, from) {
  let open = 1;
  for (let at = from; at < text.length - 1; at += 1) {
    const pair = text.slice(at, at + 2);
    if (pair === "/*" || pair === "*/") {
      open += pair === "/*" ? 1 : -1;
      at += 1;
      if (open === 0) {
        return at + 1;
      }
    }
  }
  return -1;
}

/**
 * The position after a string; -1 if it has no end. A string ends with its line at the latest.
 *
 * @param {string} text
 * @param {number} from
 */
function endOfString(text, from) {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") {
      at += 1;
    } else if (text[at] === '"' || text[at] === "\n") {
      return at + 1;
    }
  }
  return -1;
}

/**
 * Whether a string after this code is a pattern: an argument of one of the functions, or an element of an array
 * that is such an argument.
 *
 * @param {string} code
 */
function isPatternArgument(code) {
  let depth = 0;
  for (let at = code.length - 1; at >= 0; at -= 1) {
    const c = code[at];
    if (")]}".includes(c)) {
      depth += 1;
    } else if (c === "(" && depth === 0) {
      const [word = ""] = code.slice(0, at).match(/[\p{L}\p{N}_]*$/u) ?? [];
      return PATTERN_FUNCTIONS.includes(word);
    } else if ("({[".includes(c) && depth > 0) {
      depth -= 1;
    } else if (c === "{" || c === ";") {
      return false;
    }
  }
  return false;
}

/**
 * The functions and variables that complete a word.
 *
 * @param {{start: string, isOfSomething: boolean}} context
 * @param {PlanFunction[]} functions
 * @param {string} source the whole plan
 * @returns {Completion[]}
 */
export function wordCompletions({ start, isOfSomething }, functions, source) {
  const fitting = functions
    .filter((one) => one.of_something === isOfSomething && one.name.startsWith(start))
    .map(({ name, help }) => ({ shown: `${name}()`, typed: `${name}(`, help: help.trim() }));
  const variables = isOfSomething ? [] : declaredNames(source);
  const names = variables
    .filter((name) => name.startsWith(start) && name !== start)
    .map((name) => ({ shown: name, typed: name, help: "a name of this plan" }));
  const all = [...names, ...fitting].sort((a, b) => (a.shown < b.shown ? -1 : 1));
  return all.slice(0, MAX_COMPLETIONS);
}

/**
 * The variables, constants and functions that a plan declares, each once.
 *
 * @param {string} source
 * @returns {string[]}
 */
export function declaredNames(source) {
  const found = source.matchAll(/(?<![\p{L}\p{N}_])(?:let|const|fn)\s+([\p{L}_][\p{L}\p{N}_]*)/gu);
  return [...new Set([...found].map(([, name]) => name))];
}

/**
 * The class names that complete a pattern, each up to its next dot.
 *
 * @param {string} start
 * @param {string[]} classes
 * @returns {Completion[]}
 */
export function classCompletions(start, classes) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const name of classes) {
    if (name.startsWith(start) && name !== start) {
      const dot = name.indexOf(".", start.length);
      const typed = dot < 0 ? name : name.slice(0, dot + 1);
      found.set(typed, (found.get(typed) ?? 0) + 1);
    }
  }
  const all = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return all.slice(0, MAX_COMPLETIONS).map(([typed, count]) => ({
    shown: typed,
    typed,
    help: typed.endsWith(".") ? `${count} loaded classes` : "a loaded class",
  }));
}
