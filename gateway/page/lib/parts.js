// Small parts of all views: errors, waiting, buttons that copy.

import { html, useState } from "./html.js";
import { ServerError } from "./server-error.js";

/**
 * A problem with its remedy, and a button to try again.
 *
 * @param {{error: unknown, retry?: () => void}} props
 */
export function Problem({ error, retry }) {
  const known = error instanceof ServerError;
  const problem = known ? error.problem : String(error);
  const remedy = known ? error.remedy : "";
  return html`<div class="panel error" role="alert">
    <strong>${problem}</strong>
    ${remedy !== "" && html`<div>${remedy}</div>`}
    ${retry !== undefined && html`<p><button onClick=${retry}>Try again</button></p>`}
  </div>`;
}

/** @param {{children?: any}} props */
export function Waiting({ children }) {
  return html`<p class="wait" role="status">${children}</p>`;
}

/**
 * A text of several lines that can be copied, such as a plan.
 *
 * @param {{title: string, text: string, open?: boolean}} props
 */
export function Copyable({ title, text, open = false }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      // Without permission for the clipboard, the text can still be selected.
      setCopied(false);
    }
  };
  return html`<details open=${open}>
    <summary>${title}</summary>
    <pre tabindex="0">${text}</pre>
    <button class="small" onClick=${copy}>${isCopied ? "Copied" : "Copy"}</button>
  </details>`;
}
