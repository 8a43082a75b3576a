import { describe, expect, test } from 'vitest';
import type { AppOptions } from '../../src/start/app.ts';
import { startApp } from '../helpers/app.ts';
import { ownHeaders, postSession } from '../helpers/console.ts';

const PROXIED = { trustProxy: ['127.0.0.1'] };
const PUBLIC = { publicUrl: 'https://bots.example:8443/parley' };
const FORWARDED = {
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'bots.example',
};

describe('a page of the server itself', () => {
  test.each<[string, Partial<AppOptions>, Record<string, string>, boolean]>([
    ['https://bots.example', PROXIED, FORWARDED, true],
    ['https://bots.example', {}, FORWARDED, false],
    ['http://bots.example', PROXIED, FORWARDED, false],
    ['https://bots.example:443', PROXIED, FORWARDED, false],
    ['https://bots.example:8443', PROXIED, FORWARDED, false],
    ['https://bots.example.evil.example', PROXIED, FORWARDED, false],
    [
      'https://bots.example',
      PROXIED,
      { ...FORWARDED, 'x-forwarded-host': 'BOTS.example:443' },
      true,
    ],
    // Only the value that the nearest proxy has appended counts.
    [
      'https://evil.example',
      PROXIED,
      { ...FORWARDED, 'x-forwarded-host': 'evil.example, bots.example' },
      false,
    ],
    ['https://bots.example', PROXIED, { ...FORWARDED, 'x-forwarded-proto': 'http, https' }, true],
    ['null', PROXIED, { ...FORWARDED, 'x-forwarded-proto': 'data' }, false],
    ['null', PROXIED, { ...FORWARDED, 'x-forwarded-host': '' }, false],
    ['https://bots.example:8443', PUBLIC, {}, true],
    ['https://bots.example', PUBLIC, {}, false],
    ['http://bots.example:8443', PUBLIC, {}, false],
    ['https://bots.example:8443/parley', PUBLIC, {}, false],
  ])(
    'has the origin %s with %j and the headers %j: %s',
    async (origin, options, headers, isOwn) => {
      const app = await startApp(options);
      const { apiKey } = await app.tenant();
      const answer = await postSession(
        app,
        { key: apiKey },
        { ...ownHeaders(app), origin, ...headers },
      );
      expect(answer.status).toBe(isOwn ? 204 : 400);
    },
  );
});
