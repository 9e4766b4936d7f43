// A calls profile in columns.
//
// `readProfile` takes the JSON of docs/calls.schema.json and keeps each number of the edges and
// contexts in a typed array, because a million objects would need ten times the memory and time.
// Methods and contexts are then named by their position instead of their id.
//
//   document.methods[]   ──▶ methods[]                 position = method
//   document.edges[]     ──▶ edges.caller, .callee …    position = edge
//   document.contexts[]  ──▶ contexts.parent, .method … position = context; a parent precedes it

import { methodLabel, packageOf, plainText, shortMethodLabel } from "./call-names.js";

/** @typedef {import("./call-figures.js").Measure} Measure */

/**
 * @typedef {object} Method
 * @property {number} id the id in the file
 * @property {string} identity the same in every profile: loader, class, name and descriptor
 * @property {string} label `shop.Desk::serve(int)`
 * @property {string} shortLabel `Desk::serve(int)`
 * @property {string} className
 * @property {string} packageName
 * @property {number} entries
 * @property {number} residue the entries that no recorded call explains
 * @property {boolean} native
 * @property {boolean} overflow whether this is no method, but calls that could not be distinguished
 */

/**
 * @typedef {object} Edges
 * @property {number} count
 * @property {Int32Array} caller
 * @property {Int32Array} callee
 * @property {Int32Array} line -1 if unknown
 * @property {Int32Array} bci -1 if unknown
 * @property {string[]} kind
 * @property {Float64Array} calls
 */

/**
 * @typedef {object} Contexts
 * @property {number} count
 * @property {Int32Array} parent -1 for roots
 * @property {Int32Array} method
 * @property {Int32Array} thread position in `threads`; -1 for contexts that are not roots of a thread
 * @property {Uint8Array} ownThread 1 if the time of the context is not part of its parent's time
 * @property {Float64Array} calls
 * @property {Float64Array} wall wall time with callees, in nanoseconds
 * @property {Float64Array} self wall time without callees
 * @property {Float64Array} cpu processor time with callees
 * @property {Float64Array} selfCpu processor time without callees
 * @property {Float64Array} allocations
 */

/** @typedef {{label: string, identity: string}} Thread */

/**
 * @typedef {object} CallProfile
 * @property {Method[]} methods
 * @property {Edges} edges
 * @property {Contexts} contexts
 * @property {Thread[]} threads
 * @property {Record<string, string[]>} info facts about the recording
 * @property {{class: string, reason: string}[]} unseen classes whose calls are missing
 */

/**
 * @param {any} document the JSON of `veneer calls show FILE --json`
 * @returns {CallProfile}
 */
export function readProfile(document) {
  const methods = readMethods(document.methods ?? [], document.loaders ?? []);
  const methodAt = positions(document.methods ?? []);
  // A damaged file can name a method that it does not have.
  const methodOf = (/** @type {number} */ id) => {
    const position = methodAt(id);
    return position >= 0 ? position : unknownMethod(methods);
  };
  const threads = document.threads ?? [];
  return {
    methods,
    edges: readEdges(document.edges ?? [], methodOf),
    contexts: readContexts(document.contexts ?? [], methodOf, positions(threads)),
    threads: threads.map(readThread),
    info: document.info ?? {},
    unseen: document.unseen ?? [],
  };
}

/**
 * A function from ids to positions; -1 for ids that no element has.
 * @param {{id: number}[]} elements
 * @returns {(id: number | undefined) => number}
 */
function positions(elements) {
  const { length } = elements;
  if (elements.every((element, position) => element.id === position)) {
    return (id) => (id !== undefined && id >= 0 && id < length ? id : -1);
  }
  const found = new Map(elements.map((element, position) => [element.id, position]));
  return (id) => (id === undefined ? -1 : (found.get(id) ?? -1));
}

/**
 * @param {any[]} elements
 * @param {any[]} loaders
 * @returns {Method[]}
 */
function readMethods(elements, loaders) {
  const loaderAt = positions(loaders);
  const loaderNames = loaders.map(({ name, number }) => (number > 1 ? `${name}#${number}` : name));
  const nameCounts = new Map();
  for (const element of elements) {
    const name = nameKey(element);
    nameCounts.set(name, (nameCounts.get(name) ?? 0) + 1);
  }
  return elements.map((element) => {
    const loader = loaderNames[loaderAt(element.loader)] ?? "";
    const overflow = element.overflow === true || element.class === "";
    const isAmbiguous = !overflow && (nameCounts.get(nameKey(element)) ?? 0) > 1;
    const suffix = isAmbiguous ? plainText(` [${loader}]`) : "";
    return {
      id: element.id,
      identity: JSON.stringify([loader, element.class, element.method, element.descriptor]),
      label: methodLabel(element) + suffix,
      shortLabel: shortMethodLabel(element) + suffix,
      className: plainText(element.class),
      packageName: plainText(packageOf(element.class)),
      entries: element.entries ?? 0,
      residue: element.residue ?? 0,
      native: element.native === true,
      overflow,
    };
  });
}

/** @param {{class: string, method: string, descriptor: string}} name */
function nameKey(name) {
  return `${name.class}\n${name.method}\n${name.descriptor}`;
}

/**
 * The position of the method that stands for ids without a method.
 * @param {Method[]} methods
 */
function unknownMethod(methods) {
  const label = "[a method that the file does not name]";
  const last = methods.length - 1;
  if (last >= 0 && methods[last].id === -1) {
    return last;
  }
  return (
    methods.push({
      id: -1,
      identity: label,
      label,
      shortLabel: label,
      className: "",
      packageName: "",
      entries: 0,
      residue: 0,
      native: false,
      overflow: true,
    }) - 1
  );
}

/**
 * @param {any[]} elements
 * @param {(id: number) => number} methodOf
 * @returns {Edges}
 */
function readEdges(elements, methodOf) {
  const edges = {
    count: elements.length,
    caller: new Int32Array(elements.length),
    callee: new Int32Array(elements.length),
    line: new Int32Array(elements.length),
    bci: new Int32Array(elements.length),
    kind: elements.map((element) => String(element.kind)),
    calls: new Float64Array(elements.length),
  };
  elements.forEach((element, edge) => {
    edges.caller[edge] = methodOf(element.caller);
    edges.callee[edge] = methodOf(element.callee);
    edges.line[edge] = element.line ?? -1;
    edges.bci[edge] = element.bci ?? -1;
    edges.calls[edge] = element.count;
  });
  return edges;
}

/**
 * @param {any[]} elements
 * @param {(id: number) => number} methodOf
 * @param {(id: number | undefined) => number} threadAt
 * @returns {Contexts}
 */
function readContexts(elements, methodOf, threadAt) {
  const count = elements.length;
  const contexts = {
    count,
    parent: new Int32Array(count),
    method: new Int32Array(count),
    thread: new Int32Array(count),
    ownThread: new Uint8Array(count),
    calls: new Float64Array(count),
    wall: new Float64Array(count),
    self: new Float64Array(count),
    cpu: new Float64Array(count),
    selfCpu: new Float64Array(count),
    allocations: new Float64Array(count),
  };
  const contextAt = positions(elements);
  for (let context = 0; context < count; context++) {
    const element = elements[context];
    const parent = contextAt(element.parent);
    // A parent that follows its child would make a cycle possible.
    contexts.parent[context] = parent < context ? parent : -1;
    contexts.method[context] = methodOf(element.method);
    contexts.thread[context] = threadAt(element.thread);
    contexts.ownThread[context] = element.origin === "handover" ? 1 : 0;
    contexts.calls[context] = element.calls;
    contexts.wall[context] = element.wall_ns;
    contexts.self[context] = element.self_ns;
    contexts.cpu[context] = element.cpu_ns ?? 0;
    contexts.selfCpu[context] = element.self_cpu_ns ?? 0;
    contexts.allocations[context] = element.allocations ?? 0;
  }
  return contexts;
}

/**
 * @param {{name: string, number: number, virtual: boolean}} thread
 * @returns {Thread}
 */
function readThread({ name, number, virtual }) {
  const suffix = number > 1 ? ` #${number}` : "";
  return {
    label: plainText(`${virtual ? "virtual thread" : "thread"} ${name}${suffix}`),
    identity: JSON.stringify(["thread", name, number]),
  };
}

/**
 * The measures that the contexts of a profile have.
 * @param {CallProfile} profile
 * @returns {Measure[]}
 */
export function availableMeasures({ contexts }) {
  /** @type {[Measure, Float64Array][]} */
  const columns = [
    ["calls", contexts.calls],
    ["wall", contexts.wall],
    ["self", contexts.self],
    ["cpu", contexts.selfCpu],
    ["allocations", contexts.allocations],
  ];
  const isPresent = (/** @type {Float64Array} */ column) => column.some((value) => value > 0);
  return columns.filter(([, column]) => isPresent(column)).map(([measure]) => measure);
}
