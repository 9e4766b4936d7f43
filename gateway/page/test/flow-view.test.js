// Panning, zooming, fitting and holding a block, as properties.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MAX_ZOOM, clampView, firstView, fitView, holdView, intersects, leastZoom, panBy, reveal, visiblePart, zoomAt,
} from "../lib/flow-view.js";
import { randomNumbers } from "./flow-oracles.js";

const random = randomNumbers(7);
/** @param {number} low @param {number} high */
const between = (low, high) => low + random() * (high - low);
const someView = () => ({ x: between(-500, 5000), y: between(-500, 5000), zoom: 10 ** between(-2, 0.5) });
const someSize = () => ({ width: 10 ** between(1, 6), height: 10 ** between(1, 6) });
const someWindow = () => ({ width: between(200, 2000), height: between(150, 1500) });
/** @param {number} a @param {number} b @param {number} [unit] */
const near = (a, b, unit = 1) => assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(unit, Math.abs(a)), `${a} is not ${b}`);

test("a fitted picture is completely visible, in the middle, and not enlarged", () => {
  for (let i = 0; i < 500; i += 1) {
    const [picture, window] = [someSize(), someWindow()];
    const view = fitView(picture, window);
    const part = visiblePart(view, window);
    assert.ok(view.zoom <= 1);
    assert.ok(part.x < 0 && part.y < 0 && part.x + part.width > picture.width && part.y + part.height > picture.height);
    near(part.x + part.width / 2, picture.width / 2, part.width);
    assert.ok(leastZoom(picture, window) < view.zoom);
  }
  assert.ok(fitView({ width: 0, height: 0 }, { width: 10, height: 10 }).zoom > 0, "an empty picture in a tiny window");
});

test("a large picture begins with the entry, a small one is shown as a whole", () => {
  const window = { width: 800, height: 600 };
  const entry = { x: 5000, y: 14, width: 100, height: 50 };
  const view = firstView({ width: 10_000, height: 90_000 }, window, entry);
  assert.ok(intersects(visiblePart(view, window), entry));
  assert.equal(view.zoom, 1);
  assert.deepEqual(firstView({ width: 100, height: 50 }, window, entry), fitView({ width: 100, height: 50 }, window));
});

test("zooming keeps the point under the pointer, within limits", () => {
  for (let i = 0; i < 500; i += 1) {
    const view = someView();
    const [x, y] = [between(0, 800), between(0, 600)];
    const zoomed = zoomAt(view, 2 ** between(-4, 4), x, y, 0.05);
    near(zoomed.x + x / zoomed.zoom, view.x + x / view.zoom, 1e5);
    near(zoomed.y + y / zoomed.zoom, view.y + y / view.zoom, 1e5);
    assert.ok(zoomed.zoom >= 0.05 && zoomed.zoom <= MAX_ZOOM);
  }
});

test("panning there and back is nothing", () => {
  const view = someView();
  const back = panBy(panBy(view, 30, -40), -30, 40);
  near(back.x, view.x);
  near(back.y, view.y);
});

test("the picture cannot leave the window", () => {
  for (let i = 0; i < 500; i += 1) {
    const [picture, window] = [someSize(), someWindow()];
    const view = { x: between(-1e7, 1e7), y: between(-1e7, 1e7), zoom: 10 ** between(-3, 0.6) };
    const clamped = clampView(view, picture, window);
    assert.ok(intersects(visiblePart(clamped, window), { x: 0, y: 0, ...picture }));
    assert.deepEqual(clampView(clamped, picture, window), clamped);
  }
});

test("a revealed rectangle is visible, and a visible one does not move the view", () => {
  for (let i = 0; i < 500; i += 1) {
    const [view, window] = [someView(), someWindow()];
    const part = visiblePart(view, window);
    const [x, y] = [between(-9000, 9000), between(-9000, 9000)];
    const rectangle = { x, y, width: part.width / 3, height: part.height / 3 };
    const revealed = reveal(view, rectangle, window);
    const shown = visiblePart(revealed, window);
    assert.ok(shown.x <= rectangle.x && rectangle.x + rectangle.width <= shown.x + shown.width + 1e-6);
    assert.ok(shown.y <= rectangle.y && rectangle.y + rectangle.height <= shown.y + shown.height + 1e-6);
    const again = reveal(revealed, rectangle, window);
    near(again.x, revealed.x);
    near(again.y, revealed.y);
  }
  const window = { width: 300, height: 300 };
  const large = reveal({ x: 0, y: 0, zoom: 1 }, { x: 1000, y: 1000, width: 900, height: 900 }, window);
  assert.ok(large.x <= 1000 && large.y <= 1000, "of a rectangle larger than the window, the beginning is visible");
});

test("a new layout holds the preferred block, or the first visible one that stays", () => {
  /** @param {number} x @param {number} y */
  const block = (x, y) => ({ x, y, width: 50, height: 20 });
  const before = new Map([[0, block(0, 0)], [1, block(100, 0)], [2, block(100, 100)], [3, block(9000, 9000)]]);
  const after = new Map([[1, block(130, 10)], [2, block(170, 180)], [3, block(9500, 9500)]]);
  const view = { x: -10, y: -10, zoom: 2 };
  const window = { width: 600, height: 600 };
  assert.deepEqual(holdView(view, window, before, after, 2), { x: 60, y: 70, zoom: 2 });
  assert.deepEqual(holdView(view, window, before, after, null), { x: 20, y: 0, zoom: 2 });
  assert.deepEqual(holdView(view, window, before, after, 3), { x: 20, y: 0, zoom: 2 }, "block 3 is not visible");
  assert.deepEqual(holdView(view, window, before, new Map(), 2), view);
});
