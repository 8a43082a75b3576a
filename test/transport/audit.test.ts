import { serverAudits } from 'graphql-http';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

/** Every requirement and recommendation of GraphQL over HTTP, as its working group's audit tests them. */
const audits = serverAudits({
  url: () => `${app.url}/graphql`,
  // The audits send more requests than an address without a key may.
  fetchFn: (url: string, init?: RequestInit) =>
    fetch(url, { ...init, headers: { ...init?.headers, ...tenant.headers } }),
});

describe('GraphQL over HTTP', () => {
  test('has audits for the whole specification', () => {
    expect(audits.length).toBeGreaterThan(50);
  });

  test.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    const result = await audit.fn();
    if (result.status === 'ok') return;
    const answer = await result.response.text();
    throw new Error(`${result.reason} (${result.response.status}): ${answer}`);
  });
});
