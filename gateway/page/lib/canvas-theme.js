// The colours of the page for drawing on a canvas, and a notification when they change.

/**
 * @typedef {object} Theme
 * @property {string} ground
 * @property {string} surface
 * @property {string} line
 * @property {string} text
 * @property {string} textSoft
 * @property {string} accent
 * @property {string} accentGround
 * @property {string[]} heat
 * @property {string[]} heatText
 * @property {string} mono
 */

/**
 * Reads the custom properties that apply to an element.
 * @param {Element} element
 * @returns {Theme}
 */
export function readTheme(element) {
  const style = getComputedStyle(element);
  /** @param {string} name @param {string} fallback */
  const read = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  return {
    ground: read("--ground", "#ffffff"),
    surface: read("--surface", "#f6f6f6"),
    line: read("--line", "#888888"),
    text: read("--text", "#111111"),
    textSoft: read("--text-soft", "#555555"),
    accent: read("--accent", "#0b57d0"),
    accentGround: read("--accent-ground", "#d6e4ff"),
    heat: Array.from({ length: 7 }, (_, step) => read(`--heat-${step}`, "#dddddd")),
    heatText: Array.from({ length: 7 }, (_, step) => read(`--heat-text-${step}`, "#111111")),
    mono: read("--mono", "monospace"),
  };
}

/**
 * Calls `changed` when the user or the system switches between dark and light. Returns a function
 * that ends this.
 * @param {() => void} changed
 */
export function watchTheme(changed) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", changed);
  };
}
