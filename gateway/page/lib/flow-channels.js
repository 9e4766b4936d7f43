// The lines of a region between its rows: ports, lanes, tracks, and from these the heights.
//
// The space between two rows is a *channel*. It contains no block, so horizontal lines run only
// there. Each net has at most one horizontal line in a channel, its *track*. Tracks are ordered so
// that lines which go the same way do not cross. Vertical lines pass rows only in trunks, in lanes
// and at the left side of a loop, where no block is.

import { axisInRow, exitAxis, separate } from "./flow-columns.js";
import { BACK } from "./flow-regions.js";

/** @typedef {import("./flow-regions.js").Plan} Plan */
/** @typedef {import("./flow-regions.js").Region} Region */
/** @typedef {import("./flow-regions.js").Item} Item */
/** @typedef {import("./flow-regions.js").Net} Net */
/** @typedef {import("./flow-regions.js").Wire} Wire */
/** @typedef {import("./flow-regions.js").Track} Track */
/** @typedef {import("./flow-layout.js").Spacing} Spacing */

/** A block with more successors than this has one port, and its wires share one track. */
const MAX_PORTS = 8;

/** Tracks and lanes move closer together where they would need more space than this. */
const MAX_TRACKS_HEIGHT = 320;
const MAX_LANES_WIDTH = 400;

/** Distances between lines that the labels of edges need, in the units of the layout. */
const PORT_GAP = 48;

/** Horizontal lines whose ends are closer than this are not put into one track. */
const TRACK_GAP = 6;

/**
 * Where back edges enter a header, to the left of its axis.
 * @param {Plan} plan
 * @param {Region} region
 */
function backPort(plan, region) {
  const { axis, before } = /** @type {Item} */ (plan.items[region.header]);
  return Math.round(axis - Math.min(24, before / 2));
}

/**
 * Sets the starts of all wires, the lanes, the tracks and `rowTops`. Returns the size of the region.
 * @param {Plan} plan
 * @param {Region} region
 * @param {Spacing} spacing
 * @param {number} right where the rightmost item ends
 */
export function routeChannels(plan, region, spacing, right) {
  const lanes = assignLanes(region);
  const laneGap = Math.min(spacing.lane, MAX_LANES_WIDTH / Math.max(1, lanes.count));
  for (const [net, lane] of lanes.of) net.laneX = right + spacing.lane + lane * laneGap;
  for (const net of region.nets) if (net.kind === BACK) net.laneX = spacing.border;
  for (const node of region.nodes) placePorts(plan, node);
  for (const { net, axis } of region.rows[0]) if (net?.entry) net.entry.x = axis;
  const channels = collectTracks(plan, region);
  const height = stackRows(plan, region, channels, spacing);
  const lanesEnd = lanes.count > 0 ? right + spacing.lane + (lanes.count - 1) * laneGap : right;
  return { width: lanesEnd + spacing.border, height };
}

/**
 * Distributes nets that run in lanes. Nets with a channel in common get different lanes.
 * @param {Region} region
 */
function assignLanes(region) {
  /** @type {Map<Net, number>} */
  const of = new Map();
  const nets = region.nets.filter((net) => net.inLane).sort((a, b) => a.first - b.first || a.key - b.key);
  /** @type {number[][]} lanes that are free from each row on */
  const freed = [];
  /** @type {number[]} */
  const free = [];
  let count = 0;
  let row = 0;
  for (const net of nets) {
    for (; row <= net.first; row += 1) free.push(...(freed[row] ?? []));
    const lane = free.pop() ?? count++;
    of.set(net, lane);
    (freed[net.last] ??= []).push(lane);
  }
  return { of, count };
}

/**
 * Sets where the wires of a node start. Wires start as near as possible below the place to which
 * they go, in the order of these places.
 * @param {Plan} plan
 * @param {number} node
 */
function placePorts(plan, node) {
  const wires = plan.outgoing[node];
  const { axis, before, after } = /** @type {Item} */ (plan.items[node]);
  if (node >= plan.count) {
    for (const wire of wires) if (wire.inner) wire.x = axis - before + exitAxis(wire.inner);
    return;
  }
  if (wires.length > MAX_PORTS) {
    const bus = newTrack();
    for (const wire of wires) {
      wire.x = axis;
      wire.track = bus;
      wire.inBus = true;
    }
    return;
  }
  const places = new Map(wires.map((wire) => [wire, nextAxis(plan, wire)]));
  const place = (/** @type {Wire} */ wire) => Number(places.get(wire));
  const sorted = [...wires].sort((a, b) => place(a) - place(b) || a.net.key - b.net.key);
  // The label of an edge is to the right of its port, and should not cover the next block.
  const margin = Math.min(12, (before + after) / 4);
  const least = axis - before + margin;
  const range = before + after - margin - Math.min(PORT_GAP, (before + after) / 4);
  const gap = sorted.length > 1 ? Math.min(PORT_GAP, range / (sorted.length - 1)) : 0;
  const most = least + range - gap * (sorted.length - 1);
  // The bounds apply after the gaps are subtracted, so that every solution fits into the block.
  const preferred = sorted.map((wire, i) => Math.max(least, Math.min(most, place(wire) - i * gap)) + i * gap);
  const ports = separate(preferred, sorted.map(() => 1), sorted.map((_, i) => (i > 0 ? gap : 0)));
  sorted.forEach((wire, i) => {
    wire.x = ports[i];
  });
}

/**
 * The x coordinate to which a wire goes in the channel below its source.
 * @param {Plan} plan
 * @param {Wire} wire
 */
function nextAxis(plan, wire) {
  return wire.net.kind === BACK ? wire.net.laneX : axisInRow(plan, wire.net, wire.row + 1);
}

/** @returns {Track} */
function newTrack() {
  return { low: Infinity, high: -Infinity, drift: 0, level: 0, y: 0 };
}

/**
 * Finds the horizontal lines of all nets. Returns them by channel; channel `c` is below row `c`.
 * @param {Plan} plan
 * @param {Region} region
 */
function collectTracks(plan, region) {
  /** @type {Track[][]} */
  const channels = Array.from({ length: region.rowCount + 1 }, () => []);
  /** @type {Map<number, Track>} the tracks of the present net, by channel */
  const tracks = new Map();
  /**
   * @param {number} channel
   * @param {number} from
   * @param {number} to
   * @param {Track | null} [bus]
   */
  const add = (channel, from, to, bus) => {
    if (Math.abs(from - to) < 0.01) return null;
    const track = bus ?? tracks.get(channel) ?? newTrack();
    if (!bus) tracks.set(channel, track);
    if (track.low > track.high) channels[channel].push(track);
    track.low = Math.min(track.low, from, to);
    track.high = Math.max(track.high, from, to);
    track.drift += to - from;
    return track;
  };
  for (const net of region.nets) {
    if (tracks.size > 0) tracks.clear();
    for (const wire of net.wires) wire.track = add(wire.row, wire.x, nextAxis(plan, wire), wire.track);
    if (net.kind === BACK) {
      net.laneTrack = add(0, net.laneX, backPort(plan, region));
    } else if (net.inLane) {
      net.laneTrack = add(net.last - 1, net.laneX, axisInRow(plan, net, net.last));
    } else {
      for (const item of net.items) {
        if (item.row < net.last) item.track = add(item.row, item.axis, axisInRow(plan, net, item.row + 1));
      }
    }
  }
  return channels;
}

/**
 * Gives each track of a channel a level, from 0 at the top. Returns the number of levels.
 *
 * Tracks that do not overlap share a level. Of overlapping tracks that go to the right, the one
 * that starts further right is above, which avoids a crossing; tracks to the left mirror this.
 * @param {Track[]} tracks
 */
export function assignLevels(tracks) {
  const sorted = [...tracks].sort((a, b) => a.low - b.low || a.high - b.high);
  let levels = 0;
  for (let start = 0; start < sorted.length; ) {
    let end = start + 1;
    let { high } = sorted[start];
    while (end < sorted.length && sorted[end].low <= high + TRACK_GAP) {
      high = Math.max(high, sorted[end].high);
      end += 1;
    }
    const cluster = sorted.slice(start, end);
    const right = cluster.filter((track) => track.drift > 0).sort((a, b) => b.low - a.low);
    const left = cluster.filter((track) => track.drift <= 0).sort((a, b) => a.high - b.high);
    const base = stackLevels(right, 0, (track) => -track.low, (track) => -track.high);
    levels = Math.max(levels, stackLevels(left, base, (track) => track.high, (track) => track.low));
    start = end;
  }
  return levels;
}

/**
 * Puts each track one level below the lowest earlier track that it overlaps. The tracks are sorted
 * by `begin`, ascending; an earlier track overlaps if its `begin` is not before the `end` of this
 * one. Returns the number of levels, including `base`.
 * @param {Track[]} tracks
 * @param {number} base
 * @param {(track: Track) => number} begin
 * @param {(track: Track) => number} end less than or equal to `begin`
 */
function stackLevels(tracks, base, begin, end) {
  /** @type {Track[]} earlier tracks; begins ascend and levels descend */
  const stack = [];
  let levels = base;
  for (const track of tracks) {
    let low = 0;
    let high = stack.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begin(stack[middle]) >= end(track) - TRACK_GAP) high = middle;
      else low = middle + 1;
    }
    track.level = low < stack.length ? stack[low].level + 1 : base;
    levels = Math.max(levels, track.level + 1);
    while (stack.length > 0 && stack[stack.length - 1].level <= track.level) stack.pop();
    stack.push(track);
  }
  return levels;
}

/**
 * Sets the y coordinates of rows and tracks. Returns the height of the region.
 * @param {Plan} plan
 * @param {Region} region
 * @param {Track[][]} channels
 * @param {Spacing} spacing
 */
function stackRows(plan, region, channels, spacing) {
  let y = 0;
  channels.forEach((tracks, channel) => {
    const levels = assignLevels(tracks);
    const gap = Math.min(spacing.track, MAX_TRACKS_HEIGHT / Math.max(1, levels));
    const above = channel === 0 ? spacing.border : spacing.label;
    for (const track of tracks) track.y = y + above + track.level * gap;
    const used = levels > 0 ? above + (levels - 1) * gap + spacing.border : 0;
    const atBorder = channel === 0 || channel === region.rowCount;
    y += Math.max(used, atBorder ? spacing.border : spacing.rowGap);
    if (channel === region.rowCount) return;
    const row = region.rows[channel + 1];
    region.rowTops[channel + 1] = y;
    y += row.reduce((most, item) => (item.node < 0 ? most : Math.max(most, plan.heights[item.node])), 0);
  });
  return y;
}

/**
 * The corners of the way of a wire through its region. Coordinates are relative to the region.
 * Returns the x coordinate with which the wire arrives above its target or at the border.
 * @param {Plan} plan
 * @param {Region} region
 * @param {Wire} wire
 * @param {(x: number, y: number) => void} corner
 */
export function traceWire(plan, region, wire, corner) {
  const { net } = wire;
  let { x } = wire;
  /** @param {Track | null} track @param {number} to */
  const go = (track, to) => {
    if (!track || Math.abs(x - to) < 0.01) return;
    corner(x, track.y);
    corner(to, track.y);
    x = to;
  };
  go(wire.track, nextAxis(plan, wire));
  if (net.kind === BACK) {
    go(net.laneTrack, backPort(plan, region));
  } else if (net.inLane) {
    if (wire.row < net.last - 1) go(net.laneTrack, axisInRow(plan, net, net.last));
  } else {
    for (let i = wire.row - net.first; i < net.items.length; i += 1) {
      const item = net.items[i];
      if (item.track) go(item.track, axisInRow(plan, net, item.row + 1));
    }
  }
  return x;
}
