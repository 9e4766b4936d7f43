// The paints of a flame graph for the current theme of the page, as a hook.

import { useLayoutEffect, useState } from "./html.js";
import { flamePaints, readColour } from "./flame-colours.js";

/** @typedef {import("./flame-colours.js").FlamePaints} FlamePaints */

const HEAT_STEPS = 7;

/**
 * The paints, and the font of the element. Null before the element is displayed.
 * @param {{current: HTMLElement | null}} reference
 * @returns {{paints: FlamePaints, font: string} | null}
 */
export function usePaints(reference) {
  const [look, setLook] = useState(/** @type {{paints: FlamePaints, font: string} | null} */ (null));
  useLayoutEffect(() => {
    const update = () => {
      if (reference.current !== null) {
        setLook(readLook(reference.current));
      }
    };
    update();
    const media = matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", update);
    const observer = new MutationObserver(update);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      media.removeEventListener("change", update);
      observer.disconnect();
    };
  }, []);
  return look;
}

/** @param {HTMLElement} element */
function readLook(element) {
  // The browser converts all forms of colours if they are the colour of an element.
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const colour = (/** @type {string} */ name) => {
    probe.style.color = `var(--${name})`;
    return readColour(getComputedStyle(probe).color);
  };
  const steps = Array.from({ length: HEAT_STEPS }, (_, step) => step);
  const paints = flamePaints({
    ground: colour("ground"),
    surface: colour("surface"),
    line: colour("line"),
    text: colour("text"),
    textSoft: colour("text-soft"),
    accent: colour("accent"),
    good: colour("good"),
    bad: colour("bad"),
    heat: steps.map((step) => colour(`heat-${step}`)),
    heatText: steps.map((step) => colour(`heat-text-${step}`)),
  });
  probe.remove();
  const { fontSize, fontFamily } = getComputedStyle(element);
  return { paints, font: `${fontSize} ${fontFamily}` };
}
