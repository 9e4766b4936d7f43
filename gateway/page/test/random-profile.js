// Random calls profiles in the form of docs/calls.schema.json, for tests.

/**
 * A generator of numbers from 0 to 1 (mulberry32), so that a failed test can be repeated.
 * @param {number} seed
 * @returns {() => number}
 */
export function randomNumbers(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * @param {number} seed
 * @param {{contexts: number, methods: number, threads?: number, depth?: number}} size `depth` is
 *   about the depth of the tree
 */
export function randomDocument(seed, { contexts, methods, threads = 2, depth = 12 }) {
  const random = randomNumbers(seed);
  const below = (/** @type {number} */ limit) => Math.floor(random() * limit);
  const document = {
    schema: 1,
    info: {},
    loaders: [{ id: 0, name: "app", number: 1 }],
    methods: Array.from({ length: methods }, (_, id) => ({
      id,
      loader: 0,
      class: `shop.part${id % 7}.Class${id % 23}`,
      method: `method${id}`,
      descriptor: "(ILjava/lang/String;)V",
      native: false,
      entries: 0,
      residue: 0,
    })),
    edges: /** @type {any[]} */ ([]),
    allocations: [],
    threads: Array.from({ length: threads }, (_, id) => ({
      id,
      name: `worker-${id}`,
      number: 1,
      virtual: false,
    })),
    contexts: /** @type {any[]} */ ([]),
    unseen: [],
  };
  const levels = new Int32Array(contexts);
  for (let id = 0; id < contexts; id++) {
    const parent = id < 3 || below(200) === 0 ? undefined : parentFor(id, levels, depth, below);
    levels[id] = parent === undefined ? 0 : levels[parent] + 1;
    const self = below(4) === 0 ? 0 : below(1000);
    document.contexts.push({
      id,
      parent,
      thread: parent === undefined && threads > 0 ? below(threads) : undefined,
      method: below(methods),
      origin: "virtual",
      calls: 1 + below(50),
      wall_ns: self,
      self_ns: self,
      cpu_ns: 0,
      self_cpu_ns: below(500),
      allocations: below(3),
    });
  }
  for (let id = contexts - 1; id >= 0; id--) {
    const { parent, wall_ns } = document.contexts[id];
    if (parent !== undefined) {
      document.contexts[parent].wall_ns += wall_ns;
    }
  }
  addEdges(document);
  return document;
}

/**
 * A recent context that is not too deep.
 * @param {number} id
 * @param {Int32Array} levels
 * @param {number} depth
 * @param {(limit: number) => number} below
 */
function parentFor(id, levels, depth, below) {
  for (let attempt = 0; attempt < 4; attempt++) {
    const parent = Math.max(0, id - 1 - below(Math.min(id, 40)));
    if (levels[parent] < depth) {
      return parent;
    }
  }
  return below(id);
}

/**
 * Adds the edges and entries that the contexts imply.
 * @param {any} document
 */
function addEdges(document) {
  const counts = new Map();
  for (const { parent, method, calls } of document.contexts) {
    document.methods[method].entries += calls;
    if (parent === undefined) {
      document.methods[method].residue += calls;
      continue;
    }
    const caller = document.contexts[parent].method;
    const key = caller * document.methods.length + method;
    counts.set(key, (counts.get(key) ?? 0) + calls);
  }
  for (const [key, count] of counts) {
    const caller = Math.floor(key / document.methods.length);
    const callee = key % document.methods.length;
    document.edges.push({ caller, callee, bci: callee, line: 10 + (callee % 90), kind: "virtual", count });
  }
}
