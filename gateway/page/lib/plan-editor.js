// The text field of a plan: line numbers, a mark at an error, and a list of completions.
//
// The field is a plain textarea. A mirror of its text behind it shows the mark. Both have the same font and
// are scrolled together.
//
//   Ctrl+Space  completions    ↑ ↓  choose    Enter, Tab  insert    Escape  close    Ctrl+Enter  run

import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { errorPlace } from "./plan-error.js";
import { usePlanCompletions } from "./plan-completions.js";

/** @typedef {import("./plan-error.js").PlanError} PlanError */

/** The columns between two tab stops. The style sheet has the same number. */
const TAB_SIZE = 4;
const ID = "plan-source";

/**
 * @param {{pid: number, source: string, onSource: (source: string) => void, error: PlanError | null,
 *   onRun: () => void}} props
 */
export function PlanEditor({ pid, source, onSource, error, onRun }) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [scroll, setScroll] = useState({ top: 0, left: 0 });
  const { offer, ask, move, close } = usePlanCompletions(pid);
  const cursor = useRef(/** @type {number | null} */ (null));
  useLayoutEffect(() => {
    // The new text is in the field now, so the cursor can be set behind what was inserted.
    if (cursor.current !== null && field.current !== null) {
      field.current.setSelectionRange(cursor.current, cursor.current);
      cursor.current = null;
    }
  }, [source]);
  const change = (/** @type {Event} */ event) => {
    const { value, selectionStart } = /** @type {HTMLTextAreaElement} */ (event.currentTarget);
    onSource(value);
    ask(value, selectionStart, false);
  };
  const insert = (/** @type {number} */ at) => {
    if (offer === null) {
      return;
    }
    const { typed } = offer.all[at];
    cursor.current = offer.from + typed.length;
    close();
    onSource(source.slice(0, offer.from) + typed + source.slice(offer.to));
    field.current?.focus();
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    const isUsed = pressKey(event, { offer, move, close, insert, onRun, ask: () => askAgain(field.current, ask) });
    if (isUsed) {
      event.preventDefault();
    }
  };
  const follow = () => {
    const { scrollTop: top = 0, scrollLeft: left = 0 } = field.current ?? {};
    setScroll({ top, left });
  };
  return html`<div class="plan-editor">
    <${LineNumbers} count=${source.split("\n").length} wrong=${error?.line ?? 0} top=${scroll.top} />
    <div class="plan-field">
      <${Mirror} source=${source} error=${error} scroll=${scroll} />
      <textarea
        id=${ID}
        ref=${field}
        class="plan-text"
        spellcheck=${false}
        autocomplete="off"
        wrap="off"
        value=${source}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls=${offer === null ? undefined : `${ID}-list`}
        aria-activedescendant=${offer === null ? undefined : `${ID}-${offer.active}`}
        aria-invalid=${error === null ? undefined : "true"}
        aria-describedby=${error === null ? `${ID}-keys` : `${ID}-error`}
        onInput=${change}
        onKeyDown=${press}
        onScroll=${follow}
        onBlur=${close}
        onClick=${close}
      ></textarea>
      ${offer !== null && html`<${Completions} source=${source} offer=${offer} scroll=${scroll} insert=${insert} />`}
    </div>
    <span class="hidden-text" role="status">
      ${offer !== null && `${offer.all.length} completions, ${offer.all[offer.active].shown}`}
    </span>
  </div>`;
}

/**
 * @param {HTMLTextAreaElement | null} field
 * @param {(source: string, cursor: number, isWanted: boolean) => void} ask
 */
function askAgain(field, ask) {
  if (field !== null) {
    ask(field.value, field.selectionStart, true);
  }
}

/**
 * Does what a key says, and returns whether the key had a meaning.
 *
 * @param {KeyboardEvent} event
 * @param {{offer: import("./plan-completions.js").Offer | null, move: (step: number) => void, close: () => void,
 *   insert: (at: number) => void, ask: () => void, onRun: () => void}} editor
 */
function pressKey({ key, ctrlKey, metaKey, altKey, shiftKey, isComposing }, editor) {
  const { offer, move, close, insert, ask, onRun } = editor;
  if (isComposing || altKey) {
    return false;
  }
  if (ctrlKey || metaKey) {
    const action = { " ": ask, Enter: onRun }[key];
    action?.();
    return action !== undefined;
  }
  if (offer === null || shiftKey) {
    return false;
  }
  const action = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => insert(offer.active),
    Tab: () => insert(offer.active),
    Escape: close,
  }[key];
  if (/^(Arrow(Left|Right)|Home|End|Page(Up|Down))$/.test(key)) {
    close();
  }
  action?.();
  return action !== undefined;
}

/** @param {{count: number, wrong: number, top: number}} props */
function LineNumbers({ count, wrong, top }) {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  return html`<div class="plan-lines" aria-hidden="true">
    <div style=${{ transform: `translateY(${-top}px)` }}>
      ${numbers.map(
        (number) => html`<div key=${number} class=${number === wrong ? "plan-wrong-line" : ""}>${number}</div>`,
      )}
    </div>
  </div>`;
}

/**
 * The text once more, invisible but for the mark at an error.
 *
 * @param {{source: string, error: PlanError | null, scroll: {top: number, left: number}}} props
 */
function Mirror({ source, error, scroll }) {
  const place = error === null ? null : errorPlace(source, error);
  if (place === null) {
    return null;
  }
  const before = source.slice(0, place.from);
  // An error at the end of a line has no character, so a space has the mark.
  const marked = source.slice(place.from, place.to) || " ";
  return html`<div class="plan-mirror" aria-hidden="true">
    <div style=${{ transform: `translate(${-scroll.left}px, ${-scroll.top}px)` }}>
      ${before}<mark>${marked}</mark>${source.slice(place.to)}
    </div>
  </div>`;
}

/**
 * @param {{source: string, offer: import("./plan-completions.js").Offer, scroll: {top: number, left: number},
 *   insert: (at: number) => void}} props
 */
function Completions({ source, offer, scroll, insert }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [offer]);
  const { line, column } = columnOf(source, offer.from);
  const { help } = offer.all[offer.active];
  const place = {
    top: `calc(${line + 1} * var(--plan-line) + 0.5em - ${scroll.top}px)`,
    left: `calc(min(${column}ch + 0.5em - ${scroll.left}px, 100% - 20em))`,
  };
  return html`<div class="plan-offer" style=${place}>
    <ul id=${`${ID}-list`} class="plan-list" role="listbox" aria-label="Completions" ref=${list}>
      ${offer.all.map(
        ({ shown }, at) => html`<li
          key=${shown}
          id=${`${ID}-${at}`}
          role="option"
          aria-selected=${at === offer.active ? "true" : "false"}
          onPointerDown=${(/** @type {Event} */ event) => {
            // Otherwise the field would lose the focus, and the list would close.
            event.preventDefault();
            insert(at);
          }}
        >
          ${shown}
        </li>`,
      )}
    </ul>
    <div class="plan-help" aria-hidden="true">${help}</div>
  </div>`;
}

/**
 * The line and the column on the screen of a position, both from 0.
 *
 * @param {string} source
 * @param {number} position
 */
function columnOf(source, position) {
  const lines = source.slice(0, position).split("\n");
  let column = 0;
  for (const character of lines[lines.length - 1]) {
    column += character === "\t" ? TAB_SIZE - (column % TAB_SIZE) : 1;
  }
  return { line: lines.length - 1, column };
}

/**
 * The error of a plan, with a button that leads to it.
 *
 * @param {{error: PlanError, source: string}} props
 */
export function PlanProblem({ error, source }) {
  const { line, column, message } = error;
  const place = errorPlace(source, error);
  const show = () => {
    const field = document.getElementById(ID);
    if (field instanceof HTMLTextAreaElement && place !== null) {
      field.focus();
      field.setSelectionRange(place.from, place.to);
    }
  };
  return html`<div class="panel error" role="alert" id=${`${ID}-error`}>
    <strong>Line ${line}${column > 0 && `, column ${column}`}</strong>: ${message}
    ${place !== null && html` <button class="small" onClick=${show}>Go to it</button>`}
  </div>`;
}
