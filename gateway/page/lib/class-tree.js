// Classes by package, and the classes that a pattern or a part of a name selects.

/**
 * @typedef {object} PackageNode
 * @property {string} name The whole name of the package; empty for classes without one.
 * @property {string[]} classes Whole names, sorted.
 */

/**
 * Groups sorted class names by package.
 *
 * @param {string[]} classes
 * @returns {PackageNode[]}
 */
export function packagesOf(classes) {
  /** @type {Map<string, string[]>} */
  const packages = new Map();
  for (const name of classes) {
    const dot = name.lastIndexOf(".");
    const home = dot < 0 ? "" : name.slice(0, dot);
    const known = packages.get(home);
    if (known === undefined) {
      packages.set(home, [name]);
    } else {
      known.push(name);
    }
  }
  const sorted = [...packages].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, names]) => ({ name, classes: names }));
}

/**
 * The classes that a query selects: a pattern of plans if it has `*` or `..`, else all that contain it,
 * in any case.
 *
 * @param {string[]} classes
 * @param {string} query
 * @returns {string[]}
 */
export function matchingClasses(classes, query) {
  const text = query.trim();
  if (text === "") {
    return classes;
  }
  const [pattern = ""] = text.split("::");
  if (pattern.includes("*") || pattern.includes("..")) {
    const expression = patternExpression(pattern);
    return classes.filter((name) => expression.test(name));
  }
  const lower = pattern.toLowerCase();
  return classes.filter((name) => name.toLowerCase().includes(lower));
}

/**
 * A pattern of plans as a regular expression: `*` is any characters but `.`, and `..` any packages.
 *
 * @param {string} pattern
 * @returns {RegExp}
 */
function patternExpression(pattern) {
  const escaped = pattern.replace(/[\\^$+?()[\]{}|]/g, "\\$&");
  const source = escaped.replace(/\.\.|\*|\./g, (found) => {
    if (found === "..") {
      return "\\.(?:[^.]+\\.)*";
    }
    return found === "*" ? "[^.]*" : "\\.";
  });
  return new RegExp(`^${source}$`, "u");
}
