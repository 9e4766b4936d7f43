// Chooses a method of a profile by a part of its name.

import { html, useMemo, useState } from "./html.js";
import { countText } from "./call-figures.js";
import { readQuery } from "./tree-search.js";

/** @typedef {import("./call-profile.js").CallProfile} CallProfile */

const MAX_OPTIONS = 50;
const MAX_VISIBLE = 8;

/** @param {{profile: CallProfile, method: number, onMethod: (method: number) => void}} props */
export function MethodPicker({ profile, method, onMethod }) {
  const [query, setQuery] = useState("");
  const found = useMemo(() => methodsThatMatch(profile, query), [profile, query]);
  const shown = found.slice(0, MAX_OPTIONS);
  const rest = found.length - shown.length;
  const choose = (/** @type {Event} */ event) => {
    const chosen = Number(/** @type {HTMLSelectElement} */ (event.currentTarget).value);
    onMethod(chosen);
  };
  const list = html`
    <select class="calls-options" size=${Math.min(MAX_VISIBLE, Math.max(2, shown.length))}
      aria-label="Methods that match" onChange=${choose}>
      ${shown.map(
        (one) => html`<option value=${one} selected=${one === method}>${profile.methods[one].label}</option>`,
      )}
    </select>
    <span role="status">${
      found.length === 0 ? "No method matches." : rest > 0 ? `There are ${countText(rest)} more.` : ""
    }</span>
  `;
  return html`
    <div class="calls-picker">
      <label>
        Method
        <input type="search" placeholder="part of a name" autocomplete="off" spellcheck=${false} value=${query}
          onInput=${(/** @type {Event} */ event) =>
            setQuery(/** @type {HTMLInputElement} */ (event.currentTarget).value)} />
      </label>
      ${query === "" ? null : list}
    </div>
  `;
}

/**
 * The methods that match a query, those with the most entries first.
 * @param {CallProfile} profile
 * @param {string} query
 */
function methodsThatMatch({ methods }, query) {
  const { isEmpty, matches } = readQuery(query);
  if (isEmpty) {
    return [];
  }
  const found = [];
  for (let method = 0; method < methods.length; method++) {
    if (matches(methods[method].label)) {
      found.push(method);
    }
  }
  return found.sort((a, b) => methods[b].entries - methods[a].entries || a - b);
}
