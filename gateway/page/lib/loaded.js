// A hook for data that the server has: loading, there, or failed.

import { useCallback, useEffect, useRef, useState } from "./html.js";

/**
 * @template T
 * @typedef {object} Loaded
 * @property {T | null} data
 * @property {unknown} error
 * @property {boolean} isLoading
 * @property {() => void} reload
 */

/**
 * Loads data now, and again whenever `keys` change or `reload` is called. An answer that comes after a
 * newer request is ignored.
 *
 * @template T
 * @param {() => Promise<T>} load
 * @param {unknown[]} keys
 * @returns {Loaded<T>}
 */
export function useLoaded(load, keys) {
  const [state, setState] = useState(
    /** @type {{data: T | null, error: unknown, isLoading: boolean}} */ ({
      data: null,
      error: null,
      isLoading: true,
    }),
  );
  const newest = useRef(0);
  const reload = useCallback(() => {
    newest.current += 1;
    const mine = newest.current;
    setState((before) => ({ ...before, isLoading: true }));
    load().then(
      (data) => mine === newest.current && setState({ data, error: null, isLoading: false }),
      (error) => mine === newest.current && setState({ data: null, error, isLoading: false }),
    );
  }, keys);
  useEffect(() => {
    setState({ data: null, error: null, isLoading: true });
    reload();
    return () => {
      newest.current += 1;
    };
  }, [reload]);
  return { ...state, reload };
}
