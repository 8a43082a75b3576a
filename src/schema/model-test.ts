import type { ModelTest } from '../agent/model-tests.ts';
import type { MODEL_CHECK_STATUSES, MODEL_CHECKS, ModelCheck } from '../model/check/model-check.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { HIGHEST_PRICE } from './admission/points.ts';
import { builder } from './builder.ts';
import { EnvironmentEnum } from './shared.ts';

const ModelCheckName = builder.enumType('ModelCheckName', {
  description: 'What a test of a model checks.',
  values: {
    REACHABLE: { description: 'Whether a model server answers at the address.' },
    API_KEY: { description: 'Whether the server accepts the key.' },
    MODEL: { description: 'Whether the server knows the model.' },
    STREAMING: { description: 'Whether the answer arrives piece by piece.' },
    TOOLS: { description: 'Whether the model calls tools.' },
    JSON_OUTPUT: { description: 'Whether the model answers with JSON.' },
    USAGE: { description: 'Whether the server reports its tokens.' },
    PARAMETERS: { description: 'Whether the server accepts all settings of the requests.' },
  } satisfies Record<(typeof MODEL_CHECKS)[number], object>,
});

const ModelCheckStatus = builder.enumType('ModelCheckStatus', {
  description: 'Result of a check.',
  values: {
    PASSED: { description: 'It works.' },
    FAILED: { description: 'It does not work. `advice` says what to do.' },
    SKIPPED: { description: 'The failure of an earlier check made this one impossible.' },
  } satisfies Record<(typeof MODEL_CHECK_STATUSES)[number], object>,
});

const ModelCheckObject = builder.objectRef<ModelCheck>('ModelCheck').implement({
  description: 'One check of a test of a model.',
  fields: (t) => ({
    name: t.expose('name', { type: ModelCheckName, description: 'What is checked.' }),
    status: t.expose('status', { type: ModelCheckStatus, description: 'Result of the check.' }),
    message: t.exposeString('message', {
      description:
        'The result as a sentence. It may quote the model server, and never a key or the value of a variable.',
    }),
    advice: t.exposeString('advice', {
      nullable: true,
      description: 'What to do. Null if the check did not fail.',
    }),
  }),
});

const ModelTestObject = builder.objectRef<ModelTest>('ModelTest').implement({
  description: 'Result of a test of a model.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'Name of the model.' }),
    usable: t.exposeBoolean('isUsable', {
      description:
        'Whether bots can use the model. A failed check may mean that a feature is missing.',
    }),
    checks: t.field({
      type: [ModelCheckObject],
      description: 'All checks, in their order.',
      resolve: ({ checks }) => checks,
    }),
  }),
});

builder.mutationField('testModel', (t) =>
  t.field({
    type: ModelTestObject,
    description: `Asks a model two short questions, one with a tool and one for JSON, and says what works. It takes at most 20 seconds, and an account may run 10 tests a minute. Concurrent tests of a deployment share one. ${HIGHEST_PRICE} Requires the scope DEPLOY for a bot, and OPERATOR without one. Errors: BOT_NOT_DEPLOYED, RATE_LIMIT_EXCEEDED.`,
    authScopes: (_root, { botId }) =>
      botId == null ? { scope: 'OPERATOR' } : { bot: { id: botId, scope: 'DEPLOY' } },
    args: {
      botId: t.arg.id({
        description:
          'ID of the bot whose active deployment is tested, with its model, key and settings. Without it, the default model of the server is tested.',
      }),
      environment: t.arg({
        type: EnvironmentEnum,
        defaultValue: DEFAULT_ENVIRONMENT,
        required: true,
        description: 'Environment of the bot.',
      }),
    },
    resolve: (_root, { botId, environment }, { modelTests, caller, signal, botVersion }) => {
      const accountId = caller().account.id;
      if (botId == null) return modelTests.testDefault(accountId, signal);
      const bot = { botId, environment, version: botVersion(botId) };
      return modelTests.testBot(bot, accountId, signal);
    },
  }),
);
