// The size of an element, as a hook.

import { useLayoutEffect, useState } from "./html.js";

/**
 * The inner size of an element in pixels, without scroll bars; 0 before it is displayed.
 * @param {{current: HTMLElement | null}} reference
 * @returns {{width: number, height: number}}
 */
export function useElementSize(reference) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = reference.current;
    if (element === null) {
      return undefined;
    }
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return size;
}
