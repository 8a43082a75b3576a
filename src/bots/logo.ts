import { hash } from 'node:crypto';
import sanitizeHtml from 'sanitize-html';

/** The logo of a bot, safe to serve to its visitors. */
export type Logo = {
  mediaType: 'image/svg+xml' | 'image/png';
  content: Buffer<ArrayBuffer>;
  /** Names the content: a part of its SHA-256. */
  hash: string;
};

/** Bytes of a logo, before and after it is sanitised. */
export const MAX_LOGO_BYTES = 32 * 1024;
/** Width and height of a PNG in pixels. A few bytes can describe a picture that fills a browser's memory. */
const MAX_PNG_SIDE = 2_048;
/** Levels of elements in an SVG. */
const MAX_DEPTH = 32;

/**
 * Reads a logo by its content, whatever its name. Of an SVG only shapes, gradients, text and their attributes remain:
 * no script, no event handler, no style sheet, no animation, no entity, no reference outside the image, and no `use`, whose
 * copies can grow without bound.
 *
 * @returns the logo, or what is wrong with it.
 */
export function readLogo(bytes: Buffer<ArrayBuffer>): Logo | { problem: string } {
  if (bytes.length > MAX_LOGO_BYTES) return { problem: 'must not be larger than 32 KiB' };
  if (bytes.subarray(0, PNG.length).equals(PNG)) {
    return isSmallPng(bytes)
      ? logoOf('image/png', bytes)
      : { problem: `must have at most ${MAX_PNG_SIDE} pixels in each direction` };
  }
  const svg = sanitizeSvg(bytes.toString());
  if (svg === undefined) return { problem: 'must be an SVG or PNG image' };
  const content = Buffer.from(svg);
  if (content.length > MAX_LOGO_BYTES) return { problem: 'must not be larger than 32 KiB' };
  return logoOf('image/svg+xml', content);
}

function logoOf(mediaType: Logo['mediaType'], content: Buffer<ArrayBuffer>): Logo {
  return { mediaType, content, hash: hash('sha256', content).slice(0, 32) };
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/** Source: PNG, third edition, 11.2.1 "IHDR Image header". */
function isSmallPng(bytes: Buffer): boolean {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return false;
  const sides = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  return sides.every((side) => side >= 1 && side <= MAX_PNG_SIDE);
}

/** Shapes, and what colours and cuts them. */
const ELEMENTS = [
  'svg',
  'g',
  'defs',
  'title',
  'desc',
  'path',
  'rect',
  'circle',
  'ellipse',
  'line',
  'polyline',
  'polygon',
  'text',
  'tspan',
  'linearGradient',
  'radialGradient',
  'stop',
  'clipPath',
];

const WITH_TEXT = ['text', 'tspan', 'title', 'desc'];

/** Attributes of presentation, which may also be declarations of a `style`. */
const PRESENTATION = [
  'clip-path',
  'clip-rule',
  'color',
  'display',
  'fill',
  'fill-opacity',
  'fill-rule',
  'font-family',
  'font-size',
  'font-style',
  'font-weight',
  'letter-spacing',
  'opacity',
  'stop-color',
  'stop-opacity',
  'stroke',
  'stroke-dasharray',
  'stroke-dashoffset',
  'stroke-linecap',
  'stroke-linejoin',
  'stroke-miterlimit',
  'stroke-opacity',
  'stroke-width',
  'text-anchor',
  'visibility',
];

const GEOMETRY = [
  'clipPathUnits',
  'cx',
  'cy',
  'd',
  'dx',
  'dy',
  'fx',
  'fy',
  'gradientTransform',
  'gradientUnits',
  'height',
  'id',
  'offset',
  'points',
  'preserveAspectRatio',
  'r',
  'rx',
  'ry',
  'spreadMethod',
  'transform',
  'viewBox',
  'width',
  'x',
  'x1',
  'x2',
  'y',
  'y1',
  'y2',
];

/** A gradient may take its colours from another one of the same image. */
const GRADIENTS = ['linearGradient', 'radialGradient'];
const OWN_REFERENCE = /^#[\w-]+$/;

/** A value without a function, or a reference to an element of the same image. */
const SAFE_VALUE =
  /^(?:[^():\\]*|url\(\s*["']?#[\w-]+["']?\s*\)(?: [\w-]+)?|rgba?\([\d.,%\s/]+\)|hsla?\([\d.,%\s/]+\))$/;

/** @returns the safe parts of an SVG image; `undefined` if the text is none. */
function sanitizeSvg(text: string): string | undefined {
  const clean = sanitizeHtml(text.replace(/^[^<]*<!DOCTYPE[^[>]*(?:\[[^\]]*\]\s*)?>/i, ''), {
    allowedTags: ELEMENTS,
    allowedAttributes: {
      '*': [...PRESENTATION, ...GEOMETRY, 'style', 'xmlns'],
      ...Object.fromEntries(GRADIENTS.map((name) => [name, ['href']])),
    },
    allowedStyles: { '*': Object.fromEntries(PRESENTATION.map((name) => [name, [SAFE_VALUE]])) },
    nonTextTags: ['script', 'style', 'foreignObject', 'metadata', 'textarea', 'option', 'noscript'],
    nestingLimit: MAX_DEPTH,
    disallowedTagsMode: 'discard',
    parser: { xmlMode: true },
    transformTags: { '*': keepSafe },
    textFilter: (content, tagName = '') => (WITH_TEXT.includes(tagName) ? content : ''),
  }).trim();
  const start = clean.indexOf('<svg');
  const isImage = start !== -1 && clean.endsWith('</svg>') && isOneElement(clean.slice(start));
  return isImage ? clean.slice(start) : undefined;
}

/** Removes references and functions from attributes, and gives the root its namespace. */
function keepSafe(tagName: string, attributes: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  const safe = Object.entries(attributes).filter(
    ([name, value]) => !PRESENTATION.includes(name) || SAFE_VALUE.test(value),
  );
  const { xmlns: _, href, 'xlink:href': linked = href, ...attribs } = Object.fromEntries(safe);
  if (tagName === 'svg') attribs.xmlns = 'http://www.w3.org/2000/svg';
  if (linked && OWN_REFERENCE.test(linked)) attribs.href = linked;
  return { tagName, attribs };
}

/** Whether nothing follows the root. Images with more than one root are not well-formed. */
function isOneElement(svg: string): boolean {
  let depth = 0;
  for (const { 0: tag, index } of svg.matchAll(/<\/?svg(?=[\s>])/g)) {
    depth += tag === '<svg' ? 1 : -1;
    if (depth === 0) return index === svg.length - '</svg>'.length;
  }
  return false;
}
