// The command `veneer calls` that records the same as a form of the page.

/** @typedef {{pattern: string, seconds: number, contexts: boolean}} RecordingOptions */

/**
 * A word in single quotes, unless a shell takes it as it is.
 * @param {string} word
 * @returns {string}
 */
export function shellWord(word) {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * @param {string | number} pid
 * @param {RecordingOptions} options
 * @returns {string}
 */
export function recordingCommand(pid, { pattern, seconds, contexts }) {
  const words = ["veneer", "calls", shellWord(String(pid))];
  // A pattern may contain spaces: `static shop.Main`.
  if (pattern.trim() !== "") {
    words.push(shellWord(pattern.trim()));
  }
  if (contexts) {
    words.push("--contexts");
  }
  words.push("--for", String(seconds));
  return words.join(" ");
}
