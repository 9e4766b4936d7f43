// The address of a view, which the browser keeps behind `#`: the view, the JVM and the parts that
// restore it.
//
//   #/method/4711?pattern=shop.Desk%3A%3Aserve(int)&select=b3

/**
 * @typedef {object} Address
 * @property {string} view
 * @property {number | null} pid
 * @property {Record<string, string>} parts
 */

/**
 * Reads an address. Anything that is none leads to the list of JVMs.
 *
 * @param {string} hash
 * @returns {Address}
 */
export function parseAddress(hash) {
  const text = hash.startsWith("#") ? hash.slice(1) : hash;
  const [path = "", query = ""] = splitOnce(text, "?");
  const [view = "", pid = ""] = path.split("/").filter((step) => step !== "");
  /** @type {Record<string, string>} */
  const parts = {};
  for (const [name, value] of new URLSearchParams(query)) {
    parts[name] = value;
  }
  return {
    view: view === "" ? "machine" : view,
    pid: /^[0-9]{1,10}$/.test(pid) ? Number(pid) : null,
    parts,
  };
}

/**
 * @param {Address} address
 * @returns {string}
 */
export function formatAddress({ view, pid, parts }) {
  const given = Object.entries(parts).filter(([, value]) => value !== "");
  const query = new URLSearchParams(given).toString();
  const path = pid === null ? `#/${view}` : `#/${view}/${pid}`;
  return query === "" ? path : `${path}?${query}`;
}

/**
 * @param {string} text
 * @param {string} separator
 * @returns {string[]}
 */
function splitOnce(text, separator) {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
