import { beforeAll, describe, expect, test } from 'vitest';
import { createSentPrompts } from '../../src/agent/sent-prompt.ts';
import { createActiveDeployments } from '../../src/deployments/active.ts';
import type { Redactor } from '../../src/redaction/redact.ts';
import { makeId } from '../../src/text/ids.ts';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../helpers/app.ts';
import { followTurns } from '../helpers/turns.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const READ = `query ($run: ID!) { run(id: $run) {
  prompt { complete parts { step role text } }
  trace { spans { name attributes } }
} }`;

type Part = { step: string; role: string; text: string | null };

const promptOf = async (run: string, key = tenant.apiKey) => {
  const { data, errors } = await app.graphql(key, READ, { run });
  expect(errors).toBeUndefined();
  return data.run.prompt as { complete: boolean; parts: Part[] } | null;
};

/** Chats as a user. @returns the id of the run. */
const chat = async (bot: string, body: object) => {
  const response = await tenant.chat(bot, body, { 'x-session-id': 'ada' });
  return ((await response.json()) as { run_id: string }).run_id;
};

/** The messages of the last model call. */
const sent = () => app.upstream.requests.at(-1)?.body.messages ?? [];

describe('the prompt of a run', () => {
  test('equals the request to the model, in its parts with the steps that added them', async () => {
    const bot = await tenant.bot('prompt "You help {{ session.id }} at {{ now }}."');
    await tenant.graphql(
      `mutation { setMemory(botId: "${bot}", sessionId: "ada", name: "name", value: "Ada") { id } }`,
    );
    await chat(bot, { message: 'One' });
    const run = await chat(bot, { message: 'Two', context: { plan: 'pro' } });
    const messages = sent();
    const prompt = await promptOf(run);
    expect(prompt?.complete).toBe(true);
    const parts = prompt?.parts ?? [];
    expect(parts.map(({ step, role }) => [step, role])).toEqual([
      ['CALL_MODEL', 'SYSTEM'],
      ['INJECT_MEMORY', 'SYSTEM'],
      ['MERGE_CONTEXT', 'SYSTEM'],
      ['LOAD_HISTORY', 'USER'],
      ['LOAD_HISTORY', 'ASSISTANT'],
      ['CALL_MODEL', 'USER'],
    ]);
    const system = parts.filter(({ role }) => role === 'SYSTEM').map(({ text }) => text);
    expect(system.join('')).toBe(messages[0]?.content);
    const rest = parts.filter(({ role }) => role !== 'SYSTEM').map(({ text }) => text);
    expect(rest).toEqual(messages.slice(1).map(({ content }) => content));
  });

  test('stays the same when memory, history and deployment change', async () => {
    const bot = await tenant.bot('prompt "First."');
    const fact = (value: string) =>
      tenant.graphql(
        `mutation { setMemory(botId: "${bot}", sessionId: "ada", name: "name", value: "${value}") { id } }`,
      );
    await fact('Ada');
    const run = await chat(bot, { message: 'One' });
    const before = await promptOf(run);
    await fact('Bo');
    await tenant.graphql(
      'mutation ($bot: ID!, $source: String!) { deploy(botId: $bot, input: { source: $source }) { id } }',
      { bot, source: agent('prompt "Second."') },
    );
    await chat(bot, { message: 'Two' });
    expect(await promptOf(run)).toEqual(before);
    expect(JSON.stringify(before)).toContain('Ada');
  });

  test('has no text of the definition without the scope DEPLOY, and needs the scope RUNS', async () => {
    const bot = await tenant.bot('prompt "A canary."');
    const run = await chat(bot, { message: 'One', context: { plan: 'pro' } });
    const support = await tenant.key({ scopes: ['RUNS'] });
    const prompt = await promptOf(run, support);
    expect(prompt?.parts[0]).toEqual({ step: 'CALL_MODEL', role: 'SYSTEM', text: null });
    expect(JSON.stringify(prompt)).not.toContain('canary');
    expect(JSON.stringify(prompt)).toContain('pro');
    const chatting = await tenant.key({ scopes: ['CHAT', 'DEPLOY'] });
    const { errors } = await app.graphql(
      chatting,
      `mutation { chat(botId: "${bot}", input: { message: "Hi" }) { run { prompt { complete } } } }`,
    );
    expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  test('is incomplete when its history is deleted, and gone with its session', async () => {
    const bot = await tenant.bot();
    const first = await chat(bot, { message: 'One' });
    const second = await chat(bot, { message: 'Two' });
    await app.prisma.run.delete({ where: { id: first } });
    const left = await promptOf(second);
    expect(left?.complete).toBe(false);
    expect(left?.parts.map(({ text }) => text)).toEqual(['You are a test.', 'Two']);
    await tenant.graphql(`mutation { forgetSession(botId: "${bot}", sessionId: "ada") }`);
    expect(await promptOf(second)).toBeNull();
  });

  test('has no facts if these are longer than 64 KiB', async () => {
    const bot = await tenant.bot();
    const sessionKey = makeId('ses');
    const environment = 'PRODUCTION' as const;
    await app.prisma.session.create({
      data: { id: sessionKey, botId: bot, environment, sessionId: 'ada' },
    });
    const value = 'x'.repeat(4_000);
    const facts = Array.from({ length: 20 }, (_, index) => ({
      sessionKey,
      name: `fact_${index}`,
      value,
    }));
    await app.prisma.memoryEntry.createMany({ data: facts });
    const run = await chat(bot, { message: 'One' });
    const prompt = await promptOf(run);
    expect(prompt?.complete).toBe(false);
    expect(prompt?.parts.map(({ step }) => step)).toEqual(['CALL_MODEL', 'CALL_MODEL']);
  });

  test('of a draft is stored with its run', async () => {
    const bot = await tenant.bot(null);
    const { data } = await tenant.graphql(
      `mutation ($bot: ID!, $definition: String!) {
        chat(botId: $bot, input: { message: "Hi" }, definition: $definition) {
          run { prompt { complete parts { text } } }
        }
      }`,
      { bot, definition: agent('prompt "A draft for {{ session.id }}."') },
    );
    expect(data.chat.run.prompt).toEqual({
      complete: true,
      parts: [{ text: expect.stringMatching(/^A draft for draft_ses_/) }, { text: 'Hi' }],
    });
  });

  test('is not stored if the operator keeps no prompts', async () => {
    const silent = await startApp({ promptDays: 0 });
    const other = await silent.tenant();
    const bot = await other.bot();
    const response = await other.chat(bot, { message: 'Hi' });
    const { run_id: run } = (await response.json()) as { run_id: string };
    expect((await other.graphql(READ, { run })).data.run.prompt).toBeNull();
  });

  test('is available for one run of a page, and the error for more names the way', async () => {
    const bot = await tenant.bot();
    const runs = [await chat(bot, { message: 'One' }), await chat(bot, { message: 'Two' })];
    const page = (first: number) =>
      tenant.graphql(
        `{ runs(botId: "${bot}", first: ${first}) { edges { node { prompt { complete } } } } }`,
      );
    const { data } = await page(1);
    expect(data.runs.edges).toEqual([{ node: { prompt: { complete: true } } }]);
    for (const { errors } of [
      await page(2),
      await tenant.graphql(
        'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Run { prompt { complete } } } }',
        { ids: runs },
      ),
    ]) {
      expect(errors?.[0]).toMatchObject({
        message: expect.stringMatching(/prompts of 2 runs.*`run\(id:\)`/),
        extensions: { code: 'INVALID_REQUEST' },
      });
    }
  });

  test('counts against the long texts of a response as often as the document selects it', async () => {
    const bot = await tenant.bot();
    const run = await chat(bot, { message: 'x'.repeat(1_000_000) });
    const read = (aliases: number) => {
      const texts = Array.from({ length: aliases }, (_, index) => `t${index}: text`);
      return tenant.graphql(`{ run(id: "${run}") { prompt { parts { ${texts.join(' ')} } } } }`);
    };
    expect((await read(2)).errors).toBeUndefined();
    expect((await read(20)).errors?.[0]).toMatchObject({
      message: expect.stringMatching(/larger than 8 MiB/),
      extensions: { code: 'REQUEST_TOO_LARGE' },
    });
  });

  test('is redacted in pieces between which other requests run', async () => {
    const bot = await tenant.bot('prompt "First."');
    const run = await chat(bot, { message: 'x'.repeat(500_000) });
    const turns = followTurns();
    let inTurn = { turn: 0, length: 0 };
    let longest = 0;
    const redactor: Redactor = {
      redact: (text) => text,
      stream: () => ({
        push(piece) {
          if (inTurn.turn !== turns()) inTurn = { turn: turns(), length: 0 };
          inTurn.length += piece.length;
          longest = Math.max(longest, inTurn.length);
          return piece;
        },
        end: () => '',
      }),
      size: 0,
    };
    const { loadAll } = createActiveDeployments({ prisma: app.prisma, cipher: testCipher });
    const sentPrompts = createSentPrompts({
      prisma: app.prisma,
      activeDeployments: {
        loadAll: async (ids) =>
          new Map(
            [...(await loadAll(ids))].map(([id, deployment]) => [id, { ...deployment, redactor }]),
          ),
      },
    });
    const prompt = await sentPrompts.read(run);
    expect(prompt?.parts.map(({ text }) => text)).toEqual(['First.', 'x'.repeat(500_000)]);
    expect(longest).toBe(16 * 1024);
  });
});
