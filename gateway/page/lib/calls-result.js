// The result of a recording of calls: tabs with the flame graph, the tree, and the tables.

import { html, useMemo, useRef } from "./html.js";
import { costliestMethod } from "./call-costs.js";
import { countOf, MEASURES } from "./call-figures.js";
import { readOptions, shapeWith, TABS } from "./calls-options.js";
import { Butterfly, CallTree, HotMethods, PackageGraph } from "./calls-tables.js";
import { callersTree, frameOfMethod, invertTree, knownTree } from "./context-tree.js";
import { FlamePicture } from "./flame-picture.js";
import { MethodPicker } from "./method-picker.js";
import { differenceOfTrees } from "./tree-difference.js";
import { nodeOfPath, pathKey } from "./tree-path.js";

/** @typedef {import("./call-profile.js").CallProfile} CallProfile */
/** @typedef {import("./calls-options.js").ViewOptions} ViewOptions */
/** @typedef {import("./calls-options.js").Tab} Tab */
/** @typedef {import("./calls-options.js").Switch} Switch */
/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */
/** @typedef {Record<string, string | undefined>} Address */

/**
 * @typedef {object} ResultProps
 * @property {CallProfile} profile
 * @property {CallProfile | null} against an earlier recording
 * @property {Address} address
 * @property {(patch: Record<string, string>) => void} setAddress
 * @property {boolean} [isTreeOnly] whether the profile has contexts only, such as that of a trace
 */

const MAX_UNSEEN = 500;

/** @param {ResultProps} props */
export function CallsResult({ profile, against, address, setAddress, isTreeOnly = false }) {
  const options = useMemo(() => readOptions(address, profile), [address, profile]);
  const tabs = isTreeOnly ? TABS.filter(({ needsContexts: needs }) => needs) : TABS;
  const { method, query } = options;
  const tab = tabs.some(({ id }) => id === options.tab) ? options.tab : tabs[0].id;
  const showMethod = isTreeOnly
    ? undefined
    : (/** @type {number} */ wanted) => setAddress({ tab: "callers", method: profile.methods[wanted].label });
  const props = { profile, against, options: { ...options, tab }, address, setAddress, showMethod };
  const needsContexts = TABS.some(({ id, needsContexts: needs }) => id === tab && needs);
  let content = null;
  if (needsContexts && profile.contexts.count === 0) {
    content = html`<${NoContexts} />`;
  } else if (needsContexts) {
    content = html`<${TreeViews} ...${props} />`;
  } else if (tab === "methods") {
    content = html`
      <div class="calls-controls"><${SearchField} query=${query} setAddress=${setAddress} /></div>
      <${HotMethods} profile=${profile} against=${against} query=${query} onMethod=${showMethod} />
    `;
  } else if (tab === "callers") {
    const chosen = method < 0 ? costliestMethod(profile) : method;
    content = html`
      <${MethodPicker} profile=${profile} method=${chosen} onMethod=${showMethod} />
      <${Butterfly} profile=${profile} method=${chosen} onMethod=${showMethod} />
      <${PathsToMethod} profile=${profile} method=${chosen} measure=${options.measure} showMethod=${showMethod} />
    `;
  } else {
    content = html`<${PackageGraph} profile=${profile} />`;
  }
  return html`
    <${Notices} profile=${profile} />
    <${TabList} tabs=${tabs} tab=${tab} setAddress=${setAddress} />
    <div class="calls-panel" role="tabpanel" id="calls-panel" aria-labelledby=${`calls-tab-${tab}`}>${content}</div>
  `;
}

/**
 * @param {{tabs: readonly {id: Tab, title: string}[], tab: Tab,
 *   setAddress: (patch: Record<string, string>) => void}} props
 */
function TabList({ tabs, tab, setAddress }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const current = tabs.findIndex(({ id }) => id === tab);
  const press = (/** @type {KeyboardEvent} */ event) => {
    const last = tabs.length - 1;
    const [right, left] = [(current + 1) % tabs.length, (current + last) % tabs.length];
    const next = { ArrowRight: right, ArrowLeft: left, Home: 0, End: last }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      setAddress({ tab: tabs[next].id });
      const button = list.current?.children[next];
      if (button instanceof HTMLElement) {
        button.focus();
      }
    }
  };
  return html`
    <div class="calls-tabs" role="tablist" aria-label="Views of the recording" ref=${list} onKeyDown=${press}>
      ${tabs.map(
        ({ id, title }) => html`
          <button type="button" role="tab" id=${`calls-tab-${id}`} aria-selected=${String(id === tab)}
            aria-controls="calls-panel" tabindex=${id === tab ? 0 : -1} onClick=${() => setAddress({ tab: id })}>
            ${title}
          </button>
        `,
      )}
    </div>
  `;
}

function NoContexts() {
  return html`
    <p class="calls-empty">
      This recording has no contexts, so it does not know on whose behalf a method called another one. Record again
      with contexts for the flame graph and the tree. The other tabs have exact counts.
    </p>
  `;
}

/**
 * The flame graph and the tree table, which show the same tree.
 * @param {ResultProps & {options: ViewOptions, showMethod?: (method: number) => void}} props
 */
function TreeViews({ profile, against, options, address, setAddress, showMethod }) {
  const { tab, query } = options;
  const shown = useShownTree(profile, against, options);
  const { tree, difference } = shown;
  const root = useMemo(() => nodeOfPath(tree, address.root ?? ""), [tree, address.root]);
  const showRoot = (/** @type {number} */ node) => setAddress({ root: pathKey(tree, node) });
  const showInFlame = (/** @type {number} */ node) => setAddress({ tab: "flame", root: pathKey(tree, node) });
  const cut = html`
    <p class="calls-summary">
      Callers more than ${tree.cutDepth} calls away are not shown, because the tree would be too large.
    </p>
  `;
  return html`
    <${TreeControls} options=${options} isComparison=${difference !== null} setAddress=${setAddress} />
    ${tree.cutDepth > 0 ? cut : null}
    ${tab === "flame"
      ? html`
          <${FlamePicture} tree=${tree} measure=${options.measure} root=${root} onRoot=${showRoot} query=${query}
            difference=${difference} onMethod=${showMethod} />
          <${Legend} isComparison=${difference !== null} />
        `
      : html`
          <${CallTree} tree=${tree} query=${query} difference=${difference} onRoot=${showInFlame}
            onMethod=${showMethod} />
        `}
  `;
}

/**
 * The tree of the chosen shape, and the totals of both recordings in a comparison.
 * @param {CallProfile} profile
 * @param {CallProfile | null} against
 * @param {ViewOptions} options
 * @returns {{tree: ContextTree, difference: import("./flame-detail.js").Difference | null}}
 */
function useShownTree(profile, against, { measure, switches }) {
  const shape = { measure, folded: switches.has("folded"), byThread: switches.has("threads") };
  const isInverted = switches.has("inverted");
  const equalTotals = switches.has("equal");
  const treeOf = (/** @type {CallProfile | null} */ source) => {
    const tree = source === null ? null : knownTree(source, shape);
    return tree !== null && isInverted ? invertTree(tree) : tree;
  };
  const dependencies = [measure, shape.folded, shape.byThread, isInverted];
  // The caller has checked that the profile has contexts.
  const after = useMemo(() => /** @type {ContextTree} */ (treeOf(profile)), [profile, ...dependencies]);
  const before = useMemo(() => treeOf(against), [against, ...dependencies]);
  return useMemo(() => {
    if (before === null) {
      return { tree: after, difference: null };
    }
    const { tree, ...difference } = differenceOfTrees(before, after, { equalTotals });
    return { tree, difference };
  }, [after, before, equalTotals]);
}

/**
 * @param {{options: ViewOptions, isComparison: boolean, setAddress: (patch: Record<string, string>) => void}} props
 */
function TreeControls({ options, isComparison, setAddress }) {
  const { measure, measures, switches, query } = options;
  const choose = (/** @type {Event} */ event) =>
    setAddress({ measure: /** @type {HTMLSelectElement} */ (event.currentTarget).value });
  const toggle = (/** @type {Switch} */ name, /** @type {string} */ title) => html`
    <label class="calls-check">
      <input type="checkbox" checked=${switches.has(name)}
        onChange=${() => setAddress({ shape: shapeWith(switches, name) })} />
      ${title}
    </label>
  `;
  return html`
    <div class="calls-controls">
      <label>
        Measure
        <select value=${measure} onChange=${choose}>
          ${measures.map(
            (one) => html`<option value=${one} selected=${one === measure}>${MEASURES[one].title}</option>`,
          )}
        </select>
      </label>
      <${SearchField} query=${query} setAddress=${setAddress} />
      ${toggle("folded", "Fold recursion")}
      ${toggle("inverted", "Inverted: callers below")}
      ${toggle("threads", "By thread")}
      ${isComparison ? toggle("equal", "Equal totals: compare shares") : null}
    </div>
  `;
}

/** @param {{query: string, setAddress: (patch: Record<string, string>) => void}} props */
function SearchField({ query, setAddress }) {
  return html`
    <label>
      Search
      <input type="search" class="calls-search" value=${query} placeholder="text or /expression/" autocomplete="off"
        spellcheck=${false} onInput=${(/** @type {Event} */ event) =>
          setAddress({ query: /** @type {HTMLInputElement} */ (event.currentTarget).value })} />
    </label>
  `;
}

/** @param {{isComparison: boolean}} props */
function Legend({ isComparison }) {
  const packages = html`
    Frames of one package have one colour, with shades for its classes. The tab Tree has the same figures as a table.
  `;
  const changes = html`
    <span class="flame-key flame-key-less">− less than before</span>
    <span class="flame-key flame-key-more">+ more than before</span>
    The width of a frame is the mean of both recordings. The tab Tree has the same figures as a table.
  `;
  return html`<p class="calls-summary">${isComparison ? changes : packages}</p>`;
}

/**
 * All paths to a method, with their weights.
 * @param {{profile: CallProfile, method: number, measure: import("./call-figures.js").Measure,
 *   showMethod: (method: number) => void}} props
 */
function PathsToMethod({ profile, method, measure, showMethod }) {
  const whole = useMemo(() => knownTree(profile, { measure }), [profile, measure]);
  const tree = useMemo(
    () => (whole === null || method < 0 ? null : callersTree(whole, frameOfMethod(whole, method))),
    [whole, method],
  );
  if (tree === null || tree.count < 2) {
    return null;
  }
  return html`
    <h3>All paths to this method (${MEASURES[measure].title.toLowerCase()})</h3>
    <${CallTree} tree=${tree} onMethod=${showMethod} />
  `;
}

/**
 * What the recording did not see.
 * @param {{profile: CallProfile}} props
 */
function Notices({ profile: { info, unseen } }) {
  const texts = ["incomplete", "warning", "contexts"].flatMap((key) => info[key] ?? []);
  const rest = unseen.length - MAX_UNSEEN;
  return html`
    ${texts.map((text) => html`<p class="calls-notice">${text}</p>`)}
    ${unseen.length === 0
      ? null
      : html`
          <details class="calls-notice">
            <summary>Calls are missing: ${countOf(unseen.length, "class was", "classes were")} not recorded</summary>
            <ul>
              ${unseen.slice(0, MAX_UNSEEN).map(
                (one) => html`<li><bdi>${one.class}</bdi>: ${one.reason}</li>`,
              )}
              ${rest > 0 ? html`<li>… ${rest} more</li>` : null}
            </ul>
          </details>
        `}
  `;
}
