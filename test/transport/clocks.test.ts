import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { hashApiKey } from '../../src/accounts/key-format.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

const HOUR = 60 * 60 * 1_000;
const MINUTE = 60 * 1_000;

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

/** Runs an operation on a replica whose clock differs by so many milliseconds. */
async function onReplica(ahead: number, query: string, variables = {}) {
  const clock = vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ahead });
  onTestFinished(() => void vi.useRealTimers());
  const { data, errors } = await tenant.graphql(query, variables);
  clock.useRealTimers();
  expect(errors).toBeUndefined();
  return data;
}

/** Whether a time is the database's, which the test shares. */
const isPresent = (time: string) => Math.abs(Date.parse(time) - Date.now()) < 10 * MINUTE;

const CREATE_BOT = 'mutation { createBot(input: { name: "Bot" }) { id createdAt } }';
const SET_MEMORY = `mutation ($bot: ID!, $value: String!) {
  setMemory(botId: $bot, sessionId: "ada", name: "city", value: $value) {
    createdAt lastSeenAt memory { value updatedAt }
  }
}`;
const RATE = `mutation ($run: ID!) {
  addFeedback(runId: $run, rating: UP) { createdAt updatedAt }
}`;

// PGlite uses the clock of its process.
describe.skipIf(!inject('databaseUrl'))('a replica whose clock is wrong', () => {
  test('keeps the audit log and the list of bots in order', async () => {
    const { createBot: first } = await onReplica(0, CREATE_BOT);
    const { createBot: second } = await onReplica(-HOUR, CREATE_BOT);
    expect(isPresent(second.createdAt)).toBe(true);
    const { data } = await tenant.graphql(
      '{ viewer { account { auditLog(first: 2) { edges { node { targetId } } } } } }',
    );
    const targets = data.viewer.account.auditLog.edges.map(
      ({ node }: { node: { targetId: string } }) => node.targetId,
    );
    expect(targets).toEqual([second.id, first.id]);
  });

  test.each([-HOUR, HOUR])('stores when a fact was set (%d ms)', async (ahead) => {
    const bot = await tenant.bot();
    await onReplica(ahead, SET_MEMORY, { bot, value: 'Bern' });
    const { setMemory } = await onReplica(ahead, SET_MEMORY, { bot, value: 'Rome' });
    const [fact] = setMemory.memory;
    expect(fact.value).toBe('Rome');
    for (const time of [setMemory.createdAt, setMemory.lastSeenAt, fact.updatedAt])
      expect(isPresent(time)).toBe(true);
  });

  test('stores a change of feedback after its creation', async () => {
    const bot = await tenant.bot();
    const reply = await tenant.chat(bot, { message: 'Hi' });
    const { run_id: run } = (await reply.json()) as { run_id: string };
    const { addFeedback: given } = await onReplica(HOUR, RATE, { run });
    expect(given.updatedAt).toBe(given.createdAt);
    expect(isPresent(given.createdAt)).toBe(true);
    const { addFeedback: changed } = await onReplica(-HOUR, RATE, { run });
    expect(changed.createdAt).toBe(given.createdAt);
    expect(Date.parse(changed.updatedAt)).toBeGreaterThanOrEqual(Date.parse(given.createdAt));
  });

  test.each([-HOUR, HOUR])('stores when a key was made, used and ended (%d ms)', async (ahead) => {
    const { createApiKey } = await onReplica(
      ahead,
      'mutation { createApiKey(input: { name: "Key" }) { secret apiKey { id } } }',
    );
    const { secret, apiKey } = createApiKey;
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ahead });
    onTestFinished(() => void vi.useRealTimers());
    await app.graphql(secret, '{ viewer { account { id } } }');
    vi.useRealTimers();
    const read = () => app.prisma.apiKey.findUniqueOrThrow({ where: { hash: hashApiKey(secret) } });
    await expect.poll(async () => (await read()).lastUsedAt).not.toBeNull();
    await onReplica(ahead, 'mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', {
      id: apiKey.id,
    });
    const { createdAt, lastUsedAt, revokedAt } = await read();
    for (const time of [createdAt, lastUsedAt, revokedAt])
      expect(isPresent(String(time?.toISOString()))).toBe(true);
  });
});
