import { makeApiKey } from '../../../src/accounts/key-format.ts';
import { type BadRequest, json, OPERATIONS, WITHOUT_BOT } from './row.ts';

type Access = Omit<BadRequest, 'operation' | 'what'>;

/** Refusals that come before every other check, on every route. */
const REFUSALS: Record<string, Access> = {
  'no key': { key: null, code: 'missing_api_key' },
  'an unknown key': { key: 'unknown', code: 'invalid_api_key' },
  'an expired key': { key: 'expired', code: 'invalid_api_key' },
  'a revoked key': { key: 'revoked', code: 'invalid_api_key' },
};

/** Refusals on every route of a bot. */
const OF_BOT: Record<string, Access> = {
  'an unknown bot': { bot: 'none', code: 'bot_not_found' },
  "another account's bot": { bot: '{foreign}', code: 'bot_access_denied' },
  'a key for another bot': { key: 'restricted', code: 'bot_access_denied' },
};

/** A key without the required scope for each route that requires one. */
const WEAK: Record<string, string> = {
  chat: 'reader',
  streamChatByQuery: 'reader',
  streamChat: 'reader',
  execute: 'reader',
  listRuns: 'talker',
  readRun: 'talker',
  followRun: 'deployer',
  cancelRun: 'deployer',
  listApprovals: 'reader',
  readApproval: 'reader',
  decideApproval: 'reader',
  startEvaluation: 'talker',
  listEvaluations: 'talker',
  readEvaluation: 'talker',
  deploy: 'talker',
  rollback: 'talker',
  listModels: 'reader',
  retrieveModel: 'reader',
  createChatCompletion: 'reader',
  createResponse: 'reader',
  getResponse: 'deployer',
  deleteResponse: 'reader',
  cancelResponse: 'deployer',
};

/** The bots of models, in the body. */
const models = ['createChatCompletion', 'createResponse'].flatMap((operation): BadRequest[] => {
  const body = (model: string) => OPERATIONS[operation]?.replace('{bot}', model);
  return [
    { what: 'an unknown model', body: body('none'), code: 'model_not_found' },
    { what: "another account's bot", body: body('{foreign}'), code: 'bot_access_denied' },
    { what: 'a bot without a deployment', body: body('{undeployed}'), code: 'model_not_found' },
    { what: 'staging without one', body: body('{bot}:staging'), code: 'model_not_found' },
    {
      what: 'a key for another bot',
      key: 'restricted',
      body: body('{bot}'),
      code: 'bot_access_denied',
    },
    { what: 'a model that is SQL', body: body("' OR 1=1--"), code: 'model_not_found' },
    { what: 'a model that is a property', body: body('__proto__'), code: 'model_not_found' },
    {
      what: 'a model of U+0000',
      body: json({ ...JSON.parse(body('x') ?? ''), model: '\0' }),
      code: 'model_not_found',
    },
  ].map((row) => ({ operation, ...row }));
});

const everywhere = Object.keys(OPERATIONS).flatMap((operation) =>
  Object.entries({ ...REFUSALS, ...(!WITHOUT_BOT.includes(operation) && OF_BOT) }).map(
    ([what, refusal]) => ({ operation, what, ...refusal }),
  ),
);

const weak = Object.entries(WEAK).map(([operation, key]) => ({
  operation,
  what: 'a key without the scope',
  key,
  code: 'insufficient_scope',
}));

/** The order of the checks: an earlier error is never hidden by a later one. */
const order: BadRequest[] = [
  {
    what: 'no key, an unknown bot, an invalid body',
    bot: 'none',
    body: '{',
    key: null,
    code: 'missing_api_key',
  },
  { what: 'an unknown bot, an invalid body', bot: 'none', body: '{', code: 'bot_not_found' },
  {
    what: "another account's bot, an invalid body",
    bot: '{foreign}',
    body: '{',
    code: 'bot_access_denied',
  },
  {
    what: 'a key without the scope, an invalid body',
    key: 'reader',
    body: '{',
    code: 'insufficient_scope',
  },
  {
    what: 'a bot that is not deployed, an invalid body',
    bot: '{undeployed}',
    body: '{',
    code: 'invalid_json',
  },
].map((row) => ({ operation: 'chat', ...row }));

const keys: BadRequest[] = [
  { what: 'another scheme', key: 'Basic dXNlcjpwYXNz', code: 'missing_api_key' },
  { what: 'a scheme alone', key: 'Bearer', code: 'missing_api_key' },
  { what: 'two keys', key: `Bearer ${makeApiKey()} ${makeApiKey()}`, code: 'missing_api_key' },
  { what: 'a key without its scheme', key: makeApiKey(), code: 'missing_api_key' },
  { what: 'a key of another kind', key: 'Bearer sk-123', code: 'invalid_api_key' },
  { what: 'a mistyped key', key: 'mistyped', code: 'invalid_api_key' },
  {
    what: 'a key of ten thousand letters',
    key: `Bearer parley_sk_${'x'.repeat(10_000)}`,
    code: 'invalid_api_key',
  },
  { what: 'a key for no bot', key: 'none', code: 'bot_access_denied' },
].map((row) => ({ operation: 'chat', ...row }));

const bots: BadRequest[] = [
  ['an invalid bot id', 'a%20b%00'],
  ['an empty bot id', ''],
  ['a bot id of a thousand letters', 'x'.repeat(1_000)],
  ['a bot id that is a path', '..%2F..%2Fetc'],
  ['a bot id that is a property', '__proto__'],
  ['a bot id in another alphabet', '%D0%B1%D0%BE%D1%82'],
  ['a bot id of another kind of id', 'dep_01m7b2k5yqe8nva4t6r0w9xz3c'],
  ['a bot id that is SQL', "'%20OR%201=1--"],
].flatMap(([what = '', id]) =>
  ['chat', 'listRuns', 'listDeployments'].map((operation) => ({
    operation,
    what,
    bot: id,
    code: 'bot_not_found',
  })),
);

/** Routes that do not exist, with a key and without. */
const nowhere: BadRequest[] = [
  ['POST', '/v1/nothing'],
  ['POST', '/nothing'],
  ['GET', '/index.html'],
  ['GET', '/v1'],
  ['GET', '/v1/'],
  ['GET', '/v1/bots'],
  ['GET', '/v1/bots/{bot}'],
  ['GET', '/v2/bots/{bot}/runs'],
  ['GET', '/V1/bots/{bot}/runs'],
  ['POST', '/v1/bots/{bot}/chat/'],
  ['POST', '/v1//bots/{bot}/chat'],
  ['POST', '/v1/bots/{bot}/Chat'],
  ['POST', '/v1/bots/{bot}/chat/stream/more'],
  ['POST', '/v1/bots/{bot}/chat;a=b'],
  ['POST', '/v1/bots/{bot}/deployments/rollback'],
].flatMap(([method = '', path = '']) =>
  ['good', null].map((key) => ({
    what: `${method} ${path} ${key ? 'with a key' : 'without'}`,
    method,
    path,
    key,
    code: 'not_found',
  })),
);

const methods: BadRequest[] = [
  ['chat', ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']],
  ['streamChat', ['PUT', 'DELETE', 'OPTIONS', 'HEAD']],
  ['execute', ['GET', 'PUT', 'HEAD']],
  ['deploy', ['GET', 'PUT', 'PATCH', 'HEAD']],
  ['rollback', ['GET', 'DELETE', 'HEAD']],
  ['cancelRun', ['GET', 'DELETE', 'HEAD']],
  ['listRuns', ['POST', 'DELETE']],
  ['readRun', ['POST', 'PUT', 'DELETE']],
  ['followRun', ['POST']],
  ['listDeployments', ['POST', 'DELETE']],
  ['listModels', ['POST', 'DELETE']],
  ['retrieveModel', ['POST', 'DELETE']],
  ['createChatCompletion', ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']],
  ['createResponse', ['GET', 'PUT', 'HEAD']],
  ['getResponse', ['POST', 'PUT']],
  ['cancelResponse', ['GET', 'DELETE', 'HEAD']],
].flatMap(([operation, names]) =>
  [names ?? []].flat().map((method) => ({
    operation: String(operation),
    what: method,
    method,
    code: 'not_found',
  })),
);

export const access: BadRequest[] = [
  ...everywhere,
  ...weak,
  ...models,
  ...order,
  ...keys,
  ...bots,
  ...nowhere,
  ...methods,
];
