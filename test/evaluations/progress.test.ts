import { createClient } from 'graphql-sse';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;

beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  tenant = await app.tenant();
  bot = await tenant.bot('');
  app.upstream.requests.length = 0;
});

const sourceWith = (...names: string[]) =>
  `agentlang 5 agent "A" { prompt "p" ${names.map((name) => `test "${name}" { user "${name}" }`).join('\n')} }`;

const start = async (source: string, more: object = {}, botId = bot): Promise<string> => {
  const { data, errors } = await tenant.graphql(
    `mutation ($bot: ID!, $input: EvaluationInput!) { startEvaluation(botId: $bot, input: $input) { id } }`,
    { bot: botId, input: { source, ...more } },
  );
  expect(errors).toBeUndefined();
  return data.startEvaluation.id;
};

const statusOf = async (id: string) =>
  (await app.prisma.evaluation.findUniqueOrThrow({ where: { id } })).status;

type Progress = { status: string; passed: number; finishedAt: string | null };

/** Subscribes to an evaluation. */
const follow = (id: string) => {
  const client = createClient({
    url: `${app.url}/graphql/stream`,
    headers: tenant.headers,
    retryAttempts: 0,
  });
  onTestFinished(() => client.dispose());
  return client.iterate<{ evaluationChanged: Progress }>({
    query: `subscription ($bot: ID!, $id: ID!) {
      evaluationChanged(botId: $bot, id: $id) { status passed finishedAt } }`,
    variables: { bot, id },
  });
};

/** A model whose answers wait for the test. */
const holdModel = () => {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const asked = Promise.withResolvers<void>();
  app.upstream.script(async ({ say, end, closed }) => {
    asked.resolve();
    if (!isOpen) await Promise.race([new Promise<void>((answer) => waiting.push(answer)), closed]);
    say('yes');
    end();
  });
  return {
    asked: asked.promise,
    answerOne: () => waiting.shift()?.(),
    goOn: () => {
      isOpen = true;
      for (const answer of waiting.splice(0)) answer();
    },
  };
};

/** Subscribes, and lets the model answer now and then until the first event arrives. */
const followed = async (id: string, { answerOne }: ReturnType<typeof holdModel>) => {
  const events = follow(id);
  const first = events.next();
  let isOver = false;
  void first.finally(() => {
    isOver = true;
  });
  const answered = () => {
    answerOne();
    return isOver;
  };
  await expect.poll(answered, { interval: 500 }).toBe(true);
  const progress = (await first).value?.data?.evaluationChanged;
  return { events, first: progress };
};

/** Reads events until one satisfies the condition. */
const readUntil = async (
  events: ReturnType<typeof follow>,
  isLast: (progress: Progress) => boolean,
): Promise<Progress[]> => {
  const read: Progress[] = [];
  for (;;) {
    const { value } = await events.next();
    const progress = value?.data?.evaluationChanged;
    if (!progress) throw new Error(JSON.stringify(value));
    read.push(progress);
    if (isLast(progress)) return read;
  }
};

test('the events of an evaluation are in order, and the last one is its end', async () => {
  const model = holdModel();
  const id = await start(sourceWith('a', 'b', 'c', 'd', 'e', 'f'), { repeat: 10 });
  await model.asked;
  const { events, first } = await followed(id, model);
  expect(first).toMatchObject({ status: 'RUNNING', finishedAt: null });
  model.goOn();
  const read = await readUntil(events, ({ finishedAt }) => finishedAt !== null);
  const passed = read.map((progress) => progress.passed);
  expect(passed).toEqual(passed.toSorted((one, other) => one - other));
  expect(new Set(read.slice(0, -1).map(({ status }) => status))).toEqual(new Set(['RUNNING']));
  expect(read.slice(0, -1).map(({ finishedAt }) => finishedAt)).not.toContainEqual(
    expect.any(String),
  );
  expect(read.at(-1)).toEqual({
    ...{ status: 'COMPLETED', passed: 6 },
    finishedAt: expect.stringMatching(/Z$/),
  });
  await events.return?.();
});

test('after the event of its cancellation, no request of the evaluation reaches the model', async () => {
  const model = holdModel();
  const names = Array.from({ length: 30 }, (_, index) => `t${index}`);
  const id = await start(sourceWith(...names), { repeat: 5 });
  await model.asked;
  const { events } = await followed(id, model);
  const cancelled = readUntil(events, ({ status }) => status === 'CANCELLED');
  const { data } = await tenant.graphql(`mutation { cancelEvaluation(id: "${id}") { status } }`);
  expect(data.cancelEvaluation.status).toMatch(/^(RUNNING|CANCELLED)$/);
  await cancelled;
  await events.return?.();
  await expect.poll(() => app.upstream.openResponses()).toBe(0);
  const sent = app.upstream.requests.length;
  // Another evaluation of the account begins after it, and only its requests arrive.
  app.upstream.script(({ say, end }) => {
    say('yes');
    end();
  });
  const next = await start(sourceWith('next'));
  await expect.poll(() => statusOf(next), { timeout: 60_000 }).toBe('COMPLETED');
  const later = app.upstream.requests.slice(sent).map(({ body }) => body.messages.at(-1)?.content);
  expect(later).toEqual(['next']);
  expect(await statusOf(id)).toBe('CANCELLED');
});

test('two evaluations of an account share its limit of four cases at once', async () => {
  let active = 0;
  let most = 0;
  const four = Promise.withResolvers<void>();
  const both = Promise.withResolvers<void>();
  app.upstream.script(async ({ say, end }) => {
    active += 1;
    most = Math.max(most, active);
    if (active === 4) four.resolve();
    await both.promise;
    active -= 1;
    say('yes');
    end();
  });
  const names = Array.from({ length: 6 }, (_, index) => `t${index}`);
  const first = await start(sourceWith(...names));
  const other = await tenant.bot('');
  const second = await start(sourceWith(...names), {}, other);
  await four.promise;
  expect([await statusOf(first), await statusOf(second)].sort()).toEqual(['QUEUED', 'RUNNING']);
  both.resolve();
  for (const id of [first, second])
    await expect.poll(() => statusOf(id), { timeout: 60_000 }).toBe('COMPLETED');
  expect(most).toBe(4);
});
