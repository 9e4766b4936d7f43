// The tree of contexts as a table: the same figures as the flame graph, for reading and for assistive
// technology.

import { html, useMemo, useState } from "./html.js";
import { changeText, countText, measureText } from "./call-figures.js";
import { shareText } from "./share.js";
import { expandHeaviestPath, expandTo, nextMatch, siblingPosition, visibleNodes } from "./tree-rows.js";
import { searchTree } from "./tree-search.js";
import { VirtualTable } from "./virtual-table.js";

/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */
/** @typedef {import("./flame-detail.js").Difference} Difference */
/** @typedef {import("./virtual-table.js").Column} Column */

/** Deeper rows are not indented further, so that their names remain visible. */
const MAX_INDENT = 30;
const INDENT_REM = 0.9;
/** More rows are not expanded by one press of a button. */
const MAX_EXPANDED = 200_000;

/**
 * @typedef {object} CallTreeProps
 * @property {ContextTree} tree
 * @property {number} [root] the node of the first row
 * @property {string} [query]
 * @property {Difference | null} [difference]
 * @property {(node: number) => void} [onRoot] shows a node in the flame graph
 * @property {(method: number) => void} [onMethod]
 */

/** @param {CallTreeProps} props */
export function CallTree({ tree, root: wanted = 0, query = "", difference = null, onRoot, onMethod }) {
  const root = wanted < tree.count ? wanted : 0;
  const { rows, active, setActive, expanded, change } = useExpansion(tree, root);
  const search = useMemo(() => searchTree(tree, query), [tree, query]);
  const columns = columnsOf(tree, difference);
  const node = rows[Math.min(active, rows.length - 1)];

  const toggle = (/** @type {number} */ row) => change((flags) => (flags[rows[row]] ^= 1));
  /** @param {KeyboardEvent} event */
  const press = ({ key }) => {
    const hasChildren = tree.end[node] > node + 1;
    if (key === "ArrowRight" && hasChildren && expanded[node] === 0) {
      toggle(active);
    } else if (key === "ArrowRight" && hasChildren) {
      setActive(active + 1);
    } else if (key === "ArrowLeft" && hasChildren && expanded[node] === 1) {
      toggle(active);
    } else if (key === "ArrowLeft" && node !== root) {
      setActive(rows.indexOf(tree.parent[node]));
    }
    return key === "ArrowRight" || key === "ArrowLeft";
  };
  const showNext = () => {
    const found = search === null ? -1 : nextMatch(tree, search, root, node);
    if (found >= 0) {
      change((flags) => expandTo(tree, flags, found), found);
    }
  };
  return html`
    <div class="calls-tree">
      <${TreeButtons} tree=${tree} node=${node} change=${change} onRoot=${onRoot} onMethod=${onMethod}
        onNext=${search === null ? undefined : showNext} />
      <${VirtualTable} role="treegrid" columns=${columns} count=${rows.length} active=${active} onActive=${setActive}
        label=${tree.inverted ? "Methods and their callers" : "Calling contexts"} onOpen=${toggle} onKey=${press}
        rowAttributes=${(/** @type {number} */ row) => treeAttributes(tree, rows[row], root, expanded)}
        cells=${(/** @type {number} */ row) => columns.map(({ key }) =>
          key === "frame"
            ? frameCell({ tree, node: rows[row], root, expanded, search, toggle: () => toggle(row) })
            : figure(tree, difference, rows[row], key),
        )} />
    </div>
  `;
}

/**
 * Which nodes are expanded, and the rows that follow from it.
 * @param {ContextTree} tree
 * @param {number} root
 */
function useExpansion(tree, root) {
  const initial = useMemo(() => {
    const flags = new Uint8Array(tree.count);
    expandHeaviestPath(tree, flags, root);
    return { tree, root, flags, active: 0 };
  }, [tree, root]);
  const [changed, setChanged] = useState(initial);
  // Flags are valid for one tree only.
  const state = changed.tree === tree && changed.root === root ? changed : initial;
  const rows = useMemo(() => visibleNodes(tree, state.flags, root), [tree, root, state.flags]);
  return {
    rows,
    expanded: state.flags,
    active: Math.min(state.active, rows.length - 1),
    setActive: (/** @type {number} */ active) => setChanged({ ...state, active }),
    /**
     * Changes the flags. The row of `node` is active then, or that of the node that was active.
     * @param {(flags: Uint8Array) => void} edit
     * @param {number} [node]
     */
    change: (edit, node) => {
      const flags = state.flags.slice();
      edit(flags);
      const next = visibleNodes(tree, flags, root);
      const wanted = node ?? rows[Math.min(state.active, rows.length - 1)];
      let found = next.indexOf(wanted);
      for (let at = tree.parent[wanted]; found < 0 && at >= 0; at = tree.parent[at]) {
        found = next.indexOf(at);
      }
      setChanged({ tree, root, flags, active: Math.max(0, found) });
    },
  };
}

/**
 * @param {{tree: ContextTree, node: number, change: (edit: (flags: Uint8Array) => void) => void,
 *   onNext?: () => void, onRoot?: (node: number) => void, onMethod?: (method: number) => void}} props
 */
function TreeButtons({ tree, node, change, onNext, onRoot, onMethod }) {
  const { label, method } = tree.frames[tree.frame[node]];
  const setBelow = (/** @type {number} */ value) =>
    change((flags) => flags.fill(value, node, Math.min(tree.end[node], node + MAX_EXPANDED)));
  const button = (/** @type {string} */ text, /** @type {() => void} */ onClick, isDisabled = false) => html`
    <button type="button" disabled=${isDisabled} onClick=${onClick}>${text}</button>
  `;
  return html`
    <div class="calls-buttons" role="group" aria-label="Actions for the chosen row">
      <bdi class="calls-chosen">${label}</bdi>
      ${button("Expand all below", () => setBelow(1))}
      ${button("Collapse", () => setBelow(0))}
      ${button("Heaviest path", () => change((flags) => expandHeaviestPath(tree, flags, node)))}
      ${onNext === undefined ? null : button("Next match", onNext)}
      ${onRoot === undefined ? null : button("Show in the flame graph", () => onRoot(node))}
      ${onMethod === undefined ? null : button("Callers and callees", () => onMethod(method), method < 0)}
    </div>
  `;
}

/**
 * @param {ContextTree} tree
 * @param {Difference | null} difference
 * @returns {Column[]}
 */
function columnsOf({ inverted, measure }, difference) {
  const number = (/** @type {string} */ key, /** @type {string} */ title, width = "7.5rem") => ({
    key,
    title,
    width,
    isNumeric: true,
  });
  const frame = { key: "frame", title: inverted ? "Method, then its callers" : "Method", width: "minmax(20rem, 1fr)" };
  if (difference !== null) {
    return [frame, number("before", "Before"), number("after", "After"), number("change", "Change", "13rem")];
  }
  return [
    frame,
    ...(measure === "calls" ? [] : [number("calls", "Calls")]),
    number("total", "Total"),
    ...(inverted ? [] : [number("own", "Self")]),
    number("share", "Share"),
  ];
}

/**
 * @param {ContextTree} tree
 * @param {Difference | null} difference
 * @param {number} node
 * @param {string} key
 */
function figure(tree, difference, node, key) {
  const { measure, calls, total, own } = tree;
  switch (key) {
    case "calls":
      return node === 0 ? "" : countText(calls[node]);
    case "total":
      return measureText(measure, total[node]);
    case "own":
      return measureText(measure, own[node]);
    case "share":
      return shareText(total[node], total[0]);
    case "before":
      return measureText(measure, difference?.before[node] ?? 0);
    case "after":
      return measureText(measure, difference?.after[node] ?? 0);
    default:
      return changeText(measure, difference?.before[node] ?? 0, difference?.after[node] ?? 0);
  }
}

/**
 * @param {ContextTree} tree
 * @param {number} node
 * @param {number} root
 * @param {Uint8Array} expanded
 */
function treeAttributes(tree, node, root, expanded) {
  const { position, siblings } = node === root ? { position: 1, siblings: 1 } : siblingPosition(tree, node);
  const hasChildren = tree.end[node] > node + 1;
  return {
    "aria-level": tree.depth[node] - tree.depth[root] + 1,
    "aria-posinset": position,
    "aria-setsize": siblings,
    "aria-expanded": hasChildren ? String(expanded[node] === 1) : undefined,
  };
}

/**
 * @param {{tree: ContextTree, node: number, root: number, expanded: Uint8Array,
 *   search: import("./tree-search.js").SearchResult | null, toggle: () => void}} options
 */
function frameCell({ tree, node, root, expanded, search, toggle }) {
  const depth = tree.depth[node] - tree.depth[root];
  const { label } = tree.frames[tree.frame[node]];
  const isMatch = search !== null && search.frames[tree.frame[node]] === 1;
  const mark = tree.end[node] === node + 1 ? "" : expanded[node] === 1 ? "▾" : "▸";
  const level = depth > MAX_INDENT ? html`<span class="calls-level">level ${depth + 1}</span> ` : null;
  return html`
    <span class="calls-frame" title=${label} style=${{ paddingLeft: `${Math.min(depth, MAX_INDENT) * INDENT_REM}rem` }}>
      <span class="calls-toggle" aria-hidden="true" onClick=${toggle}>${mark}</span>
      ${level}<bdi class=${isMatch ? "calls-match" : ""}>${label}</bdi>
    </span>
  `;
}
