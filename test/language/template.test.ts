import { describe, expect, test } from 'vitest';
import {
  lookupIn,
  renderTemplate,
  renderUrl,
  type Template,
  TextLimitError,
} from '../../src/language/template.ts';

const place = (...path: string[]): Template => [{ path }];
const renderWith = (values: Record<string, unknown>, template: Template) =>
  renderTemplate(template, lookupIn(values));

describe('rendering values', () => {
  test.each([
    ['a string as it is', 'a "b" {{ c }}', 'a "b" {{ c }}'],
    ['an empty string, which is not a missing value', '', ''],
    ['a number', 0.5, '0.5'],
    ['a boolean', false, 'false'],
    ['a list as JSON', ['a', 1], '["a",1]'],
    ['an object as JSON', { a: null }, '{"a":null}'],
  ])('inserts %s', (_what, value, text) => {
    expect(renderWith({ context: { value } }, place('context', 'value'))).toEqual({
      text,
      missing: [],
    });
  });

  test.each([
    ['null', null],
    ['undefined', undefined],
  ])('treats %s as missing', (_what, value) => {
    const template: Template = ['[', { path: ['a'] }, { path: ['a'], default: 'x' }, ']'];
    expect(renderWith({ a: value }, template)).toEqual({ text: '[x]', missing: ['a'] });
  });

  test('accepts an empty default', () => {
    expect(renderWith({}, [{ path: ['a'], default: '' }])).toEqual({ text: '', missing: [] });
  });

  test('does not expand templates in values', () => {
    const template: Template = [{ path: ['a'] }, { path: ['b'] }];
    expect(renderWith({ a: '{{ b }}', b: 'x' }, template).text).toBe('{{ b }}x');
  });

  test('renders a template without parts as empty text', () => {
    expect(renderWith({}, [])).toEqual({ text: '', missing: [] });
  });
});

describe('looking up values', () => {
  test('follows paths through objects and lists', () => {
    const lookup = lookupIn({ context: { orders: [{ id: 'A-1' }] } });
    expect(lookup(['context', 'orders', '0', 'id'])).toBe('A-1');
    expect(lookup(['context', 'orders', '1', 'id'])).toBeUndefined();
    expect(lookup(['context', 'orders', '0', 'id', 'x'])).toBeUndefined();
  });

  test('does not find inherited members', () => {
    const lookup = lookupIn({ context: {}, text: 'abc' });
    for (const name of ['constructor', 'toString', '__proto__'])
      expect(lookup(['context', name])).toBeUndefined();
    expect(lookup(['constructor'])).toBeUndefined();
    expect(lookup(['text', 'length'])).toBeUndefined();
  });
});

describe('rendering values in a URL', () => {
  const render = (value: unknown) =>
    renderUrl(['https://a.example/', { path: ['v'] }, '/x'], lookupIn({ v: value }));

  test.each([
    ['a slash', 'a/b', 'a%2Fb'],
    ['a question mark, a hash and an ampersand', '?#&', '%3F%23%26'],
    ['a percent sign', '%2F', '%252F'],
    ['letters beyond ASCII', 'é😀', '%C3%A9%F0%9F%98%80'],
    ['half a surrogate pair', '\uD83D', '%EF%BF%BD'],
    ['dots inside a name', 'a..b', 'a..b'],
    ['JSON', ['a'], '%5B%22a%22%5D'],
  ])('encodes %s', (_what, value, text) => {
    expect(render(value)).toEqual({ text: `https://a.example/${text}/x`, missing: [] });
  });

  test.each(['.', '..'])('treats %j as missing, so that it cannot leave the path', (value) => {
    expect(render(value)).toEqual({ text: 'https://a.example//x', missing: ['v'] });
  });

  test('encodes defaults too', () => {
    expect(renderUrl([{ path: ['v'], default: 'a/b' }], lookupIn({})).text).toBe('a%2Fb');
  });
});

describe('the limit of a rendered text', () => {
  const repeated = (count: number): Template =>
    Array.from({ length: count }, () => ({ path: ['a'] }));
  /** A value that counts its conversions to text. */
  const counted = (text: string) => {
    const value = {
      made: 0,
      toJSON: () => {
        value.made += 1;
        return text;
      },
    };
    return value;
  };

  test('applies to a value that is looked up and converted once, and inserted many times', () => {
    const a = counted('x');
    let lookups = 0;
    const { text } = renderTemplate(repeated(1_000), (path) => {
      lookups += 1;
      return lookupIn({ a })(path);
    });
    expect(text).toBe('"x"'.repeat(1_000));
    expect({ lookups, made: a.made }).toEqual({ lookups: 1, made: 1 });
  });

  test('refuses a text over 1 MiB before it is built', () => {
    const a = counted('x'.repeat(1_000_000));
    expect(() => renderTemplate(repeated(1_000), lookupIn({ a }))).toThrow(TextLimitError);
    expect(a.made).toBe(1);
    expect(() => renderTemplate([...repeated(1), 'x'.repeat(48_575)], lookupIn({ a }))).toThrow(
      'is longer than 1048576 characters with its values in place',
    );
    const fits = renderTemplate([...repeated(1), 'x'.repeat(48_574)], lookupIn({ a }));
    expect(fits.text).toHaveLength(1_048_576);
  });

  test('includes defaults', () => {
    const template: Template = [{ path: ['a'], default: 'xx' }];
    expect(renderTemplate(template, lookupIn({}), 2).text).toBe('xx');
    expect(() => renderTemplate(template, lookupIn({}), 1)).toThrow(TextLimitError);
  });

  test('refuses a text with over 1,000 templates from an older deployment', () => {
    expect(() => renderTemplate(repeated(1_001), lookupIn({}))).toThrow(
      'has more than 1000 templates',
    );
  });

  test('applies to the encoded URL, and a value that is too long is not encoded', () => {
    const url: Template = ['https://a.b/', { path: ['a'] }];
    expect(renderUrl(url, lookupIn({ a: '/'.repeat(5_457) })).text).toHaveLength(16_383);
    expect(() => renderUrl(url, lookupIn({ a: '/'.repeat(5_458) }))).toThrow(TextLimitError);
    expect(() => renderUrl(url, lookupIn({ a: 'x'.repeat(100_000) }))).toThrow(
      'is longer than 16384 characters',
    );
  });
});
