import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const READ = 'query ($id: ID!) { run(id: $id) { context } }';

const chat = async (bot: string, context?: object) => {
  const reply = await tenant.chat(bot, { message: 'Hi', ...(context && { context }) });
  return ((await reply.json()) as { run_id: string }).run_id;
};
const contextOf = async (id: string) => (await tenant.graphql(READ, { id })).data.run.context;

describe('the context of a run', () => {
  test('is the context of its request, for as long as the prompt is stored', async () => {
    const bot = await tenant.bot();
    const context = { plan: 'pro', cart: [{ sku: 'lamp', count: 2 }] };
    const run = await chat(bot, context);
    expect(await contextOf(run)).toEqual(context);
    expect(await contextOf(await chat(bot))).toBeNull();
    await app.prisma.runPrompt.delete({ where: { runId: run } });
    expect(await contextOf(run)).toBeNull();
  });

  test('needs the scope RUNS, but for the caller who sent it', async () => {
    const bot = await tenant.bot();
    const key = await tenant.key({ scopes: ['CHAT'] });
    const own = await app.graphql(
      key,
      `mutation ($context: JSON!) {
        chat(botId: "${bot}", input: { message: "Hi", context: $context }) { runId run { context } }
      }`,
      { context: { plan: 'pro' } },
    );
    expect(own.data.chat.run).toEqual({ context: { plan: 'pro' } });
    const later = await app.graphql(
      key,
      `mutation { cancelRun(id: "${own.data.chat.runId}") { context } }`,
    );
    expect(later.errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
    expect(JSON.stringify(later)).not.toContain('pro');
  });
});
