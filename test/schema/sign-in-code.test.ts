import { beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { postSession } from '../helpers/console.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

test('a key creates a code that signs a browser in to the console once', async () => {
  const { graphql } = await app.tenant();
  const { data } = await graphql('mutation { createSignInCode { code } }');
  const { code } = data.createSignInCode;
  expect((await postSession(app, { code })).status).toBe(204);
  expect((await postSession(app, { code })).status).toBe(401);
});
