import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEgress, type Egress, type EgressRequest } from '../../src/egress/egress.ts';
import { EgressError } from '../../src/egress/error.ts';
import { type Site, type SiteHandler, startSite } from '../helpers/site.ts';

let site: Site;
let other: Site;
let egress: Egress;
beforeAll(async () => {
  [site, other] = await Promise.all([startSite(), startSite()]);
});
afterAll(() => Promise.all([site.close(), other.close()]));
beforeEach(() => {
  egress = createEgress({ allowedHosts: [site.host, other.host] });
  site.requests.length = 0;
  other.requests.length = 0;
});
afterEach(() => egress.close());

const MEBIBYTE = 1024 * 1024;
const greet: SiteHandler = (_request, response) => response.end('Hello there.');

const request = (options: Partial<EgressRequest> = {}) =>
  egress.request({
    method: 'GET',
    url: `${site.origin}/`,
    headers: {},
    timeout: 10_000,
    signal: new AbortController().signal,
    ...options,
  });
const failure = async (options: Partial<EgressRequest> = {}) => {
  const error = await request(options).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(EgressError);
  return error.code;
};

/** Redirects everything except `/end`, which returns a greeting. */
const redirectTo =
  (location: string, status = 302): SiteHandler =>
  (request, response) => {
    if (request.url === '/end') return greet(request, response);
    response.writeHead(status, { location, 'set-cookie': 'id=1' }).end('Elsewhere.');
  };

describe('a redirect', () => {
  test.each<[number, string, string, string]>([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [302, 'PUT', 'PUT', '{}'],
    [307, 'POST', 'POST', '{}'],
    [308, 'DELETE', 'DELETE', '{}'],
  ])('with status %i turns %s into %s', async (status, method, then, body) => {
    site.handle(redirectTo('end', status));
    const headers = { 'content-type': 'application/json', authorization: 'Bearer a' };
    expect(await request({ method, headers, body: '{}' })).toMatchObject({ text: 'Hello there.' });
    const last = site.requests[1];
    expect(last).toMatchObject({ method: then, url: '/end', body });
    expect(last?.headers['content-type']).toBe(body ? 'application/json' : undefined);
    expect(last?.headers.authorization).toBe('Bearer a');
    expect(last?.headers.cookie).toBeUndefined();
  });

  test('to another origin has no headers that may contain a secret', async () => {
    site.handle(redirectTo(`${other.origin}/end`, 307));
    const secret = { Authorization: 'Bearer a', COOKIE: 'id=1', 'X-Api-Key': 'k' };
    await request({ method: 'POST', headers: { ...secret, Accept: 'text/plain' }, body: 'Hi' });
    const { headers = {}, body } = other.requests[0] ?? {};
    expect([headers.authorization, headers.cookie, headers['x-api-key']]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([headers.accept, headers.host, body]).toEqual(['text/plain', other.host, 'Hi']);
  });

  test('is followed at most 3 times', async () => {
    const countdown: SiteHandler = (request, response) => {
      const left = Number(request.url.slice(1));
      if (left === 0) return greet(request, response);
      response.writeHead(302, { location: `/${left - 1}` }).end('a'.repeat(MEBIBYTE));
    };
    site.handle(countdown);
    expect(await request({ url: `${site.origin}/3` })).toMatchObject({ status: 200 });
    expect(await failure({ url: `${site.origin}/4` })).toBe('too-many-redirects');
  });

  test.each([
    ['http://127.0.0.1:1/', 'blocked'],
    ['//10.0.0.1/', 'blocked'],
    ['http://169.254.169.254/latest/meta-data', 'blocked'],
    ['http://[::ffff:127.0.0.1]/', 'blocked'],
    ['file:///etc/passwd', 'invalid-url'],
    ['ftp://example.com/', 'invalid-url'],
    ['http://user:password@example.com/', 'invalid-url'],
    ['http://[/', 'invalid-url'],
  ])('to %s is not followed', async (location, code) => {
    site.handle(redirectTo(location));
    expect(await failure()).toBe(code);
  });

  test('without a location is returned as a response', async () => {
    site.handle((_request, response) => response.writeHead(302).end('Somewhere.'));
    expect(await request()).toMatchObject({ status: 302, text: 'Somewhere.' });
  });
});
