import { expect } from 'vitest';
import { createIsBlocked } from '../../../src/egress/guard.ts';
import { agentWith, agentWithCapability, capabilityOf, codesOf, many } from '../helpers.ts';
import type { Sentences } from './sentences.ts';
import { answerTo, neverEnds, redirectsForever } from './service.ts';

const requestWith = (settings: string) =>
  agentWithCapability(`get "https://a.example/" { ${settings} }`);

export const REQUEST: Sentences = {
  'A request is `get`, `post`, `put`, `patch` or `delete` with a URL, and may have headers, a `timeout`, a `body` and a `query`.':
    () => {
      for (const word of ['get', 'post', 'put', 'patch', 'delete'])
        expect(capabilityOf(`${word} "https://a.example/"`).request).toMatchObject({
          method: word.toUpperCase(),
          url: ['https://a.example/'],
          headers: [],
          query: [],
        });
      const block = '{ header "A" "a" header "B" "b {{ now }}" timeout 1s }';
      expect(capabilityOf(`get "https://a.example/" ${block}`).request).toMatchObject({
        headers: [
          { name: 'A', value: ['a'] },
          { name: 'B', value: ['b ', { path: ['now'] }] },
        ],
        timeout: 1_000,
      });
    },
  '`body` is `json`, `form` or `none`; the default is `json` for `post`, `put` and `patch`, and `none` for `get` and `delete`.':
    () => {
      const bodyOf = (request: string) => capabilityOf(request).request.body;
      for (const word of ['post', 'put', 'patch'])
        expect(bodyOf(`${word} "https://a.example/"`)).toBe('json');
      for (const word of ['get', 'delete'])
        expect(bodyOf(`${word} "https://a.example/"`)).toBe('none');
      for (const body of ['json', 'form', 'none'])
        expect(bodyOf(`post "https://a.example/" { body ${body} }`)).toBe(body);
      expect(codesOf(requestWith('body xml'))).toEqual(['syntax']);
    },
  'A `get` request has no body.': () => {
    expect(codesOf(requestWith('body none'))).toEqual([]);
    expect(codesOf(requestWith('body json'))).toEqual(['unexpected-body']);
    expect(codesOf(requestWith('body form'))).toEqual(['unexpected-body']);
  },
  '`query` names declared inputs, separated by commas.': () => {
    const withQuery = (query: string) =>
      `input { a string "x" b string "y" } post "https://a.example/" { query ${query} }`;
    expect(capabilityOf(withQuery('b, a')).request.query).toEqual(['b', 'a']);
    expect(codesOf(agentWithCapability(withQuery('a, c')))).toEqual(['unknown-input']);
    expect(codesOf(agentWithCapability(withQuery('a, a')))).toEqual(['duplicate-name']);
  },
  'The `timeout` of a request is 1ms to 15m, 10s by default, and covers the whole answer and all redirects.':
    async () => {
      expect(capabilityOf('get "https://a.example/"').request.timeout).toBe(10_000);
      for (const [timeout, codes] of [
        ['1ms', []],
        ['15m', []],
        ['0ms', ['out-of-range']],
        ['901s', ['out-of-range']],
      ] as const)
        expect(codesOf(requestWith(`timeout ${timeout}`))).toEqual(codes);
      expect(await answerTo('timeout 100ms', redirectsForever)).toBe(
        'The server did not answer in time.',
      );
      expect(await answerTo('timeout 100ms', neverEnds)).toBe('The server did not answer in time.');
    },
  'A tool call ends with the run, so `run_time` may end a request before its `timeout`.':
    async () => {
      const run = new AbortController();
      const call = answerTo('timeout 15m', () => run.abort(new Error('The run is over.')), run);
      await expect(call).rejects.toThrow('The run is over.');
    },
  'A URL begins with `https://` or, with a warning, with `http://`, and holds no password.': () => {
    const get = (url: string) => agentWithCapability(`get "${url}"`);
    expect(codesOf(get('https://a.example:8443/b?c=d#e'))).toEqual([]);
    expect(codesOf(get('http://a.example'))).toEqual(['plain-http']);
    for (const url of ['ftp://a.example', '/b', 'a.example', 'https://', 'https://u:p@a.example'])
      expect(codesOf(get(url))).toEqual(['invalid-url']);
  },
  '`http://` to an address of the same machine that the operator allows for tools is no warning.':
    () => {
      const check = (url: string, ...allowedHosts: string[]) =>
        codesOf(agentWithCapability(`get "${url}"`), { isBlocked: createIsBlocked(allowedHosts) });
      expect(check('http://127.0.0.1:8080/x', '127.0.0.1:8080')).toEqual([]);
      expect(check('http://LOCALHOST/x', 'Localhost:80')).toEqual([]);
      expect(check('http://[::1]:8080/x', '[::1]:8080')).toEqual([]);
      expect(check('http://10.0.0.1:8080/x', '10.0.0.1:8080')).toEqual(['plain-http']);
      const unknown = (url: string) => codesOf(agentWithCapability(`get "${url}"`));
      expect(unknown('http://127.0.0.1:8080/x')).toEqual([]);
      expect(unknown('http://10.0.0.1:8080/x')).toEqual(['plain-http']);
      expect(check('http://127.0.0.1.example:80/x', '127.0.0.1.example:80')).toEqual([
        'plain-http',
      ]);
    },
  'A private or local address that the operator has not allowed gets a warning from the server.':
    () => {
      const check = (url: string, ...allowedHosts: string[]) =>
        codesOf(agentWithCapability(`get "${url}"`), { isBlocked: createIsBlocked(allowedHosts) });
      expect(check('http://127.0.0.1:8080/x', '127.0.0.1:80')).toEqual(['private-host']);
      expect(check('http://127.0.0.1:8080/x')).toEqual(['private-host']);
      expect(check('https://10.0.0.1/x')).toEqual(['private-host']);
      expect(check('https://10.0.0.1/x', '10.0.0.1:443')).toEqual([]);
      expect(check('https://[fd00::1]:8443/x')).toEqual(['private-host']);
      expect(check('https://shop.localhost/x')).toEqual(['private-host']);
      expect(check('https://a.example/x')).toEqual([]);
      expect(check('https://10.0.0.{{ env.HOST }}/x')).toEqual([]);
      expect(codesOf(agentWithCapability('get "https://10.0.0.1/x"'))).toEqual([]);
    },
  'A header occurs at most once, regardless of case, and its value is one line.': () => {
    const get = (headers: string) => agentWithCapability(`get "https://a.example/" { ${headers} }`);
    expect(codesOf(get('header "A" "a" header "a" "b"'))).toEqual(['duplicate-name']);
    expect(codesOf(get('header "A" "a\\nb"'))).toEqual(['invalid-header']);
    expect(codesOf(get('header "A:" "a"'))).toEqual(['invalid-header']);
  },
  'A URL has at most 16384 characters.': () => {
    const get = (length: number) =>
      agentWithCapability(`get "${'https://a.example/'.padEnd(length, 'a')}"`);
    expect(codesOf(get(16_384))).toEqual([]);
    expect(codesOf(get(16_385))).toEqual(['invalid-url']);
  },
  'A request or a server has at most 32 headers.': () => {
    const headers = (count: number) => `{ ${many(count, (index) => `header "H-${index}" "v"`)} }`;
    for (const settings of [
      (count: number) => agentWithCapability(`get "https://a.b/" ${headers(count)}`),
      (count: number) => agentWith(`  tools g mcp env.U ${headers(count)}`),
    ]) {
      expect(codesOf(settings(32))).toEqual([]);
      expect(codesOf(settings(33))).toEqual(['too-many']);
    }
  },
};
