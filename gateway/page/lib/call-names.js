// The names of methods in a calls profile, as text for people.
//
// Names of an application may contain any character. `plainText` replaces those that could reorder
// or hide the text around them; every label that the page shows has passed through it.

/** @typedef {{class: string, method: string, descriptor: string}} MethodName */

const PRIMITIVES = new Map([
  ["B", "byte"],
  ["C", "char"],
  ["D", "double"],
  ["F", "float"],
  ["I", "int"],
  ["J", "long"],
  ["S", "short"],
  ["Z", "boolean"],
]);

// Control characters, line and paragraph separators, and the property `Bidi_Control`. The commands
// of Veneer replace the same characters.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Replaces characters that control the display by U+FFFD.
 * @param {string} text
 * @returns {string}
 */
export function plainText(text) {
  return text.replace(CONTROLS, "\ufffd");
}

/**
 * The class without its package.
 * @param {string} className
 * @returns {string}
 */
export function simpleClass(className) {
  return className.slice(className.lastIndexOf(".") + 1);
}

/**
 * The package of a class, empty for the unnamed package.
 * @param {string} className
 * @returns {string}
 */
export function packageOf(className) {
  const dot = className.lastIndexOf(".");
  return dot < 0 ? "" : className.slice(0, dot);
}

/**
 * The types of the parameters as in Java sources, or null if the descriptor is malformed.
 * @param {string} descriptor for example `(I[Ljava/lang/String;)V`
 * @returns {string[] | null}
 */
export function parameterTypes(descriptor) {
  const close = descriptor.indexOf(")");
  if (!descriptor.startsWith("(") || close < 0) {
    return null;
  }
  const types = [];
  let at = 1;
  while (at < close) {
    const element = at + arrayDepth(descriptor, at);
    let name = PRIMITIVES.get(descriptor[element]);
    let next = element + 1;
    if (descriptor[element] === "L") {
      next = descriptor.indexOf(";", element) + 1;
      name = descriptor.slice(element + 1, next - 1).replaceAll("/", ".");
    }
    if (name === undefined || name === "" || next === 0 || next > close) {
      return null;
    }
    types.push(name + "[]".repeat(element - at));
    at = next;
  }
  return types;
}

/**
 * @param {string} descriptor
 * @param {number} at
 */
function arrayDepth(descriptor, at) {
  let depth = 0;
  while (descriptor[at + depth] === "[") {
    depth++;
  }
  return depth;
}

/**
 * A method with its class: `shop.Desk::serve(java.lang.String, int)`. An overflow has no class; its
 * name says what it holds, and is shown in brackets.
 * @param {MethodName} name
 * @returns {string}
 */
export function methodLabel(name) {
  if (name.class === "") {
    return plainText(`[${name.method}]`);
  }
  const types = parameterTypes(name.descriptor);
  const parameters = types === null ? name.descriptor : `(${types.join(", ")})`;
  return plainText(`${name.class}::${name.method}${parameters}`);
}

/**
 * A method with simple class names: `Desk::serve(String, int)`.
 * @param {MethodName} name
 * @returns {string}
 */
export function shortMethodLabel(name) {
  if (name.class === "") {
    return methodLabel(name);
  }
  const types = parameterTypes(name.descriptor);
  const parameters =
    types === null ? name.descriptor : `(${types.map(simpleClass).join(", ")})`;
  return plainText(`${simpleClass(name.class)}::${name.method}${parameters}`);
}

/**
 * The longest form of a label that has at most `room` characters: the whole label, the short label,
 * the short label without parameters, or the beginning of that. Empty if not even two characters
 * have room.
 * @param {string} label
 * @param {string} shortLabel
 * @param {number} room
 * @returns {string}
 */
export function fittingLabel(label, shortLabel, room) {
  if (room < 2) {
    return "";
  }
  if (label.length <= room) {
    return label;
  }
  if (shortLabel.length <= room) {
    return shortLabel;
  }
  const parenthesis = shortLabel.indexOf("(");
  const bare = parenthesis < 1 ? shortLabel : shortLabel.slice(0, parenthesis);
  return bare.length <= room ? bare : `${withoutHalfPair(bare.slice(0, room - 1))}…`;
}

/**
 * Drops the first half of a surrogate pair at the end, which would be shown as a wrong character.
 * @param {string} text
 */
function withoutHalfPair(text) {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
