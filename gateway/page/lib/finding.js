// Findings of a bottleneck search in words.

/**
 * @typedef {{axis: string, kind: string, name: string, line: number | null}} Step
 * @typedef {{path: Step[], why: string, share: number, low: number, high: number, specific: boolean,
 *   threads: {name: string, share: number}[], evidence: {source: string, text: string}[],
 *   window: {from: number, to: number}}} Finding
 */

/**
 * The place of a finding: its class and method, and its block or loop.
 *
 * @param {Finding} finding
 * @returns {{class: string, method: string, detail: string}}
 */
export function placeOf(finding) {
  const last = (/** @type {string} */ kind) =>
    finding.path.findLast((step) => step.axis === "where" && step.kind === kind)?.name ?? "";
  const block = last("block");
  const loop = last("loop");
  return {
    class: last("class"),
    method: last("method"),
    detail: block !== "" ? block : loop !== "" ? `the loop at ${loop}` : "",
  };
}

/**
 * Sorts findings as they are shown: those that no other one explains first, the largest first.
 *
 * @param {Finding[]} findings
 * @returns {Finding[]}
 */
export function sortedFindings(findings) {
  return [...findings].sort(
    (a, b) => Number(b.specific) - Number(a.specific) || b.share - a.share,
  );
}
