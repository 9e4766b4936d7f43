// The address in the browser, and its changes.

import { useEffect, useState } from "./html.js";
import { formatAddress, parseAddress } from "./address.js";

/** The address, which follows the browser. */
export function useAddress() {
  const [address, setAddress] = useState(() => parseAddress(location.hash));
  useEffect(() => {
    const follow = () => setAddress(parseAddress(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return address;
}

/**
 * Replaces parts of the address. An empty text removes a part.
 * @param {Record<string, string>} patch
 */
export function changeAddress(patch) {
  const now = parseAddress(location.hash);
  const next = formatAddress({ ...now, parts: { ...now.parts, ...patch } });
  history.replaceState(null, "", next);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
