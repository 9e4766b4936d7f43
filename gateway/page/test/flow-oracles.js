// Random control-flow graphs, and slow definitions of dominators and loops to test against.

/** @typedef {import("../lib/graph-types.js").Graph} Graph */

/**
 * A generator of numbers in [0, 1) that a seed determines (mulberry32).
 * @param {number} seed
 */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * @param {number[]} numbers block numbers
 * @param {[number, number][]} edges
 * @returns {Graph}
 */
export function graphOf(numbers, edges) {
  const blocks = numbers.map((number) => ({
    number,
    line: number + 10,
    instructions: [],
    depth: 0,
    header: false,
    reachable: true,
    variables: [],
  }));
  return { class: "shop.Test", method: "m()V", blocks, edges };
}

/**
 * Any graph: irreducible cycles, self edges, duplicate edges and unreached blocks occur.
 * @param {number} seed
 * @param {number} count
 * @param {number} [locality] the greatest distance of an edge; unlimited by default
 */
export function randomGraph(seed, count, locality = count) {
  const random = randomNumbers(seed);
  const numbers = Array.from({ length: count }, (_, i) => i);
  /** @type {[number, number][]} */
  const edges = [];
  for (let from = 0; from < count; from += 1) {
    const degree = random() < 0.1 ? 0 : random() < 0.5 ? 1 : 2 + Math.floor(random() * 3);
    for (let k = 0; k < degree; k += 1) {
      const distance = 1 + Math.floor(random() * locality);
      const to = random() < 0.3 ? from - distance : from + (k === 0 ? 1 : distance);
      edges.push([from, Math.max(0, Math.min(count - 1, to))]);
    }
  }
  return graphOf(numbers, edges);
}

/**
 * A graph as `javac` produces it: sequences, branches, switches, and loops with breaks and continues.
 * @param {number} seed
 * @param {number} size the approximate number of blocks
 */
export function structuredGraph(seed, size) {
  const random = randomNumbers(seed);
  /** @type {[number, number][]} */
  const edges = [];
  let last = 0;
  const next = () => (last += 1);
  /**
   * @param {number} from
   * @param {number} budget
   * @param {{head: number, exits: number[]}[]} loops
   * @returns {number} the block where control continues
   */
  const statement = (from, budget, loops) => {
    const choice = random();
    if (budget < 3 || choice < 0.15) {
      const block = next();
      edges.push([from, block]);
      const loop = loops[Math.floor(random() * loops.length)];
      if (loop && random() < 0.3) edges.push([block, loop.head]);
      if (loop && random() < 0.3) loop.exits.push(block);
      return block;
    }
    if (choice < 0.45) {
      const head = next();
      edges.push([from, head]);
      const loop = { head, exits: [head] };
      const end = statements(head, budget - 1, [...loops, loop]);
      edges.push([end, head]);
      const exit = next();
      for (const block of loop.exits) edges.push([block, exit]);
      return exit;
    }
    const cases = choice < 0.8 ? 2 : 3 + Math.floor(random() * 4);
    const ends = Array.from({ length: cases }, (_, k) =>
      k === 0 && random() < 0.4 ? from : statements(from, Math.floor(budget / cases), loops),
    );
    const join = next();
    for (const end of ends) edges.push([end, join]);
    return join;
  };
  /** @type {typeof statement} */
  const statements = (from, budget, loops) => {
    let block = from;
    let left = budget;
    while (left > 0) {
      const share = Math.min(left, 1 + Math.floor(random() * 12));
      block = statement(block, share, loops);
      left -= Math.max(1, share);
    }
    return block;
  };
  statements(0, size, []);
  return graphOf(Array.from({ length: last + 1 }, (_, i) => i), edges);
}

/**
 * The blocks that edges reach from `root` without passing through `removed`.
 * @param {Graph} graph
 * @param {number} root
 * @param {number} [removed]
 */
export function reachedFrom(graph, root, removed) {
  const seen = new Set(root === removed ? [] : [root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [from, to] of graph.edges) {
      if (!seen.has(from) || seen.has(to) || to === removed) continue;
      seen.add(to);
      grown = true;
    }
  }
  return seen;
}

/**
 * All pairs "dominator block" of blocks that block 0 reaches, by the definition of dominance.
 * @param {Graph} graph
 */
export function dominancePairs(graph) {
  const reached = reachedFrom(graph, 0);
  const pairs = new Set();
  for (const dominator of reached) {
    const others = reachedFrom(graph, 0, dominator);
    for (const block of reached) if (!others.has(block)) pairs.add(`${dominator} ${block}`);
  }
  return pairs;
}

/**
 * The natural loops of the reached part: header → blocks. Edges whose target does not dominate
 * their source form no natural loop.
 * @param {Graph} graph
 */
export function naturalLoops(graph) {
  const pairs = dominancePairs(graph);
  /** @type {Map<number, Set<number>>} */
  const loops = new Map();
  for (const [from, to] of graph.edges) {
    if (!pairs.has(`${to} ${from}`)) continue;
    const body = loops.get(to) ?? new Set([to]);
    loops.set(to, body);
    const work = [from];
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      if (body.has(block)) continue;
      body.add(block);
      for (const [source, target] of graph.edges) {
        if (target === block && pairs.has(`${to} ${source}`)) work.push(source);
      }
    }
  }
  return loops;
}

/**
 * Whether the graph without the given edges has no cycle, by repeatedly removing blocks without predecessors.
 * @param {number[]} blocks
 * @param {[number, number][]} edges
 */
export function isAcyclic(blocks, edges) {
  const left = new Set(blocks);
  for (let shrunk = true; shrunk; ) {
    shrunk = false;
    for (const block of left) {
      if (edges.some(([from, to]) => to === block && left.has(from))) continue;
      left.delete(block);
      shrunk = true;
    }
  }
  return left.size === 0;
}
