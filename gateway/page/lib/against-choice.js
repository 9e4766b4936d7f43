// Chooses the recording that another one is compared with.

import { html } from "./html.js";
import { comparable, recordingLabel } from "./recording-label.js";
import { useRecordings } from "./recordings.js";

/** @typedef {import("./recording-label.js").RecordingRow} RecordingRow */

/**
 * @param {{kind: string, id: string, chosen: string, setAddress: (patch: Record<string, string>) => void}} props
 */
export function AgainstChoice({ kind, id, chosen, setAddress }) {
  const { data } = useRecordings([id, chosen]);
  const others = comparable(data ?? [], { kind, id });
  const isUnknown = chosen !== "" && chosen !== id && !others.some((one) => one.id === chosen);
  if (others.length === 0 && !isUnknown) {
    return null;
  }
  const choose = (/** @type {Event} */ event) =>
    setAddress({ against: /** @type {HTMLSelectElement} */ (event.currentTarget).value });
  return html`<label>
    Compare with
    <select value=${chosen} onChange=${choose}>
      <option value="" selected=${chosen === ""}>nothing</option>
      ${others.map(
        (/** @type {RecordingRow} */ one) =>
          html`<option value=${one.id} selected=${one.id === chosen}>${recordingLabel(one)}</option>`,
      )}
      ${isUnknown ? html`<option value=${chosen} selected>recording ${chosen}</option>` : null}
    </select>
  </label>`;
}
