// The plan of a layout: regions, nets and rows. No coordinates yet.
//
// Each loop is a *region*, and so is the whole graph. In the region around it, a loop is one node,
// so the rectangle of a loop contains exactly the blocks of the loop, and a change inside a loop
// changes only its size in the picture around it.
//
// An edge that leaves loops is cut at the border of each region. In a region, all pieces with the
// same target block form a *net*: they join and share one line, as in the viewer iongraph of
// SpiderMonkey. A piece is a *wire*. In its region a net is
//   - local: the target is in a node of the region;
//   - back: the target is the header of the region, and the net runs upwards at the left side;
//   - exit: the target is outside, and the net ends at the lower border.
//
// The nodes of a region form rows. Row 0 is the upper border, rows 1 to `rowCount` contain nodes, and
// row `rowCount + 1` is the lower border. A net that crosses rows has an item in each of them, its
// *trunk*, or runs in a *lane* at the right side of the region if there are too many rows.

/** @typedef {import("./flow-graph.js").FlowAnalysis} FlowAnalysis */

export const LOCAL = 0;
export const BACK = 1;
export const EXIT = 2;

/** The source of a wire that enters the region from outside. */
export const ENTRY = -1;

/**
 * A horizontal line in the channel between two rows. `drift` is positive if its wires go to the right.
 * @typedef {{low: number, high: number, drift: number, level: number, y: number}} Track
 */

/**
 * @typedef {object} Wire
 * @property {number} from the node at the source, or `ENTRY`
 * @property {number} row the row of the source
 * @property {Net} net
 * @property {number} x where the wire starts
 * @property {Track | null} track the horizontal line in the channel below the source, if any
 * @property {boolean} inBus whether that line is the one that all wires of the source share
 * @property {Net | null} inner the net inside the node `from` that this wire continues
 */

/**
 * @typedef {object} Net
 * @property {number} target block
 * @property {number} key position of the target in the order of the dominator tree
 * @property {0 | 1 | 2} kind
 * @property {number} node the node that contains the target; -1 for exits
 * @property {Wire[]} wires
 * @property {number} first the row of the uppermost source
 * @property {number} last the row where the net ends
 * @property {boolean} inLane
 * @property {number} laneX
 * @property {Item[]} items trunk from row `first + 1` on; for exits the last item is the border
 * @property {Track | null} laneTrack the horizontal line between the lane and the target
 * @property {Wire | null} entry the wire that comes from outside the region
 * @property {Wire | null} outer the wire in the region around that continues an exit
 * @property {Net | null} inner the net inside `node` that continues this net, if `node` is a region
 */

/**
 * Something that occupies space in a row: a node, or a piece of a trunk. The *axis* of an item is
 * the vertical line that the layout aligns.
 * @typedef {object} Item
 * @property {number} node the node, or -1
 * @property {Net | null} net
 * @property {number} row
 * @property {number} key
 * @property {number} before distance from the left side to the axis
 * @property {number} after distance from the axis to the right side
 * @property {number} axis
 * @property {Item | null} above the item to align with: the immediate dominator, or the trunk above
 * @property {Item | null} firstBelow the first node of the next row that this node dominates, or the trunk below
 * @property {Item | null} lastBelow the last such item
 * @property {Item | null} left neighbour in the row
 * @property {Item | null} right
 * @property {Track | null} track of a trunk: the horizontal line below this item, if any
 */

/**
 * @typedef {object} Region
 * @property {number} id 0 is the whole graph; region `l + 1` is loop `l`
 * @property {number} parent -1 for the whole graph
 * @property {number} header block, or -1 for the whole graph
 * @property {number[]} nodes in reverse postorder
 * @property {Net[]} nets
 * @property {number} rowCount
 * @property {Item[][]} rows
 * @property {number[]} rowTops
 * @property {number} axis where the axis of the header is, from the left side of the region
 * @property {number} x
 * @property {number} y
 */

/**
 * Nodes are blocks (0 to `count - 1`) and regions (`count + id`).
 * @typedef {object} Plan
 * @property {FlowAnalysis} analysis
 * @property {number} count
 * @property {Region[]} regions
 * @property {Int32Array} regionOf the region around each node
 * @property {Int32Array} rowOf the row of each node
 * @property {Wire[][]} outgoing the wires out of each node
 * @property {Wire[]} starts the innermost wire of each edge
 * @property {Map<number, Net>} nets by region, target and kind
 * @property {(Item | null)[]} items the item of each node
 * @property {Float64Array} widths
 * @property {Float64Array} heights
 */

/** Trunks occupy at most this many items; longer nets then run in lanes. */
const MAX_TRUNK_ITEMS = 60_000;

/** A net that crosses more rows than this always runs in a lane: a trunk would push blocks apart. */
const MAX_TRUNK_ROWS = 64;

// Most nets have one wire and no item. An empty array of their own would reserve space for 17.
/** @type {Wire[]} */
const NO_WIRES = [];
/** @type {Item[]} */
const NO_ITEMS = [];

/**
 * @param {FlowAnalysis} analysis
 * @returns {Plan}
 */
export function planRegions(analysis) {
  const { count, loops, loopOf, reversePostorder } = analysis;
  const regions = [newRegion(0, -1, -1), ...loops.map((loop, l) => newRegion(l + 1, loop.parent + 1, loop.header))];
  const nodes = count + regions.length;
  const regionOf = new Int32Array(nodes).fill(-1);
  for (const block of reversePostorder) {
    const id = loopOf[block] + 1;
    if (regions[id].header === block) {
      const { parent } = regions[id];
      regionOf[count + id] = parent;
      regions[parent].nodes.push(count + id);
    }
    regionOf[block] = id;
    regions[id].nodes.push(block);
  }
  /** @type {Plan} */
  const plan = {
    analysis,
    count,
    regions,
    regionOf,
    rowOf: new Int32Array(nodes).fill(1),
    outgoing: Array.from({ length: nodes }, () => []),
    starts: [],
    nets: new Map(),
    items: Array.from({ length: nodes }, () => null),
    widths: new Float64Array(nodes),
    heights: new Float64Array(nodes),
  };
  plan.starts = analysis.edges.map(([from, to]) => addEdge(plan, from, to));
  for (const region of regions) assignRows(plan, region);
  chooseLanes(regions);
  return plan;
}

/**
 * @param {number} id
 * @param {number} parent
 * @param {number} header
 * @returns {Region}
 */
function newRegion(id, parent, header) {
  return {
    id, parent, header, nodes: [], nets: [], rowCount: 0, rows: [], rowTops: [], axis: 0, x: 0, y: 0,
  };
}

/**
 * The regions between `block` and `outer`, from inside to outside, without `outer`.
 * @param {Plan} plan
 * @param {number} block
 * @param {number} outer
 */
export function regionsBelow(plan, block, outer) {
  const path = [];
  for (let id = plan.regionOf[block]; id !== outer; id = plan.regions[id].parent) path.push(id);
  return path;
}

/**
 * The innermost region that contains both blocks.
 * @param {Plan} plan
 * @param {number} a
 * @param {number} b
 */
export function commonRegion(plan, a, b) {
  let left = plan.regionOf[a];
  let right = plan.regionOf[b];
  // Inner loops have smaller identifiers than outer loops, and 0 is outside of all.
  while (left !== right) {
    if (right === 0 || (left !== 0 && left < right)) left = plan.regions[left].parent;
    else right = plan.regions[right].parent;
  }
  return left;
}

/**
 * The net of a region with a target, created if necessary.
 * @param {Plan} plan
 * @param {number} id
 * @param {number} target
 * @param {0 | 1 | 2} kind
 * @param {number} node
 */
function netOf(plan, id, target, kind, node) {
  const key = (id * plan.count + target) * 3 + kind;
  let net = plan.nets.get(key);
  if (!net) {
    net = {
      target, key: plan.analysis.dominatorOrder[target], kind, node,
      wires: NO_WIRES, first: 0, last: 0, inLane: false, laneX: 0, items: NO_ITEMS, laneTrack: null,
      entry: null, outer: null, inner: null,
    };
    plan.nets.set(key, net);
    plan.regions[id].nets.push(net);
  }
  return net;
}

/**
 * @param {Plan} plan
 * @param {Net} net
 * @param {number} from
 * @param {Net | null} inner
 */
function addWire(plan, net, from, inner) {
  /** @type {Wire} */
  const wire = { from, row: 0, net, x: 0, track: null, inBus: false, inner };
  if (net.wires.length > 0) net.wires.push(wire);
  else net.wires = [wire];
  if (inner) inner.outer = wire;
  if (from !== ENTRY) plan.outgoing[from].push(wire);
  return wire;
}

/**
 * Cuts an edge at the borders of regions and adds the pieces to the nets. Returns the first piece.
 * If a piece joins a net that exists, the pieces after it exist, too.
 * @param {Plan} plan
 * @param {number} source
 * @param {number} target
 */
function addEdge(plan, source, target) {
  const { count, regions } = plan;
  const common = commonRegion(plan, source, target);
  const entered = regionsBelow(plan, target, common);
  let from = source;
  /** @type {Net | null} */
  let inner = null;
  /** @type {Wire | null} */
  let first = null;
  for (const id of [...regionsBelow(plan, source, common), common]) {
    /** @type {Net} */
    const net =
      id !== common ? netOf(plan, id, target, EXIT, -1)
      : regions[id].header === target ? netOf(plan, id, target, BACK, target)
      : netOf(plan, id, target, LOCAL, entered.length > 0 ? count + entered[entered.length - 1] : target);
    const wire = addWire(plan, net, from, inner);
    first ??= wire;
    if (net.wires.length > 1) return first;
    inner = net;
    from = count + id;
  }
  addEntries(plan, entered, target, /** @type {Net} */ (inner));
  return /** @type {Wire} */ (first);
}

/**
 * Continues a net into the regions around its target.
 * @param {Plan} plan
 * @param {number[]} entered the regions, from inside to outside
 * @param {number} target
 * @param {Net} net
 */
function addEntries(plan, entered, target, net) {
  for (let i = entered.length - 1; i >= 0; i -= 1) {
    const node = i === 0 ? target : plan.count + entered[i - 1];
    const inner = netOf(plan, entered[i], target, LOCAL, node);
    net.inner = inner;
    if (inner.entry) return;
    inner.entry = addWire(plan, inner, ENTRY, null);
    net = inner;
  }
}

/**
 * Puts each node into the first row below all its predecessors in the region.
 * @param {Plan} plan
 * @param {Region} region
 */
function assignRows(plan, region) {
  const { rowOf, outgoing } = plan;
  for (const node of region.nodes) {
    for (const { net } of outgoing[node]) {
      if (net.kind === LOCAL) rowOf[net.node] = Math.max(rowOf[net.node], rowOf[node] + 1);
    }
  }
  if (region.id === 0) lowerUnreached(plan, region);
  for (const node of region.nodes) region.rowCount = Math.max(region.rowCount, rowOf[node]);
  for (const net of region.nets) {
    net.first = Infinity;
    for (const wire of net.wires) {
      wire.row = wire.from === ENTRY ? 0 : rowOf[wire.from];
      net.first = Math.min(net.first, wire.row);
    }
    net.last = net.kind === BACK ? 1 : net.kind === EXIT ? region.rowCount + 1 : rowOf[net.node];
  }
}

/**
 * Moves unreached nodes down beside the code that precedes them in the class file, but not below
 * their successors. Otherwise all exception handlers of a method would form one long first row.
 * @param {Plan} plan
 * @param {Region} root
 */
function lowerUnreached(plan, root) {
  const { analysis, count, regions, regionOf, rowOf, outgoing } = plan;
  for (let i = root.nodes.length - 1; i >= 0; i -= 1) {
    const node = root.nodes[i];
    const block = node < count ? node : regions[node - count].header;
    if (analysis.reached[block]) continue;
    let limit = Infinity;
    for (const { net } of outgoing[node]) if (net.kind === LOCAL) limit = Math.min(limit, rowOf[net.node] - 1);
    let before = block;
    while (before >= 0 && !analysis.reached[before]) before -= 1;
    if (before < 0) continue;
    while (regionOf[before] !== 0) before = count + regionOf[before];
    rowOf[node] = Math.min(limit, Math.max(rowOf[node], rowOf[before]));
  }
}

/**
 * Decides which nets have a trunk and which run in a lane.
 * @param {Region[]} regions
 */
function chooseLanes(regions) {
  const nets = regions.flatMap((region) => region.nets.filter((net) => net.kind !== BACK));
  const lengths = nets.map((net) => net.last - net.first - 1).filter((length) => length > 0);
  let limit = MAX_TRUNK_ROWS;
  const items = () => lengths.reduce((sum, length) => sum + (length <= limit ? length : 0), 0);
  while (limit > 1 && items() > MAX_TRUNK_ITEMS) limit /= 2;
  for (const net of nets) net.inLane = net.last - net.first - 1 > limit;
}
