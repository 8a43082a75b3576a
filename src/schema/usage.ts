import { getRefFromModel } from '@pothos/plugin-prisma';
import type { KeyLists } from '../accounts/key-lists.ts';
import type { Quota } from '../accounts/limits.ts';
import { lazy } from '../async/lazy.ts';
import type { ApiKey, Bot } from '../generated/prisma/client.ts';
import type { Consumption, Usage } from '../runs/stats/usage.ts';
import { MAX_INT } from '../storage/int.ts';
import { Viewer } from './account.ts';
import { HIGHEST_PRICE } from './admission/points.ts';
import { ApiKeyNode } from './api-key.ts';
import { builder } from './builder.ts';
import { spendEntries } from './selection.ts';

const tokensOf = ({ tokens }: Consumption) => Math.min(tokens, MAX_INT);
const REQUESTS = 'Number of chats and prompts since the start of the UTC month.';
const TOKENS =
  'Sum of prompt and completion tokens of runs and evaluations since the start of the UTC month, capped at 2,147,483,647.';

const BotUsage = builder.objectRef<Consumption & { bot: Bot }>('BotUsage').implement({
  description: 'Usage of a bot in the current UTC month.',
  fields: (t) => ({
    bot: t.expose('bot', { type: getRefFromModel('Bot', builder), description: 'The bot.' }),
    requests: t.exposeInt('requests', { description: REQUESTS }),
    tokens: t.int({ description: TOKENS, resolve: tokensOf }),
  }),
});

const KeyUsage = builder.objectRef<Consumption & { apiKey: ApiKey }>('KeyUsage').implement({
  description: 'Usage by an API key, and by its session tokens, in the current UTC month.',
  fields: (t) => ({
    apiKey: t.expose('apiKey', { type: ApiKeyNode, description: 'The API key.' }),
    requests: t.exposeInt('requests', {
      description: `${REQUESTS} Requires the scope RUNS.`,
      authScopes: { scope: 'RUNS' },
    }),
    tokens: t.int({
      description: `${TOKENS} Requires the scope RUNS.`,
      authScopes: { scope: 'RUNS' },
      resolve: tokensOf,
    }),
  }),
});

/** Each part is read once, when the first field needs it, however many aliases a document has. */
type UsageShape = {
  quota: Quota;
  readSums(): Promise<Usage>;
  readBots(): Promise<Map<string, Bot>>;
  readKeys(): ReturnType<KeyLists['listByIds']>;
};

const UsageObject = builder.objectRef<UsageShape>('Usage').implement({
  description:
    'Usage of an account. Months and days are in UTC. Deleted runs do not count: runs of deleted bots, and runs whose retention time has passed.',
  fields: (t) => ({
    requestsThisMinute: t.int({
      description: 'Requests that counted in the current minute, this operation included.',
      resolve: ({ quota }) => quota.inMinute,
    }),
    requestsToday: t.int({
      description: 'Requests that counted in the current day, this operation included.',
      resolve: ({ quota }) => quota.inDay,
    }),
    tokensThisMonth: t.int({
      description: `${TOKENS} Counts the bots that the API key may use. Requires the scope RUNS.`,
      authScopes: { scope: 'RUNS' },
      resolve: async ({ readSums }) => tokensOf((await readSums()).total),
    }),
    byBot: t.field({
      type: [BotUsage],
      description:
        'Usage by bot in the current month, largest first, without unused bots. Requires the scope RUNS.',
      authScopes: { scope: 'RUNS' },
      resolve: async ({ readSums, readBots }, _args, context, info) => {
        const { byBot } = await readSums();
        spendEntries(info, byBot.length, context);
        const bots = await readBots();
        return byBot.flatMap(({ botId, ...sums }) => {
          const bot = bots.get(botId);
          return bot ? [{ ...sums, bot }] : [];
        });
      },
    }),
    byKey: t.field({
      type: [KeyUsage],
      description:
        'Usage in the current month by API key, largest first, without unused keys and keys with more permissions than the caller’s. Requires the scope ADMIN.',
      authScopes: { scope: 'ADMIN' },
      resolve: async ({ readSums, readKeys }, _args, context, info) => {
        const { byKey } = await readSums();
        spendEntries(info, byKey.length, context);
        const keyOf = await readKeys();
        return byKey.flatMap(({ keyId, ...sums }) => {
          const apiKey = keyOf(keyId);
          return apiKey ? [{ ...sums, apiKey }] : [];
        });
      },
    }),
  }),
});

builder.objectField(Viewer, 'usage', (t) =>
  t.field({
    type: UsageObject,
    description: `Usage of the account. ${HIGHEST_PRICE}`,
    resolve: async (_viewer, _args, { caller, quota, runUsage, prisma, keys }) => {
      const readSums = lazy(() => runUsage.ofMonth(caller()));
      const readBots = lazy(async () => {
        const { byBot } = await readSums();
        const ids = byBot.map(({ botId }) => botId);
        const bots = await prisma.bot.findMany({ where: { id: { in: ids } } });
        return new Map(bots.map((bot) => [bot.id, bot]));
      });
      const readKeys = lazy(async () => {
        const { byKey } = await readSums();
        const ids = byKey.map(({ keyId }) => keyId);
        return keys.listByIds(caller(), ids);
      });
      return { quota: await quota(), readSums, readBots, readKeys };
    },
  }),
);
