import { hash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { startApp, type TestApp } from '../helpers/app.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

let now = Date.UTC(2026, 10, 20, 12) / 1_000;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => now * 1_000 });
});

const get = (accept: string) => fetch(app.url, { headers: { accept } });

describe('the home page', () => {
  test('is a page for browsers, whose links all lead somewhere', async () => {
    const response = await get(BROWSER);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('vary')).toContain('Accept');
    const page = await response.text();
    const links = [...page.matchAll(/<a href="([^"]+)"/g)].map(([, path = '']) => path);
    expect(links).toEqual(['docs', 'graphql', 'v1/openapi.json', 'healthz']);
    for (const path of links) {
      const target = await fetch(`${app.url}/${path}`, { headers: { accept: BROWSER } });
      expect([path, target.status]).toEqual([path, 200]);
      await target.text();
    }
  });

  test('runs no script and allows its own style alone', async () => {
    const response = await get(BROWSER);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'none'");
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(await response.text()) ?? [];
    expect(policy).toContain(`style-src 'sha256-${hash('sha256', style, 'base64')}'`);
  });

  test.each(['*/*', 'application/json', ''])(
    'is JSON for clients that accept %j',
    async (accept) => {
      const response = await get(accept);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await response.json()).toEqual({
        name: 'Parley',
        version: VERSION,
        links: {
          docs: '/docs',
          graphql: '/graphql',
          'v1/openapi.json': '/v1/openapi.json',
          healthz: '/healthz',
        },
      });
    },
  );

  test('counts against the address of a client without a key', async () => {
    now += 60;
    const statuses: number[] = [];
    for (const _ of Array(31)) statuses.push((await get(BROWSER)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
    expect(statuses.at(-1)).toBe(429);
  });
});
