import type { KeyScope } from '../../../src/generated/prisma/client.ts';

/** What the operations speak of: all of one account. */
export type Ids = {
  account: string;
  bot: string;
  run: string;
  key: string;
  /** A key that no operation revokes. */
  lastingKey: string;
  deployment: string;
  /** Another account, for what an operator may not do to its own. */
  otherAccount: string;
};

/** What comes of an operation: data, nothing at all in its place, or an error's code. */
export type Outcome = 'OK' | 'NULL' | string;

export type Row = {
  /** The field with its arguments and what is asked of it. */
  ask: (ids: Ids) => string;
  /** The scopes of which any will do; none: any key may ask. */
  scopes?: KeyScope[];
  /** For the key of another account, with every scope but OPERATOR. */
  other: Outcome;
  /** For a key of the account that is limited to another bot, with the same scopes. */
  restricted: Outcome;
  /** Whether a session token of the bot may ask. */
  forTokens?: true;
  /** The routes that ask the same, by their names, each with what it is sent. */
  rest?: Record<string, { query?: string; body?: object }>;
};

/** Where a bot is named. */
const DENIED = { other: 'BOT_ACCESS_DENIED', restricted: 'BOT_ACCESS_DENIED' };
const HIDDEN = { other: 'RUN_NOT_FOUND', restricted: 'RUN_NOT_FOUND' };
const OPEN = { other: 'OK', restricted: 'OK' };
const OPERATOR = { other: 'INSUFFICIENT_SCOPE', restricted: 'INSUFFICIENT_SCOPE' };

/** Every root field of the schema. */
export const TABLE: Record<string, Row> = {
  'Query.viewer': { ask: () => 'viewer { account { id } }', ...OPEN },
  'Query.node': {
    ask: ({ bot }) => `node(id: "${bot}") { id }`,
    other: 'NULL',
    restricted: 'NULL',
  },
  'Query.nodes': {
    ask: ({ bot }) => `nodes(ids: ["${bot}"]) { id }`,
    other: 'NULL',
    restricted: 'NULL',
  },
  'Query.bot': {
    ask: ({ bot }) => `bot(id: "${bot}") { id }`,
    ...DENIED,
    rest: { listDeployments: {} },
  },
  'Query.bots': { ask: () => 'bots { edges { cursor } }', ...OPEN },
  'Query.run': {
    ask: ({ run }) => `run(id: "${run}") { id }`,
    scopes: ['RUNS'],
    ...HIDDEN,
    rest: { readRun: {} },
  },
  'Query.runs': {
    ask: ({ bot }) => `runs(botId: "${bot}") { edges { cursor } }`,
    scopes: ['RUNS'],
    ...DENIED,
    rest: { listRuns: {} },
  },
  'Query.accounts': {
    ask: () => 'accounts { edges { cursor } }',
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Query.server': { ask: () => 'server { version }', ...OPEN },
  'Query.checkDefinition': { ask: () => 'checkDefinition(source: "") { valid }', ...OPEN },
  'Mutation.createAccount': {
    ask: () => 'createAccount(input: { name: "A", plan: FREE }) { secret }',
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.updateAccount': {
    ask: ({ account }) => `updateAccount(id: "${account}", input: {}) { id }`,
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.suspendAccount': {
    ask: ({ otherAccount }) => `suspendAccount(id: "${otherAccount}") { id }`,
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.resumeAccount': {
    ask: ({ account }) => `resumeAccount(id: "${account}") { id }`,
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.deleteAccount': {
    ask: ({ otherAccount }) => `deleteAccount(id: "${otherAccount}")`,
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.createSessionToken': {
    ask: ({ bot }) => `createSessionToken(input: { botId: "${bot}", sessionId: "u" }) { token }`,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Mutation.createBot': {
    ask: () => 'createBot(input: { name: "B" }) { id }',
    scopes: ['ADMIN'],
    other: 'OK',
    restricted: 'BOT_ACCESS_DENIED',
  },
  'Mutation.updateBot': {
    ask: ({ bot }) => `updateBot(id: "${bot}", input: {}) { id }`,
    scopes: ['ADMIN'],
    ...DENIED,
  },
  'Mutation.deleteBot': {
    ask: ({ bot }) => `deleteBot(id: "${bot}")`,
    scopes: ['ADMIN'],
    ...DENIED,
  },
  'Mutation.createApiKey': {
    ask: () => 'createApiKey(input: { name: "K", scopes: [RUNS] }) { secret }',
    scopes: ['ADMIN'],
    ...OPEN,
  },
  'Mutation.revokeApiKey': {
    ask: ({ key }) => `revokeApiKey(id: "${key}") { id }`,
    scopes: ['ADMIN'],
    other: 'NOT_FOUND',
    restricted: 'NOT_FOUND',
  },
  'Mutation.updateApiKey': {
    ask: ({ lastingKey }) => `updateApiKey(id: "${lastingKey}", input: { name: "K" }) { id }`,
    scopes: ['ADMIN'],
    other: 'NOT_FOUND',
    restricted: 'NOT_FOUND',
  },
  'Mutation.rotateApiKey': {
    ask: ({ lastingKey }) => `rotateApiKey(id: "${lastingKey}", overlapHours: 24) { secret }`,
    scopes: ['ADMIN'],
    other: 'NOT_FOUND',
    restricted: 'NOT_FOUND',
  },
  'Mutation.deploy': {
    ask: ({ bot }) => `deploy(botId: "${bot}", input: { source: "" }) { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
    rest: { deploy: { body: { agentlang: '' } } },
  },
  'Mutation.rollback': {
    ask: ({ bot, deployment }) => `rollback(botId: "${bot}", deploymentId: "${deployment}") { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
    rest: { rollback: {} },
  },
  'Mutation.promote': {
    ask: ({ bot, deployment }) => `promote(botId: "${bot}", deploymentId: "${deployment}") { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
  },
  'Mutation.chat': {
    ask: ({ bot }) => `chat(botId: "${bot}", input: { message: "Hi" }) { response }`,
    scopes: ['CHAT'],
    ...DENIED,
    forTokens: true,
    rest: { chat: { body: { message: 'Hi' } } },
  },
  'Mutation.execute': {
    ask: ({ bot }) => `execute(botId: "${bot}", input: { prompt: "Hi" }) { id }`,
    scopes: ['CHAT'],
    ...DENIED,
    rest: { execute: { body: { prompt: 'Hi' } } },
  },
  'Mutation.cancelRun': {
    ask: ({ run }) => `cancelRun(id: "${run}") { id }`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    forTokens: true,
    rest: { cancelRun: {} },
  },
  'Mutation.setMemory': {
    ask: ({ bot }) =>
      `setMemory(botId: "${bot}", sessionId: "user-1", name: "a", value: "b") { id }`,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Mutation.forgetSession': {
    ask: ({ bot }) => `forgetSession(botId: "${bot}", sessionId: "u")`,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Subscription.chat': {
    ask: ({ bot }) => `chat(botId: "${bot}", input: { message: "Hi" }) { __typename }`,
    scopes: ['CHAT'],
    ...DENIED,
    forTokens: true,
    rest: {
      chat: { body: { message: 'Hi', stream: true } },
      streamChat: { body: { message: 'Hi' } },
      streamChatByQuery: { query: '?message=Hi' },
    },
  },
  'Subscription.execute': {
    ask: ({ bot }) => `execute(botId: "${bot}", input: { prompt: "Hi" }) { __typename }`,
    scopes: ['CHAT'],
    ...DENIED,
    rest: { execute: { body: { prompt: 'Hi', stream: true } } },
  },
  'Subscription.runEvents': {
    ask: ({ run }) => `runEvents(runId: "${run}") { __typename }`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    forTokens: true,
    rest: { followRun: {} },
  },
  'Subscription.runChanged': {
    ask: ({ bot }) => `runChanged(botId: "${bot}") { id }`,
    scopes: ['RUNS'],
    ...DENIED,
  },
  'Subscription.deploymentChanged': {
    ask: ({ bot }) => `deploymentChanged(botId: "${bot}") { id }`,
    ...DENIED,
  },
};

const NO_TOKEN = 'INSUFFICIENT_SCOPE';

/** What a session token meets: of its own session, and tokens of another session, environment and bot. */
const refused = (own: Outcome) => ({
  own,
  ofAnotherSession: 'INSUFFICIENT_SCOPE',
  inStaging: 'INSUFFICIENT_SCOPE',
  ofAnotherBot: own === 'OK' ? 'BOT_ACCESS_DENIED' : 'INSUFFICIENT_SCOPE',
});
const hidden = {
  own: 'OK',
  ofAnotherSession: 'RUN_NOT_FOUND',
  inStaging: 'RUN_NOT_FOUND',
  ofAnotherBot: 'RUN_NOT_FOUND',
};

/** What session tokens read below a root field. */
export const TOKEN_TABLE: Record<
  string,
  { ask: (ids: Ids) => string; expected: Record<string, Outcome> }
> = {
  'the messages of a session': {
    ask: ({ bot }) =>
      `query { bot(id: "${bot}") { session(id: "user-1") { messages { edges { node { role text } } } } } }`,
    expected: refused('OK'),
  },
  'the memory of a session': {
    ask: ({ bot }) => `query { bot(id: "${bot}") { session(id: "user-1") { memory { value } } } }`,
    expected: refused('INSUFFICIENT_SCOPE'),
  },
  'the runs of messages': {
    ask: ({ bot }) =>
      `query { bot(id: "${bot}") { session(id: "user-1") { messages { edges { node { run { id } } } } } } }`,
    expected: refused('INSUFFICIENT_SCOPE'),
  },
  'the events of a run': {
    ask: ({ run }) => `subscription { runEvents(runId: "${run}") { __typename } }`,
    expected: hidden,
  },
  'a run': {
    ask: ({ run }) => `query { run(id: "${run}") { response } }`,
    expected: refused('INSUFFICIENT_SCOPE'),
  },
};

/** What each credential is to meet. */
export const expectedOf = ({
  other,
  restricted,
  scopes,
  forTokens,
}: Row): Record<string, Outcome> => ({
  none: 'MISSING_API_KEY',
  other,
  restricted,
  ...(scopes && { lacking: 'INSUFFICIENT_SCOPE' }),
  revoked: 'INVALID_API_KEY',
  expired: 'INVALID_API_KEY',
  token: forTokens ? 'OK' : NO_TOKEN,
  tokenOfAnotherBot: forTokens ? restricted : NO_TOKEN,
  tokenOfRevokedKey: 'INVALID_API_KEY',
  expiredToken: 'INVALID_API_KEY',
});

/** The same over REST, which takes no tokens, and whose paths name the bot. */
export const expectedOverRest = (row: Row): Record<string, Outcome> =>
  Object.fromEntries(
    Object.entries({ ...expectedOf(row), ...DENIED }).map(([credential, outcome]) => [
      credential,
      /token/i.test(credential) ? 'INVALID_API_KEY' : outcome,
    ]),
  );
