import { expect, test } from 'vitest';
import { MAX_LOGO_BYTES, readLogo } from '../../src/bots/logo.ts';

const svg = (content: string, attributes = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"${attributes}>${content}</svg>`;

/** The image that is stored for a file. */
const stored = (file: string) => {
  const logo = readLogo(Buffer.from(file));
  return 'problem' in logo ? logo : logo.content.toString();
};

const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(64);
  bytes.set(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};

const RECT = '<rect width="32" height="32" fill="#403cbf"></rect>';

test('a logo keeps its shapes, gradients and styles', () => {
  const drawing = `<defs><linearGradient id="a" gradientUnits="userSpaceOnUse"><stop offset="0" stop-color="red"></stop></linearGradient><linearGradient id="b" href="#a"></linearGradient><clipPath id="c"><circle cx="16" cy="16" r="16"></circle></clipPath></defs><g clip-path="url(#c)"><path d="M0 0L32 32Z" fill="url(#b)" style="stroke:#fff;stroke-width:2px"></path></g><text x="4" y="20">A &amp; B</text>`;
  const file = `<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">\n${svg(drawing.replace('href=', 'xlink:href='), ' xmlns:xlink="http://www.w3.org/1999/xlink"')}\n`;
  const image = stored(file);
  expect(image).toContain(drawing);
  expect(image).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
});

test.for([
  ['a script', '<script>alert(1)</script>'],
  [
    'a script of another namespace',
    '<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>',
  ],
  ['a script in a link', '<a href="javascript:alert(1)"><rect onclick="alert(1)"/></a>'],
  ['a page inside', '<foreignObject><iframe srcdoc="alert(1)"></iframe></foreignObject>'],
  [
    'a style sheet',
    '<style>@import "https://evil.example/x.css"; rect { fill: url(https://evil.example) }</style>',
  ],
  ['an image of another server', '<image href="https://evil.example/x.png"/>'],
  ['an element of another image', '<use xlink:href="https://evil.example/x.svg#a"/>'],
  ['copies of copies', `<g id="a">${'<use href="#a"/>'.repeat(10)}</g>`],
  [
    'an animation',
    '<animate attributeName="href" values="javascript:alert(1)"/><set attributeName="onload" to="alert(1)"/>',
  ],
  ['a fill of another server', '<path fill="url(https://evil.example/x.svg#a)"/>'],
  [
    'a style of another server',
    '<path style="fill:url(\'//evil.example/x\');background:url(https://evil.example)"/>',
  ],
  ['an escaped style', '<path style="fill:u\\72l(https://evil.example)"/>'],
  ['a gradient of another server', '<linearGradient href="https://evil.example/x.svg#a"/>'],
  ['a filter', '<filter id="f"><feImage href="https://evil.example/x.png"/></filter>'],
  ['an instruction', '<?xml-stylesheet href="https://evil.example/x.css"?>'],
])('a logo loses %s', ([, hostile]) => {
  const image = stored(svg(RECT + hostile, ' onload="alert(1)" onclick="alert(1)"'));
  expect(image).toContain(RECT);
  expect(image).not.toMatch(/script|alert|evil|iframe|<use|<a[ >]|<image|animate|on\w+=|@import/i);
});

test.for([
  [
    'repeated entities',
    '<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;">',
  ],
  ['an entity of a file', '<!ENTITY c SYSTEM "file:///etc/passwd">'],
  [
    'an entity with the end of the declaration',
    '<!ENTITY c "]><svg><script>alert(1)</script></svg>">',
  ],
])('a logo expands no entities: %s', ([, entities]) => {
  const image = stored(`<!DOCTYPE svg [${entities}]>${svg(`${RECT}<text>&c;</text>`)}`);
  // The reference stays as text, or the image is refused.
  expect(JSON.stringify(image)).not.toMatch(/lol|ENTITY|DOCTYPE|root:|alert|script/);
});

test('a logo has at most 32 levels of elements', () => {
  const image = stored(svg(`${'<g>'.repeat(4_000)}${RECT}${'</g>'.repeat(4_000)}`));
  expect(String(image).match(/<g>/g)?.length).toBeLessThanOrEqual(32);
});

test.for<[string, Buffer<ArrayBuffer>]>([
  ['another image', Buffer.from('GIF89a…')],
  ['a page', Buffer.from('<html><body>Hello</body></html>')],
  ['text', Buffer.from('Hello')],
  ['nothing', Buffer.alloc(0)],
  ['two images', Buffer.from(svg(RECT) + svg(RECT))],
  ['an unclosed beginning', Buffer.from('<svg')],
  ['bytes', Buffer.from([0, 255, 254, 60, 0])],
])('%s is no logo', ([, bytes]) => {
  expect(readLogo(bytes)).toEqual({ problem: 'must be an SVG or PNG image' });
});

test('a PNG is stored as it is, unless it is too large', () => {
  expect(readLogo(png(2_048, 1))).toMatchObject({ mediaType: 'image/png', content: png(2_048, 1) });
  for (const huge of [png(2_049, 1), png(1, 100_000), png(0, 1), png(1, 1).subarray(0, 20)])
    expect(readLogo(Buffer.from(huge))).toEqual({
      problem: 'must have at most 2048 pixels in each direction',
    });
  const large = Buffer.concat([png(1, 1), Buffer.alloc(MAX_LOGO_BYTES)]);
  expect(readLogo(large)).toEqual({ problem: 'must not be larger than 32 KiB' });
});

test('hostile files take no time', () => {
  const fill = (piece: string) =>
    Buffer.from(piece.repeat(MAX_LOGO_BYTES).slice(0, MAX_LOGO_BYTES));
  const started = performance.now();
  for (const piece of [
    '<',
    '<svg',
    '<svg ',
    '&',
    'style="',
    '<!DOCTYPE ',
    '<!DOCTYPE[',
    ']',
    '<g a=',
    '(',
    'url(',
  ])
    readLogo(fill(piece));
  readLogo(Buffer.from(svg(`<path style="${'fill:url(#a);'.repeat(2_000)}"/>`)));
  readLogo(Buffer.from(svg(`<path fill="rgb(${'1 '.repeat(15_000)}"/>`)));
  expect(performance.now() - started).toBeLessThan(10_000);
});
