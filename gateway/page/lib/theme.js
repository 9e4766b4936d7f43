// Dark or light: as the system, or as the user chose, which the browser remembers.

import { html, useEffect, useState } from "./html.js";

const DARK_SYSTEM = matchMedia("(prefers-color-scheme: dark)");

/** The choice of the user. A browser may refuse storage. */
function chosenTheme() {
  try {
    return localStorage.getItem("theme") ?? "system";
  } catch {
    return "system";
  }
}

/** @param {string} theme */
function remember(theme) {
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // The choice then lasts as long as the page.
  }
  return theme;
}

/** Sets the colours: those that the user chose, or those of the system. */
export function applyTheme(chosen = chosenTheme()) {
  const system = DARK_SYSTEM.matches ? "dark" : "light";
  document.documentElement.setAttribute("data-theme", chosen === "system" ? system : chosen);
}

/** Chooses dark or light. */
export function Theme() {
  const [theme, setTheme] = useState(chosenTheme);
  useEffect(() => {
    const apply = () => applyTheme(theme);
    apply();
    DARK_SYSTEM.addEventListener("change", apply);
    return () => DARK_SYSTEM.removeEventListener("change", apply);
  }, [theme]);
  const choose = (/** @type {any} */ event) => setTheme(remember(event.target.value));
  return html`<label
    ><span class="soft">Colours</span>
    <select value=${theme} onChange=${choose}>
      <option value="system">as the system</option>
      <option value="light">light</option>
      <option value="dark">dark</option>
    </select>
  </label>`;
}
