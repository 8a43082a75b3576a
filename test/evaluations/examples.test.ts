import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOfflineModel } from '../../src/model/offline.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { ATTEMPTS } from '../helpers/evaluations.ts';
import { startUpstream, type Upstream } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
let translator: Upstream;

beforeAll(async () => {
  translator = await startUpstream();
  const { host } = new URL(translator.baseUrl);
  app = await startApp({ model: createOfflineModel({ pace: 0 }), allowedHosts: [host] });
  tenant = await app.tenant();
});
afterAll(() => translator.close());

const evaluate = async (name: string, input: object = {}) => {
  const source = await readFile(
    new URL(`../../prisma/examples/${name}.agent`, import.meta.url),
    'utf8',
  );
  const bot = await tenant.bot('');
  const { data, errors } = await tenant.graphql(
    `mutation ($bot: ID!, $input: EvaluationInput!) { startEvaluation(botId: $bot, input: $input) { id } }`,
    { bot, input: { source, ...input } },
  );
  expect(errors).toBeUndefined();
  const read = async () =>
    (
      await tenant.graphql(`{ evaluation(id: "${data.startEvaluation.id}") {
        finishedAt verdict passed results { name verdict ${ATTEMPTS} } } }`)
    ).data.evaluation;
  await expect.poll(async () => (await read()).finishedAt, { timeout: 60_000 }).not.toBeNull();
  return read();
};

describe('the tests of the examples', () => {
  test.each(['demo', 'order-desk', 'support'])('pass with the offline model: %s', async (name) => {
    const { verdict, passed, results } = await evaluate(name);
    expect(results.filter((one: { verdict: string }) => one.verdict !== 'PASSED')).toEqual([]);
    expect({ verdict, passed }).toEqual({ verdict: 'PASSED', passed: 3 });
  });

  test('pass with the model server of the definition: translator', async () => {
    translator.script(({ request, say, end }) => {
      say(request.body.messages.at(-1)?.content ?? '');
      end();
    });
    const { verdict, passed } = await evaluate('translator', {
      envVars: [
        { name: 'TRANSLATION_SERVER_URL', value: translator.baseUrl },
        { name: 'TRANSLATION_SERVER_KEY', value: 'a-key-0123456789' },
      ],
    });
    expect({ verdict, passed }).toEqual({ verdict: 'PASSED', passed: 3 });
  });
});
