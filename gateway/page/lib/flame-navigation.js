// Moves within a flame graph: the focused frame, the visible part, and the way back.

import { useRef, useState } from "./html.js";
import { nodeAfterKey, partWithNode, zoomedPart } from "./flame-layout.js";

/** @typedef {import("./tree-builder.js").ContextTree} ContextTree */
/** @typedef {{from: number, to: number}} Part */
/** @typedef {{rectangles: import("./flame-layout.js").Rectangles, at: number}} Hovered */

/**
 * @typedef {object} Navigation
 * @property {number} focused the focused node
 * @property {boolean} isAnnounced whether a key moved the focus
 * @property {Part} part the visible part of the width
 * @property {(part: Part) => void} changePart
 * @property {Hovered | null} hovered the rectangle under the pointer
 * @property {(hovered: Hovered | null) => void} setHovered
 * @property {(node: number) => void} moveFocus
 * @property {(node: number) => void} enter gives the whole width to a node
 * @property {() => void} back
 */

/** @type {Part} */
export const WHOLE = { from: 0, to: 1 };

const KEY_ZOOM = 0.5;
const SLIVER_ZOOM = 0.04;

/**
 * @param {ContextTree} tree
 * @param {number} root
 * @param {(node: number) => void} onRoot
 * @returns {Navigation}
 */
export function useNavigation(tree, root, onRoot) {
  const [focus, setFocus] = useState({ tree, root, node: root, isAnnounced: false });
  const [part, setPart] = useState({ tree, root, ...WHOLE });
  const [hovered, setHovered] = useState(/** @type {Hovered | null} */ (null));
  const history = useRef({ tree, roots: /** @type {number[]} */ ([]) });
  // Numbers of nodes are valid for one tree only.
  const isCurrent = (/** @type {{tree: ContextTree, root: number}} */ state) =>
    state.tree === tree && state.root === root;
  const roots = history.current.tree === tree ? history.current.roots : [];
  const changeRoot = (/** @type {number} */ node, /** @type {number[]} */ before) => {
    if (node >= 0 && node !== root) {
      history.current = { tree, roots: before };
      setHovered(null);
      onRoot(node);
    }
  };
  return {
    focused: isCurrent(focus) ? focus.node : root,
    isAnnounced: isCurrent(focus) && focus.isAnnounced,
    part: isCurrent(part) ? part : WHOLE,
    changePart: (next) => setPart({ tree, root, ...next }),
    hovered,
    setHovered: (next) => {
      const isSame = next?.at === hovered?.at && next?.rectangles === hovered?.rectangles;
      if (!isSame) {
        setHovered(next);
      }
    },
    moveFocus: (node) => setFocus({ tree, root, node, isAnnounced: true }),
    enter: (node) => changeRoot(node, [...roots, root]),
    // If the address of the page named the root, there is no way back, but a frame above.
    back: () => changeRoot(roots.at(-1) ?? tree.parent[root], roots.slice(0, -1)),
  };
}

/**
 * Enlarges the clicked frame. A click on the enlarged frame goes back, and a click on a sliver enlarges
 * the part of the picture around it.
 * @param {Navigation} navigation
 * @param {Hovered} clicked
 * @param {number} root
 * @param {number} place of the click in the visible part, from 0 to 1
 */
export function clickRectangle(navigation, { rectangles, at }, root, place) {
  const node = rectangles.node[at];
  if (rectangles.width[at] < 0.5) {
    navigation.changePart(zoomedPart(navigation.part, SLIVER_ZOOM, place));
    navigation.setHovered(null);
  } else if (node === root) {
    navigation.back();
  } else {
    navigation.enter(node);
  }
}

/**
 * @param {Navigation} navigation
 * @param {ContextTree} tree
 * @param {number} root
 * @param {KeyboardEvent} event
 * @param {(row: number) => void} showRow scrolls to a row
 */
export function pressKey(navigation, tree, root, event, showRow) {
  const { key, ctrlKey, altKey, metaKey } = event;
  const { focused, part, changePart } = navigation;
  if (ctrlKey || altKey || metaKey) {
    return;
  }
  if (key.startsWith("Arrow") || key === "Home") {
    const next = nodeAfterKey(tree, root, focused, key);
    navigation.setHovered(null);
    navigation.moveFocus(next);
    changePart(partWithNode(tree, root, part, next));
    showRow(tree.depth[next] - tree.depth[root]);
  } else if (key === "Enter" || key === " ") {
    navigation.enter(focused);
  } else if (key === "Escape" || key === "Backspace") {
    navigation.back();
  } else if (key === "+" || key === "=" || key === "-") {
    const factor = key === "-" ? 1 / KEY_ZOOM : KEY_ZOOM;
    changePart(zoomedPart(part, factor, placeOf(tree, root, part, focused)));
  } else if (key === "0") {
    changePart(WHOLE);
  } else {
    return;
  }
  event.preventDefault();
}

/**
 * The place of the centre of a node in the visible part, from 0 to 1.
 * @param {ContextTree} tree
 * @param {number} root
 * @param {Part} part
 * @param {number} node
 */
function placeOf(tree, root, { from, to }, node) {
  const whole = tree.total[root];
  const centre = tree.left[node] - tree.left[root] + tree.total[node] / 2;
  return whole > 0 ? Math.min(1, Math.max(0, (centre / whole - from) / (to - from))) : 0.5;
}
