// The place of an error in a plan. Pure.

/**
 * @typedef {{line: number, column: number, message: string}} PlanError Lines and columns begin with 1; a column
 *   of 0 is unknown.
 */

/**
 * Reads the first error of a text such as `page:3:12: no function …`, or returns null. Errors of code at a
 * point have a second place, that of the error in the code.
 *
 * @param {string} text
 * @returns {PlanError | null}
 */
export function planError(text) {
  const [first = ""] = text.split("\n");
  const outer = first.match(/^page:(\d+):(?:(\d+):)? (.*)$/);
  if (outer === null) {
    return null;
  }
  const [, line, column = "0", message] = outer;
  const inner = message.match(/^(.*?): (\d+):(\d+): (.*)$/);
  return inner === null
    ? { line: Number(line), column: Number(column), message }
    : { line: Number(inner[2]), column: Number(inner[3]), message: `${inner[1]}: ${inner[4]}` };
}

/**
 * The part of a plan at which an error is: a word or one character, or the whole line if the column is not known.
 * `null` if the plan has no such line.
 *
 * @param {string} source
 * @param {{line: number, column: number}} error
 * @returns {{from: number, to: number} | null}
 */
export function errorPlace(source, { line, column }) {
  const lines = source.split("\n");
  if (line < 1 || line > lines.length) {
    return null;
  }
  const text = lines[line - 1];
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  if (column < 1) {
    return { from: start, to: start + text.length };
  }
  // Columns count characters, and positions in a text count UTF-16 units.
  const offset = [...text].slice(0, column - 1).join("").length;
  const [word = ""] = text.slice(offset).match(/^([\p{L}\p{N}_]+|.)/su) ?? [];
  return { from: start + offset, to: start + offset + word.length };
}
