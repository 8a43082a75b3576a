import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type MadeRun, makeRuns } from '../helpers/runs.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

/** Stores one run. @returns a function that tells whether a search finds it. */
const store = async (run: Partial<MadeRun>) => {
  const bot = await tenant.bot(null);
  const [made] = await makeRuns(app, bot, [run]);
  return async (text: string) => {
    const { data, errors } = await tenant.graphql(
      'query ($bot: ID!, $text: String!) { runs(botId: $bot, filter: { text: $text }) { edges { node { id } } } }',
      { bot, text },
    );
    expect(errors).toBeUndefined();
    const ids = data.runs.edges.map(({ node }: { node: { id: string } }) => node.id);
    return ids.includes(made?.id);
  };
};

describe('a search finds a run', () => {
  test.each([
    ['a word of the input', 'heron', true],
    ['a word of the reply', 'ponds', true],
    ['a word in other case', 'HERON', true],
    ['words of input and reply', 'ponds heron', true],
    ['a phrase', '"grey heron"', true],
    ['words that are not a phrase', '"heron grey"', false],
    ['one of two words', 'osprey or heron', true],
    ['an excluded word', 'heron -grey', false],
    ['the start of a word', 'her', false],
    ['the host of an address', 'birds.example', true],
    ['an unfinished quotation', 'where "grey heron', true],
    ['operators of other languages', "heron & ! ( ' \\ :*", true],
    ['the id of the bot', 'demo', false],
  ])('by %s', async (_what, text, found) => {
    const finds = await store({
      input: 'Where is the grey heron?',
      response: 'At the ponds, see https://birds.example/heron for more.',
    });
    expect(await finds(text)).toBe(found);
  });

  test.each([
    ['Chinese', '请问今天天气怎么样？', '天气', '气天'],
    ['Chinese in a phrase', '我住在北京，wo zhu', '"北京 wo"', '"wo 北京"'],
    ['Japanese', '東京タワーはどこですか', 'タワー', 'ワター'],
    ['Thai', 'สวัสดีครับ', 'สวัสดี', 'ดีสวัส'],
    ['Greek', 'Πού είναι η παραγγελία μου;', 'ΠΑΡΑΓΓΕΛΊΑ', 'παρ'],
  ])('by a word of %s', async (_script, input, word, other) => {
    const finds = await store({ input });
    expect(await finds(word)).toBe(true);
    expect(await finds(other)).toBe(false);
  });

  test('by its first 8,192 characters, however long it is', async () => {
    const long = `heron ${'天'.repeat(8_000)} gull ${'x '.repeat(500_000)} osprey`;
    const finds = await store({ input: long, response: long });
    expect(await finds('heron')).toBe(true);
    expect(await finds('gull')).toBe(true);
    expect(await finds('osprey')).toBe(false);
  });

  test('only after it has finished', async () => {
    const finds = await store({ input: 'heron', status: 'RUNNING' });
    expect(await finds('heron')).toBe(false);
    await app.prisma.run.updateMany({ where: { input: 'heron' }, data: { status: 'COMPLETED' } });
    expect(await finds('heron')).toBe(true);
  });
});

test('a common text with a rare field finds the newest runs of the field, page by page', async () => {
  const bot = await tenant.bot(null);
  const start = Date.now();
  const at = (index: number) => new Date(start - index * 1_000);
  // More runs of each kind than are read one by one, and the newest ones are all of the other kind.
  const made = await makeRuns(
    app,
    bot,
    Array.from({ length: 2_900 }, (_, index) => ({
      input: index % 7 === 0 ? 'heron' : 'heron osprey',
      kind: index < 2_200 ? ('CHAT' as const) : ('EXECUTE' as const),
      createdAt: at(index),
    })),
  );
  const expected = made
    .filter(({ kind, input }) => kind === 'EXECUTE' && input === 'heron osprey')
    .map(({ id }) => id);
  const page = (after: string | null) =>
    tenant.graphql(
      `query ($bot: ID!, $after: String) {
        runs(botId: $bot, filter: { kind: EXECUTE, text: "osprey" }, first: 100, after: $after) {
          edges { node { id } } pageInfo { hasNextPage endCursor }
        }
      }`,
      { bot, after },
    );
  const found: string[] = [];
  let after: string | null = null;
  do {
    const { data, errors } = await page(after);
    expect(errors).toBeUndefined();
    found.push(...data.runs.edges.map(({ node }: { node: { id: string } }) => node.id));
    after = data.runs.pageInfo.hasNextPage ? data.runs.pageInfo.endCursor : null;
  } while (after);
  expect(found).toEqual(expected);
});
