// Preact and htm, joined: the only module that imports from `vendor/`.
//
// `html` turns a template into Preact nodes. Values become text or attributes, never markup, so a
// name of an application cannot insert elements.

import { Component, Fragment, h, render } from "../vendor/preact.mjs";
import htm from "../vendor/htm.mjs";

export const html = htm.bind(h);
export { Component, Fragment, h, render };
export {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from "../vendor/preact-hooks.mjs";
