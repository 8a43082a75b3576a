import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { formatSource } from '../../src/language/format.ts';
import { type Site, startSite } from '../helpers/site.ts';
import { agentWith } from './helpers.ts';
import { callCapability } from './reference/service.ts';

const PAGE = readFileSync(new URL('../../docs/language/reference.md', import.meta.url), 'utf8');
const [SECTION = ''] = /^### How inputs travel$.*?^## /ms.exec(PAGE) ?? [];

/** A capability, the inputs of a call, and the request, in three consecutive blocks. */
const EXAMPLE =
  /^```agentlang\n(capability (\w+)[\s\S]*?)^```\n\n```json\n(.*)\n```\n\n```http\n([\s\S]*?)^```$/gm;
const EXAMPLES = [...SECTION.matchAll(EXAMPLE)].map(
  ([, capability = '', name = '', input = '', request = '']) => ({
    name,
    capability,
    input,
    request,
  }),
);

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.close());
beforeEach(() => {
  site.requests.length = 0;
});

describe('a capability of the reference', () => {
  test('is always followed by a call and its request', () => {
    expect(EXAMPLES).toHaveLength(SECTION.match(/^capability \w/gm)?.length ?? 0);
    expect(EXAMPLES.length).toBeGreaterThanOrEqual(6);
  });

  test.each(EXAMPLES)(
    '$name sends the documented request',
    async ({ capability, input, request }) => {
      expect(await callCapability(capability, JSON.parse(input), site)).toBe('Hello there.');
      const [head = '', body = ''] = request.trimEnd().split('\n\n');
      const [first = '', ...lines] = head.split('\n');
      const [method, url] = first.split(' ');
      expect(site.requests).toMatchObject([{ method, url, body }]);
      const headers = site.requests[0]?.headers ?? {};
      for (const line of lines) {
        const [name = '', value] = line.split(': ');
        expect(headers[name.toLowerCase()]).toBe(value);
      }
      const hasType = lines.some((line) => line.startsWith('Content-Type'));
      expect(headers['content-type'] !== undefined).toBe(hasType);
    },
  );

  test.each(EXAMPLES)('$name is formatted', ({ capability }) => {
    const indented = capability.replaceAll(/^(?=.)/gm, '    ');
    expect(formatSource(agentWith(`  tools g {\n${indented}  }`))).toContain(`{\n${indented}  }`);
  });
});
