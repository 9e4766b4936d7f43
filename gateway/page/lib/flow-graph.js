// Analysis of a control-flow graph: depth-first order, dominators and the forest of loops.
//
// The picture of a method needs loops even where the graph is irreducible, and blocks that no edge
// reaches, such as exception handlers. All algorithms therefore start from several roots: first
// block 0, then roots among the blocks that block 0 does not reach. No function is recursive,
// because a method can be a chain of 10,000 blocks.
//
// Blocks are addressed by their index in the order of block numbers. Edges are sorted by these
// indexes, so the order of the input does not influence the result.

/** @typedef {import("./graph-types.js").Graph} Graph */

/**
 * Adjacency in compressed rows: the neighbours of `i` are `list[start[i]]` to `list[start[i + 1] - 1]`.
 * @typedef {{start: Int32Array, list: Int32Array}} Adjacency
 */

/**
 * A loop. `parent` is an index in the list of loops, or -1. Inner loops precede outer loops in that list.
 * @typedef {{header: number, parent: number, depth: number}} Loop
 */

/**
 * @typedef {object} FlowAnalysis
 * @property {number} count the number of blocks
 * @property {number[]} numbers the block number of each index, ascending
 * @property {Map<number, number>} indexes the index of each block number
 * @property {[number, number][]} edges pairs of indexes, sorted, without duplicates
 * @property {Adjacency} successors
 * @property {Adjacency} predecessors
 * @property {Int32Array} preorder position of each block in depth-first preorder
 * @property {Int32Array} lastDescendant the greatest preorder position below each block
 * @property {Int32Array} reversePostorder blocks; each block precedes its successors except along back edges
 * @property {Uint8Array} reached 1 if edges lead from block 0 to the block
 * @property {Int32Array} dominators immediate dominator, or -1 for roots
 * @property {Int32Array} dominatorOrder position of each block in a preorder of the dominator tree
 * @property {Loop[]} loops
 * @property {Int32Array} loopOf index of the innermost loop of each block, or -1
 */

/**
 * Computes everything that the layout asks about the structure of a graph.
 * @param {Graph} graph
 * @returns {FlowAnalysis}
 */
export function analyseFlowGraph(graph) {
  const indexed = indexGraph(graph);
  const search = depthFirstSearch(indexed);
  const dominators = immediateDominators(indexed, search);
  const dominatorOrder = dominatorPreorder(dominators, search);
  const { loops, loopOf } = loopForest(indexed, search);
  return { ...indexed, ...search, dominators, dominatorOrder, loops, loopOf };
}

/**
 * Whether `ancestor` is `block` or an ancestor of it in the depth-first tree.
 * @param {{preorder: Int32Array, lastDescendant: Int32Array}} search
 * @param {number} ancestor
 * @param {number} block
 */
export function isAncestor(search, ancestor, block) {
  const position = search.preorder[block];
  return search.preorder[ancestor] <= position && position <= search.lastDescendant[ancestor];
}

/**
 * Sorts blocks and edges. Edges to blocks that do not exist are dropped.
 * @param {Graph} graph
 */
function indexGraph(graph) {
  const numbers = [...new Set(graph.blocks.map((block) => block.number))].sort((a, b) => a - b);
  const count = numbers.length;
  const indexes = new Map(numbers.map((number, index) => [number, index]));
  /** @type {Set<number>} */
  const keys = new Set();
  for (const [from, to] of graph.edges) {
    const source = indexes.get(from);
    const target = indexes.get(to);
    if (source !== undefined && target !== undefined) keys.add(source * count + target);
  }
  const sorted = Float64Array.from(keys).sort();
  /** @type {[number, number][]} */
  const edges = Array.from(sorted, (key) => [Math.floor(key / count), key % count]);
  const successors = adjacency(count, edges, 0, 1);
  const predecessors = adjacency(count, edges, 1, 0);
  return { count, numbers, indexes, edges, successors, predecessors };
}

/**
 * @param {number} count
 * @param {[number, number][]} edges
 * @param {0 | 1} near the end of an edge whose neighbours are listed
 * @param {0 | 1} far
 * @returns {Adjacency}
 */
function adjacency(count, edges, near, far) {
  const start = new Int32Array(count + 1);
  for (const edge of edges) start[edge[near] + 1] += 1;
  for (let i = 0; i < count; i += 1) start[i + 1] += start[i];
  const next = start.slice(0, count);
  const list = new Int32Array(edges.length);
  for (const edge of edges) {
    list[next[edge[near]]] = edge[far];
    next[edge[near]] += 1;
  }
  return { start, list };
}

/**
 * @param {ReturnType<typeof indexGraph>} graph
 */
function depthFirstSearch(graph) {
  const { count, numbers, successors, predecessors } = graph;
  const preorder = new Int32Array(count).fill(-1);
  const lastDescendant = new Int32Array(count);
  const parents = new Int32Array(count).fill(-1);
  const cursors = successors.start.slice(0, count);
  const visited = new Int32Array(count);
  const postorder = new Int32Array(count);
  let visits = 0;
  let exits = 0;
  /** @param {number} root */
  const visitFrom = (root) => {
    if (preorder[root] >= 0) return;
    let block = root;
    visited[visits] = root;
    preorder[root] = visits++;
    while (block >= 0) {
      if (cursors[block] < successors.start[block + 1]) {
        const next = successors.list[cursors[block]++];
        if (preorder[next] >= 0) continue;
        parents[next] = block;
        visited[visits] = next;
        preorder[next] = visits++;
        block = next;
      } else {
        lastDescendant[block] = visits - 1;
        postorder[exits++] = block;
        block = parents[block];
      }
    }
  };
  if (count > 0) visitFrom(Math.max(0, numbers.indexOf(0)));
  const reached = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) reached[i] = preorder[i] >= 0 ? 1 : 0;
  for (const root of laterRoots(count, predecessors, reached)) visitFrom(root);
  const reversePostorder = postorder.reverse();
  return { preorder, lastDescendant, parents, visited, reversePostorder, reached };
}

/**
 * The order in which blocks that block 0 does not reach become roots: first those without
 * predecessors of the same kind, then the rest, which contains dead cycles.
 * @param {number} count
 * @param {Adjacency} predecessors
 * @param {Uint8Array} reached
 */
function laterRoots(count, predecessors, reached) {
  /** @type {number[]} */
  const starts = [];
  /** @type {number[]} */
  const rest = [];
  for (let block = 0; block < count; block += 1) {
    if (reached[block]) continue;
    let entered = false;
    for (let k = predecessors.start[block]; k < predecessors.start[block + 1]; k += 1) {
      entered ||= predecessors.list[k] !== block;
    }
    (entered ? rest : starts).push(block);
  }
  return [...starts, ...rest];
}

/**
 * Immediate dominators by the algorithm SEMI-NCA (Georgiadis, "Linear-time algorithms for
 * dominators and related problems", 2005), with a virtual root above all roots.
 *
 * Edges from unreached to reached blocks are ignored. An exception handler that rejoins the method
 * would otherwise separate the join block from the branch that dominates it.
 * @param {ReturnType<typeof indexGraph>} graph
 * @param {ReturnType<typeof depthFirstSearch>} search
 */
function immediateDominators(graph, search) {
  const { count, predecessors } = graph;
  const { preorder, parents, visited, reached } = search;
  // Position 0 is the virtual root; a block with preorder position p has position p + 1.
  const parent = new Int32Array(count + 1);
  for (let i = 0; i < count; i += 1) parent[preorder[i] + 1] = parents[i] < 0 ? 0 : preorder[parents[i]] + 1;
  const semi = parent.slice();
  const links = parent.slice();
  const labels = Int32Array.from(semi, (_, position) => position);
  /** @type {number[]} */
  const path = [];
  for (let w = count; w > 0; w -= 1) {
    const block = visited[w - 1];
    for (let k = predecessors.start[block]; k < predecessors.start[block + 1]; k += 1) {
      const source = predecessors.list[k];
      if (reached[block] && !reached[source]) continue;
      const label = leastLabel(preorder[source] + 1, w, links, labels, semi, path);
      // A block that is not linked yet counts as its own semidominator candidate.
      semi[w] = Math.min(semi[w], label <= w ? label : semi[label]);
    }
  }
  const idom = parent.slice();
  for (let w = 1; w <= count; w += 1) {
    while (idom[w] > semi[w]) idom[w] = idom[idom[w]];
  }
  const dominators = new Int32Array(count);
  for (let w = 1; w <= count; w += 1) dominators[visited[w - 1]] = idom[w] === 0 ? -1 : visited[idom[w] - 1];
  return dominators;
}

/**
 * The position with the least semidominator on the path from `position` up to the first ancestor
 * that is not linked, which is the first at or below `bound`. The path is compressed.
 * @param {number} position
 * @param {number} bound
 * @param {Int32Array} links
 * @param {Int32Array} labels
 * @param {Int32Array} semi
 * @param {number[]} path
 */
function leastLabel(position, bound, links, labels, semi, path) {
  if (position <= bound) return position;
  path.length = 0;
  let top = position;
  while (links[top] > bound) {
    path.push(top);
    top = links[top];
  }
  for (let k = path.length - 1; k >= 0; k -= 1) {
    const current = path[k];
    const above = links[current];
    if (semi[labels[above]] < semi[labels[current]]) labels[current] = labels[above];
    links[current] = links[above];
  }
  return labels[position];
}

/**
 * A preorder of the dominator tree. Siblings are sorted by the least block number in their subtree.
 * A new block on an edge therefore takes the place of the subtree that it now dominates.
 * @param {Int32Array} dominators
 * @param {ReturnType<typeof depthFirstSearch>} search
 */
function dominatorPreorder(dominators, search) {
  const count = dominators.length;
  const least = Int32Array.from(dominators, (_, block) => block);
  for (let k = count - 1; k >= 0; k -= 1) {
    const block = search.visited[k];
    const above = dominators[block];
    if (above >= 0) least[above] = Math.min(least[above], least[block]);
  }
  // Blocks are pushed in descending order, so that the stack yields siblings in ascending order.
  const descending = Int32Array.from(dominators, (_, block) => block).sort((a, b) => least[b] - least[a]);
  const firstChild = new Int32Array(count).fill(-1);
  const nextSibling = new Int32Array(count).fill(-1);
  /** @type {number[]} */
  const roots = [];
  for (const block of descending) {
    const above = dominators[block];
    if (above < 0) {
      roots.push(block);
    } else {
      nextSibling[block] = firstChild[above];
      firstChild[above] = block;
    }
  }
  roots.sort((a, b) => search.reached[b] - search.reached[a] || least[a] - least[b]);
  const order = new Int32Array(count);
  let position = 0;
  for (const root of roots) {
    let block = root;
    while (block >= 0) {
      order[block] = position++;
      if (firstChild[block] >= 0) {
        block = firstChild[block];
        continue;
      }
      while (block >= 0 && block !== root && nextSibling[block] < 0) block = dominators[block];
      block = block === root ? -1 : nextSibling[block];
    }
  }
  return order;
}

/**
 * The loop nesting forest of Havlak ("Nesting of reducible and irreducible loops", 1997).
 *
 * In a reducible graph these are the natural loops, one for each header. In an irreducible cycle
 * the header is the entry that the depth-first search visited first, which is also its first
 * entry in reverse postorder; other entries are ordinary edges into the loop.
 * @param {ReturnType<typeof indexGraph>} graph
 * @param {ReturnType<typeof depthFirstSearch>} search
 */
function loopForest(graph, search) {
  const { count, predecessors } = graph;
  const { visited } = search;
  const collapsed = Int32Array.from(visited, (_, block) => block);
  /** @type {Map<number, number[]>} edges into a loop beside its header, by header */
  const sideEntries = new Map();
  /** @type {Loop[]} */
  const loops = [];
  const loopOf = new Int32Array(count).fill(-1);
  const marks = new Int32Array(count).fill(-1);
  for (let k = count - 1; k >= 0; k -= 1) {
    const header = visited[k];
    /** @type {number[]} */
    const body = [];
    /** @type {number[]} */
    const outside = [];
    let cyclic = false;
    marks[header] = header;
    /** @param {number} source */
    const addSource = (source) => {
      const block = representative(collapsed, source);
      if (marks[block] === header) return;
      marks[block] = header;
      (isAncestor(search, header, block) ? body : outside).push(block);
    };
    for (let p = predecessors.start[header]; p < predecessors.start[header + 1]; p += 1) {
      const source = predecessors.list[p];
      if (!isAncestor(search, header, source)) continue;
      cyclic = true;
      addSource(source);
    }
    if (!cyclic) continue;
    for (let i = 0; i < body.length; i += 1) {
      const block = body[i];
      for (let p = predecessors.start[block]; p < predecessors.start[block + 1]; p += 1) {
        if (!isAncestor(search, block, predecessors.list[p])) addSource(predecessors.list[p]);
      }
      sideEntries.get(block)?.forEach(addSource);
    }
    if (outside.length > 0) sideEntries.set(header, outside);
    closeLoop(header, body, loops, loopOf, collapsed);
  }
  for (let i = loops.length - 1; i >= 0; i -= 1) {
    const { parent } = loops[i];
    loops[i].depth = parent < 0 ? 1 : loops[parent].depth + 1;
  }
  return { loops, loopOf };
}

/**
 * Records a loop and collapses its body into the header.
 * @param {number} header
 * @param {number[]} body blocks and headers of inner loops, without `header`
 * @param {Loop[]} loops
 * @param {Int32Array} loopOf
 * @param {Int32Array} collapsed
 */
function closeLoop(header, body, loops, loopOf, collapsed) {
  const loop = loops.length;
  loops.push({ header, parent: -1, depth: 0 });
  loopOf[header] = loop;
  for (const block of body) {
    collapsed[block] = header;
    if (loopOf[block] < 0) loopOf[block] = loop;
    else loops[loopOf[block]].parent = loop;
  }
}

/**
 * Finds the header into which a block was collapsed, and compresses the path.
 * @param {Int32Array} collapsed
 * @param {number} block
 */
function representative(collapsed, block) {
  let top = block;
  while (collapsed[top] !== top) top = collapsed[top];
  while (collapsed[block] !== top) {
    const next = collapsed[block];
    collapsed[block] = top;
    block = next;
  }
  return top;
}
