// The costs of methods, and of the calls between two methods.
//
// The wall time of a method is the time during which at least one activation of it was on the stack of
// a thread. So for a recursive method only the outermost contexts are added. The self time is added
// over all contexts. The commands calculate costs in the same way (profiles/calls/src/cost.rs).

/** @typedef {import("./call-profile.js").CallProfile} CallProfile */
/** @typedef {import("./call-profile.js").Contexts} Contexts */

/**
 * The costs of each method by its position, and their sums.
 * @typedef {object} MethodCosts
 * @property {Float64Array} calls
 * @property {Float64Array} total wall time with callees, in nanoseconds
 * @property {Float64Array} self wall time without callees
 * @property {Float64Array} cpu processor time without callees
 * @property {Float64Array} allocations
 * @property {{calls: number, self: number, cpu: number, allocations: number}} sums
 */

/**
 * The calls of one method by another one.
 * @typedef {object} Arc
 * @property {number} method the other method
 * @property {number} calls
 * @property {number} self wall time of the callee itself in these calls, in nanoseconds
 * @property {number} descendants wall time of the callee's callees in these calls. Recursive calls have
 *   none, because the outermost call contains it.
 * @property {CallSite[]} sites those with the most calls first
 */

/** @typedef {{line: number, bci: number, kind: string, calls: number}} CallSite */

/**
 * The costs of a profile are asked for by several tables, and take some time for a million contexts.
 * @template T
 * @param {(profile: CallProfile) => T} calculate
 * @returns {(profile: CallProfile) => T}
 */
function onceForEachProfile(calculate) {
  /** @type {WeakMap<CallProfile, T>} */
  const known = new WeakMap();
  return (profile) => {
    const found = known.get(profile) ?? calculate(profile);
    known.set(profile, found);
    return found;
  };
}

/** @type {(profile: CallProfile) => MethodCosts} */
export const methodCosts = onceForEachProfile(calculateCosts);

/**
 * The method with the most self time, or with the most calls if the profile has no times; -1 if the
 * profile has no methods.
 * @param {CallProfile} profile
 * @returns {number}
 */
export function costliestMethod(profile) {
  const { calls, self, sums } = methodCosts(profile);
  const costs = sums.self > 0 ? self : calls;
  return costs.reduce((best, cost, method) => (best < 0 || cost > costs[best] ? method : best), -1);
}

/**
 * For each context, 1 if no context of its method is above it in its thread.
 * @type {(profile: CallProfile) => Uint8Array}
 */
export const outermostContexts = onceForEachProfile(findOutermostContexts);

/**
 * @param {CallProfile} profile
 * @returns {MethodCosts}
 */
function calculateCosts(profile) {
  const { contexts, methods } = profile;
  const column = () => new Float64Array(methods.length);
  const costs = { calls: column(), total: column(), self: column(), cpu: column(), allocations: column() };
  const outermost = outermostContexts(profile);
  for (let context = 0; context < contexts.count; context++) {
    const method = contexts.method[context];
    costs.calls[method] += contexts.calls[context];
    costs.total[method] += outermost[context] === 1 ? contexts.wall[context] : 0;
    costs.self[method] += contexts.self[context];
    costs.cpu[method] += contexts.selfCpu[context];
    costs.allocations[method] += contexts.allocations[context];
  }
  methods.forEach(({ entries }, method) => {
    // Counts of contexts can be missing, so the counts of the graph are preferred.
    costs.calls[method] = entries > 0 ? entries : costs.calls[method];
  });
  const sum = (/** @type {Float64Array} */ values) => values.reduce((all, value) => all + value, 0);
  const { calls, self, cpu, allocations } = costs;
  return {
    ...costs,
    sums: { calls: sum(calls), self: sum(self), cpu: sum(cpu), allocations: sum(allocations) },
  };
}

/**
 * Visits the tree in depth-first order, so that the time does not grow with the depth.
 * @param {CallProfile} profile
 * @returns {Uint8Array}
 */
function findOutermostContexts({ contexts, methods }) {
  const { count, parent, method, ownThread } = contexts;
  // The children of a context are a list: the first one, and after each one the next one.
  const firstChild = new Int32Array(count).fill(-1);
  const nextSibling = new Int32Array(count).fill(-1);
  const isRoot = (/** @type {number} */ context) => parent[context] < 0 || ownThread[context] === 1;
  for (let context = count - 1; context >= 0; context--) {
    if (!isRoot(context)) {
      nextSibling[context] = firstChild[parent[context]];
      firstChild[parent[context]] = context;
    }
  }
  const onStack = new Int32Array(methods.length);
  const outermost = new Uint8Array(count);
  for (let root = 0; root < count; root++) {
    let context = isRoot(root) ? root : -1;
    while (context >= 0) {
      outermost[context] = onStack[method[context]] === 0 ? 1 : 0;
      onStack[method[context]]++;
      if (firstChild[context] >= 0) {
        context = firstChild[context];
        continue;
      }
      // Leaves contexts until one of them has a sibling.
      let left = context;
      onStack[method[left]]--;
      while (left !== root && nextSibling[left] < 0) {
        left = parent[left];
        onStack[method[left]]--;
      }
      context = left === root ? -1 : nextSibling[left];
    }
  }
  return outermost;
}

/**
 * The callers of a method, those with the fewest calls first, so that the most frequent one is next to
 * the method.
 * @param {CallProfile} profile
 * @param {number} method
 * @returns {Arc[]}
 */
export function callersOf(profile, method) {
  return arcsOf(profile, method, "callee").reverse();
}

/**
 * The methods that a method calls, those with the most calls first.
 * @param {CallProfile} profile
 * @param {number} method
 * @returns {Arc[]}
 */
export function calleesOf(profile, method) {
  return arcsOf(profile, method, "caller");
}

/**
 * The arcs at one end of which is the method. The counts are those of the edges, which are exact; if
 * the profile has no edges, they are those of the contexts.
 * @param {CallProfile} profile
 * @param {number} method
 * @param {"caller" | "callee"} end the end at which the method is
 * @returns {Arc[]} those with the most calls first
 */
function arcsOf(profile, method, end) {
  const { edges } = profile;
  /** @type {Map<number, Arc>} */
  const arcs = new Map();
  const near = edges[end];
  const far = end === "caller" ? edges.callee : edges.caller;
  for (let edge = 0; edge < edges.count; edge++) {
    if (near[edge] === method) {
      const arc = arcOf(arcs, far[edge]);
      const [line, bci, calls] = [edges.line[edge], edges.bci[edge], edges.calls[edge]];
      arc.calls += calls;
      arc.sites.push({ line, bci, kind: edges.kind[edge], calls });
    }
  }
  addTimes(profile, method, end, arcs);
  const sorted = [...arcs.values()].sort((a, b) => b.calls - a.calls || a.method - b.method);
  sorted.forEach(({ sites }) => sites.sort((a, b) => b.calls - a.calls || a.bci - b.bci));
  return sorted;
}

/**
 * @param {Map<number, Arc>} arcs
 * @param {number} method
 * @returns {Arc}
 */
function arcOf(arcs, method) {
  const found = arcs.get(method);
  if (found !== undefined) {
    return found;
  }
  const arc = { method, calls: 0, self: 0, descendants: 0, sites: [] };
  arcs.set(method, arc);
  return arc;
}

/**
 * @param {CallProfile} profile
 * @param {number} method
 * @param {"caller" | "callee"} end
 * @param {Map<number, Arc>} arcs
 */
function addTimes(profile, method, end, arcs) {
  const { contexts, edges } = profile;
  const outermost = outermostContexts(profile);
  for (let context = 0; context < contexts.count; context++) {
    const parent = contexts.parent[context];
    if (parent < 0) {
      continue;
    }
    const [caller, callee] = [contexts.method[parent], contexts.method[context]];
    if ((end === "caller" ? caller : callee) !== method) {
      continue;
    }
    const arc = arcOf(arcs, end === "caller" ? callee : caller);
    arc.calls += edges.count === 0 ? contexts.calls[context] : 0;
    arc.self += contexts.self[context];
    if (outermost[context] === 1) {
      arc.descendants += Math.max(0, contexts.wall[context] - contexts.self[context]);
    }
  }
}
