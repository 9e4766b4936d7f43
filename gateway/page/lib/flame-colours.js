// The colours of a flame graph, made from the colours of the page.
//
// The picture may use only the page's own colours, which differ in dark and light. A package has one of
// its seven heat colours, chosen by a hash of the name, and its classes have shades of this colour. The
// colours of a difference are mixed from `--surface` with `--good` (less than before) and `--bad` (more
// than before). Each fill has the text colour of the page with the highest contrast on it.

import { textHash } from "./tree-path.js";

/** @typedef {number[]} Colour red, green and blue from 0 to 255 */
/**
 * @typedef {object} Paint
 * @property {string} fill
 * @property {string} text
 * @property {number} pixel the fill as a pixel of a canvas: the bytes red, green, blue, opaque
 */

/**
 * The colours of the page that the picture needs.
 * @typedef {object} PageColours
 * @property {Colour} ground
 * @property {Colour} surface
 * @property {Colour} line
 * @property {Colour} text
 * @property {Colour} textSoft
 * @property {Colour} accent
 * @property {Colour} good
 * @property {Colour} bad
 * @property {Colour[]} heat
 * @property {Colour[]} heatText
 */

/**
 * @typedef {object} FlamePaints
 * @property {Paint[]} packages by `packagePaint`
 * @property {Paint[]} changes by `changePaint`
 * @property {Paint} plain frames without a package
 * @property {Paint} match frames that match a search
 * @property {Paint} dimmed the other frames during a search
 * @property {Paint} sliver
 * @property {Paint} ground
 */

/** How much of `--surface` is mixed into the shades of a package. */
const SHADES = [0, 0.18, 0.36];
const CHANGE_STEPS = 4;
/** A change by at least this share of the greater value has the colour of the next step. */
const CHANGE_LIMITS = [0.02, 0.1, 0.25, 0.5];
const STRONGEST_CHANGE = 0.85;
/** WCAG 2.1, success criterion 1.4.3. */
const MIN_CONTRAST = 4.5;

/**
 * Reads a colour as `getComputedStyle` returns it, and hexadecimal ones. Black for other texts.
 * @param {string} text
 * @returns {Colour}
 */
export function readColour(text) {
  const trimmed = text.trim();
  const hexadecimal = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(trimmed);
  if (hexadecimal !== null) {
    const digits = hexadecimal[1];
    const long = digits.length === 6 ? digits : digits.replace(/./g, "$&$&");
    return [0, 2, 4].map((at) => parseInt(long.slice(at, at + 2), 16));
  }
  const numbers = (trimmed.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
  if (numbers.length < 3 || numbers.some(Number.isNaN)) {
    return [0, 0, 0];
  }
  const scale = trimmed.startsWith("color(srgb") ? 255 : 1;
  return numbers.slice(0, 3).map((value) => Math.min(255, Math.max(0, value * scale)));
}

/** @param {Colour} colour */
function css([red, green, blue]) {
  return `rgb(${Math.round(red)} ${Math.round(green)} ${Math.round(blue)})`;
}

/**
 * @param {Colour} one
 * @param {Colour} other
 * @param {number} share of the other colour, from 0 to 1
 * @returns {Colour}
 */
export function mixed(one, other, share) {
  return [0, 1, 2].map((at) => one[at] + (other[at] - one[at]) * share);
}

/**
 * The relative luminance of WCAG 2.1.
 * @param {Colour} colour
 */
function luminance(colour) {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * The contrast of two colours, from 1 to 21.
 * @param {Colour} one
 * @param {Colour} other
 * @returns {number}
 */
export function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/**
 * A fill with a readable text. If no colour of the page has enough contrast, the text is the one with
 * the highest contrast, moved towards black or white until it is readable.
 * @param {Colour} fill
 * @param {Colour[]} texts
 * @returns {Paint}
 */
export function readablePaint(fill, texts) {
  let text = texts[0];
  for (const candidate of texts) {
    text = contrast(candidate, fill) > contrast(text, fill) ? candidate : text;
  }
  /** @type {Colour[]} */
  const ends = [[0, 0, 0], [255, 255, 255]];
  const end = contrast(ends[0], fill) > contrast(ends[1], fill) ? ends[0] : ends[1];
  for (let step = 0; step < 10 && contrast(text, fill) < MIN_CONTRAST; step++) {
    text = mixed(text, end, 0.3);
  }
  return {
    fill: css(fill),
    text: css(contrast(text, fill) < MIN_CONTRAST ? end : text),
    pixel: pixelOf(fill),
  };
}

/**
 * The bytes of a pixel as a number. The first byte is the lowest one, as on all machines that run
 * browsers today.
 * @param {Colour} colour
 */
function pixelOf(colour) {
  const [red, green, blue] = colour.map(Math.round);
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * @param {PageColours} colours
 * @returns {FlamePaints}
 */
export function flamePaints(colours) {
  const { ground, surface, line, text, textSoft, accent, good, bad, heat, heatText } = colours;
  const texts = [text, ground];
  const packages = heat.flatMap((colour, index) =>
    SHADES.map((share) => readablePaint(mixed(colour, surface, share), [heatText[index], ...texts])),
  );
  const changes = [];
  for (let step = -CHANGE_STEPS; step <= CHANGE_STEPS; step++) {
    const share = (STRONGEST_CHANGE * Math.abs(step)) / CHANGE_STEPS;
    changes.push(readablePaint(mixed(mixed(surface, line, 0.5), step < 0 ? good : bad, share), texts));
  }
  return {
    packages,
    changes,
    plain: readablePaint(mixed(surface, line, 0.6), texts),
    match: readablePaint(accent, texts),
    dimmed: readablePaint(mixed(ground, line, 0.35), [textSoft, text]),
    sliver: readablePaint(mixed(surface, textSoft, 0.45), texts),
    ground: readablePaint(ground, texts),
  };
}

/**
 * The position of a frame's paint in `packages`. It depends only on the names.
 * @param {{packageName: string, className: string}} frame
 * @param {number} count the number of paints
 * @returns {number} -1 for a frame without a class
 */
export function packagePaint({ packageName, className }, count) {
  if (className === "") {
    return -1;
  }
  const colours = Math.max(1, Math.floor(count / SHADES.length));
  const colour = (textHash(packageName) >>> 0) % colours;
  const shade = (textHash(className) >>> 0) % SHADES.length;
  return colour * SHADES.length + shade;
}

/**
 * The position in `changes` of a value that changed: the middle one if it hardly changed.
 * @param {number} before
 * @param {number} after
 * @returns {number}
 */
export function changePaint(before, after) {
  const greatest = Math.max(before, after);
  const share = greatest > 0 ? Math.abs(after - before) / greatest : 0;
  const step = CHANGE_LIMITS.filter((limit) => share >= limit).length;
  return CHANGE_STEPS + (after < before ? -step : step);
}
