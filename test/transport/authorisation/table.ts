import type { KeyScope } from '../../../src/generated/prisma/client.ts';

/** The ids in the operations. All belong to one account, except `otherAccount`. */
export type Ids = {
  account: string;
  bot: string;
  run: string;
  key: string;
  /** A key that no operation revokes. */
  lastingKey: string;
  deployment: string;
  /** A denied tool call. */
  approval: string;
  /** An evaluation that has ended. */
  evaluation: string;
  /** Another account, for operations that an operator may not run on its own. */
  otherAccount: string;
};

/** The outcome of an operation: data, null, or an error's code. */
export type Outcome = 'OK' | 'NULL' | string;

export type Row = {
  /** The field with its arguments and selection. */
  operation: (ids: Ids) => string;
  /** Any one of these scopes is enough. Without it, every key is allowed. */
  scopes?: KeyScope[];
  /** The outcome for the key of another account with every scope except OPERATOR. */
  other: Outcome;
  /** The outcome for a key of the account that is restricted to another bot, with the same scopes. */
  restricted: Outcome;
  /** Whether a session token of the bot is allowed. */
  forTokens?: true;
  /** The routes of the same operation by name. */
  rest?: Record<string, Sent>;
};

/** A request to a route. */
export type Sent = {
  query?: string;
  body?: object | ((ids: Ids) => object);
  /** The scopes, if they are others. */
  scopes?: KeyScope[];
  /** The outcomes for other keys, if the bot is not in the path. */
  outcomes?: { other: Outcome; restricted: Outcome };
};

/** For operations with a bot's id. */
const DENIED = { other: 'BOT_ACCESS_DENIED', restricted: 'BOT_ACCESS_DENIED' };
const HIDDEN = { other: 'RUN_NOT_FOUND', restricted: 'RUN_NOT_FOUND' };
const NO_APPROVAL = { other: 'APPROVAL_NOT_FOUND', restricted: 'APPROVAL_NOT_FOUND' };
const NO_EVALUATION = { other: 'EVALUATION_NOT_FOUND', restricted: 'EVALUATION_NOT_FOUND' };
const OPEN = { other: 'OK', restricted: 'OK' };
const NO_MODEL = { other: 'MODEL_NOT_FOUND', restricted: 'MODEL_NOT_FOUND' };

/** A request to a route of OpenAI's API that starts a run. */
const completion =
  (more: object = {}) =>
  ({ bot }: Ids) => ({ model: bot, messages: [{ role: 'user', content: 'Hi' }], ...more });
const response =
  (more: object = {}) =>
  ({ bot }: Ids) => ({ model: bot, input: 'Hi', ...more });
const SESSION = { metadata: { session_id: 'user-3' } };
const OPERATOR = { other: 'INSUFFICIENT_SCOPE', restricted: 'INSUFFICIENT_SCOPE' };

/** Every root field of the schema. */
export const TABLE: Record<string, Row> = {
  'Query.viewer': { operation: () => 'viewer { account { id } }', ...OPEN },
  'Query.node': {
    operation: ({ bot }) => `node(id: "${bot}") { id }`,
    other: 'NULL',
    restricted: 'NULL',
  },
  'Query.nodes': {
    operation: ({ bot }) => `nodes(ids: ["${bot}"]) { id }`,
    other: 'NULL',
    restricted: 'NULL',
  },
  'Query.bot': {
    operation: ({ bot }) => `bot(id: "${bot}") { id }`,
    ...DENIED,
    rest: {
      listDeployments: {},
      listApprovals: { scopes: ['APPROVE'] },
      listEvaluations: { scopes: ['DEPLOY'] },
    },
  },
  'Query.evaluation': {
    operation: ({ evaluation }) => `evaluation(id: "${evaluation}") { id }`,
    scopes: ['DEPLOY'],
    ...NO_EVALUATION,
    rest: { readEvaluation: {} },
  },
  'Query.evaluationForecast': {
    operation: ({ bot, deployment }) =>
      `evaluationForecast(botId: "${bot}", input: { deploymentId: "${deployment}" }) { tests }`,
    scopes: ['DEPLOY'],
    ...DENIED,
  },
  'Mutation.startEvaluation': {
    operation: ({ bot, deployment }) =>
      `startEvaluation(botId: "${bot}", input: { deploymentId: "${deployment}" }) { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
    rest: { startEvaluation: { body: { agentlang: 'agentlang 5 agent "A" { prompt "p" }' } } },
  },
  'Mutation.cancelEvaluation': {
    operation: ({ evaluation }) => `cancelEvaluation(id: "${evaluation}") { id }`,
    scopes: ['DEPLOY'],
    ...NO_EVALUATION,
  },
  'Subscription.evaluationChanged': {
    operation: ({ bot, evaluation }) =>
      `evaluationChanged(botId: "${bot}", id: "${evaluation}") { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
  },
  'Query.approval': {
    operation: ({ approval }) => `approval(id: "${approval}") { id }`,
    scopes: ['APPROVE'],
    ...NO_APPROVAL,
    rest: { readApproval: {} },
  },
  'Query.approvalRequest': {
    operation: ({ approval }) => `approvalRequest(id: "${approval}", arguments: {}) { url }`,
    scopes: ['APPROVE'],
    ...NO_APPROVAL,
  },
  'Mutation.decideApproval': {
    operation: ({ approval }) => `decideApproval(id: "${approval}", decision: DENY) { id }`,
    scopes: ['APPROVE'],
    ...NO_APPROVAL,
    rest: { decideApproval: { body: { decision: 'deny' } } },
  },
  'Subscription.approvalChanged': {
    operation: ({ bot }) => `approvalChanged(botId: "${bot}") { id }`,
    scopes: ['APPROVE'],
    ...DENIED,
  },
  'Subscription.sessionChanged': {
    operation: ({ bot }) => `sessionChanged(botId: "${bot}", sessionId: "user-1") { id }`,
    scopes: ['RUNS'],
    ...DENIED,
    forTokens: true,
  },
  'Query.bots': { operation: () => 'bots { edges { cursor } }', ...OPEN },
  'Query.run': {
    operation: ({ run }) => `run(id: "${run}") { id }`,
    scopes: ['RUNS'],
    ...HIDDEN,
    rest: { readRun: {} },
  },
  'Query.followedRun': {
    operation: ({ run }) => `followedRun(id: "${run}") { id }`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    rest: { getResponse: { outcomes: HIDDEN } },
  },
  'Query.deployedBots': {
    operation: () => 'deployedBots { botId }',
    scopes: ['CHAT'],
    other: 'NULL',
    restricted: 'OK',
    rest: { listModels: { outcomes: OPEN } },
  },
  'Query.deployedBot': {
    operation: ({ bot }) => `deployedBot(botId: "${bot}") { botId }`,
    scopes: ['CHAT'],
    ...NO_MODEL,
    rest: { retrieveModel: { outcomes: NO_MODEL } },
  },
  'Query.runs': {
    operation: ({ bot }) => `runs(botId: "${bot}") { edges { cursor } }`,
    scopes: ['RUNS'],
    ...DENIED,
    rest: { listRuns: {} },
  },
  'Query.runEventsEnd': {
    operation: ({ run }) => `runEventsEnd(runId: "${run}")`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    rest: { followRun: {} },
  },
  'Query.accounts': {
    operation: () => 'accounts { edges { cursor } }',
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Query.server': { operation: () => 'server { version }', ...OPEN },
  'Query.checkDefinition': { operation: () => 'checkDefinition(source: "") { valid }', ...OPEN },
  'Mutation.createAccount': {
    operation: () => 'createAccount(input: { name: "A", plan: FREE }) { secret }',
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.updateAccount': {
    operation: ({ account }) => `updateAccount(id: "${account}", input: {}) { id }`,
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.suspendAccount': {
    operation: ({ otherAccount }) => `suspendAccount(id: "${otherAccount}") { id }`,
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.resumeAccount': {
    operation: ({ account }) => `resumeAccount(id: "${account}") { id }`,
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.deleteAccount': {
    operation: ({ otherAccount }) => `deleteAccount(id: "${otherAccount}")`,
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.createSessionToken': {
    operation: ({ bot }) =>
      `createSessionToken(input: { botId: "${bot}", sessionId: "u" }) { token }`,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Mutation.createSignInCode': {
    operation: () => 'createSignInCode { code }',
    other: 'OK',
    restricted: 'OK',
  },
  'Mutation.createBot': {
    operation: () => 'createBot(input: { name: "B" }) { id }',
    scopes: ['ADMIN'],
    other: 'OK',
    restricted: 'BOT_ACCESS_DENIED',
  },
  'Mutation.updateBot': {
    operation: ({ bot }) => `updateBot(id: "${bot}", input: {}) { id }`,
    scopes: ['ADMIN'],
    ...DENIED,
  },
  'Mutation.deleteBot': {
    operation: ({ bot }) => `deleteBot(id: "${bot}")`,
    scopes: ['ADMIN'],
    ...DENIED,
  },
  'Mutation.createApiKey': {
    operation: () => 'createApiKey(input: { name: "K", scopes: [RUNS] }) { secret }',
    scopes: ['ADMIN'],
    ...OPEN,
  },
  'Mutation.revokeApiKey': {
    operation: ({ key }) => `revokeApiKey(id: "${key}") { id }`,
    scopes: ['ADMIN'],
    other: 'NOT_FOUND',
    restricted: 'NOT_FOUND',
  },
  'Mutation.updateApiKey': {
    operation: ({ lastingKey }) => `updateApiKey(id: "${lastingKey}", input: { name: "K" }) { id }`,
    scopes: ['ADMIN'],
    other: 'NOT_FOUND',
    restricted: 'NOT_FOUND',
  },
  'Mutation.rotateApiKey': {
    operation: ({ lastingKey }) => `rotateApiKey(id: "${lastingKey}", overlapHours: 24) { secret }`,
    scopes: ['ADMIN'],
    other: 'NOT_FOUND',
    restricted: 'NOT_FOUND',
  },
  'Query.checkDeploy': {
    operation: ({ bot }) => `checkDeploy(botId: "${bot}", input: { source: "" }) { deployable }`,
    scopes: ['DEPLOY'],
    ...DENIED,
  },
  'Mutation.testModel': {
    operation: ({ bot }) => `testModel(botId: "${bot}") { usable }`,
    scopes: ['DEPLOY'],
    ...DENIED,
  },
  'Mutation.deploy': {
    operation: ({ bot }) => `deploy(botId: "${bot}", input: { source: "" }) { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
    rest: { deploy: { body: { agentlang: '' } } },
  },
  'Mutation.rollback': {
    operation: ({ bot, deployment }) =>
      `rollback(botId: "${bot}", deploymentId: "${deployment}") { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
    rest: { rollback: {} },
  },
  'Mutation.promote': {
    operation: ({ bot, deployment }) =>
      `promote(botId: "${bot}", deploymentId: "${deployment}") { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
  },
  'Mutation.chat': {
    operation: ({ bot }) => `chat(botId: "${bot}", input: { message: "Hi" }) { response }`,
    scopes: ['CHAT'],
    ...DENIED,
    forTokens: true,
    rest: {
      chat: { body: { message: 'Hi' } },
      createChatCompletion: { body: completion(SESSION) },
      createResponse: { body: response() },
    },
  },
  'Mutation.execute': {
    operation: ({ bot }) => `execute(botId: "${bot}", input: { prompt: "Hi" }) { id }`,
    scopes: ['CHAT'],
    ...DENIED,
    rest: {
      execute: { body: { prompt: 'Hi' } },
      createChatCompletion: { body: completion() },
      createResponse: { body: response({ store: false }) },
    },
  },
  'Mutation.cancelRun': {
    operation: ({ run }) => `cancelRun(id: "${run}") { id }`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    forTokens: true,
    rest: { cancelRun: {}, cancelResponse: { outcomes: HIDDEN } },
  },
  'Mutation.addFeedback': {
    operation: ({ run }) => `addFeedback(runId: "${run}", rating: UP) { rating }`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    forTokens: true,
  },
  'Mutation.removeFeedback': {
    operation: ({ run }) => `removeFeedback(runId: "${run}")`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    forTokens: true,
  },
  'Mutation.setMemory': {
    operation: ({ bot }) =>
      `setMemory(botId: "${bot}", sessionId: "user-1", name: "a", value: "b") { id }`,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Mutation.forgetSession': {
    operation: ({ bot }) => `forgetSession(botId: "${bot}", sessionId: "user-1")`,
    forTokens: true,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Mutation.deleteTurn': {
    operation: ({ run }) => `deleteTurn(id: "${run}")`,
    scopes: ['CHAT'],
    ...HIDDEN,
    rest: { deleteResponse: { outcomes: HIDDEN } },
  },
  'Subscription.chat': {
    operation: ({ bot }) => `chat(botId: "${bot}", input: { message: "Hi" }) { __typename }`,
    scopes: ['CHAT'],
    ...DENIED,
    forTokens: true,
    rest: {
      chat: { body: { message: 'Hi', stream: true } },
      streamChat: { body: { message: 'Hi' } },
      streamChatByQuery: { query: '?message=Hi' },
      createChatCompletion: { body: completion({ ...SESSION, stream: true }) },
      createResponse: { body: response({ stream: true }) },
    },
  },
  'Subscription.execute': {
    operation: ({ bot }) => `execute(botId: "${bot}", input: { prompt: "Hi" }) { __typename }`,
    scopes: ['CHAT'],
    ...DENIED,
    rest: {
      execute: { body: { prompt: 'Hi', stream: true } },
      createChatCompletion: { body: completion({ stream: true }) },
      createResponse: { body: response({ store: false, stream: true }) },
    },
  },
  'Subscription.runEvents': {
    operation: ({ run }) => `runEvents(runId: "${run}") { __typename }`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    forTokens: true,
    rest: { followRun: {}, getResponse: { query: '?stream=true', outcomes: HIDDEN } },
  },
  'Subscription.runChanged': {
    operation: ({ bot }) => `runChanged(botId: "${bot}") { id }`,
    scopes: ['RUNS'],
    ...DENIED,
  },
  'Subscription.runExport': {
    operation: ({ bot }) => `runExport(botId: "${bot}", format: CSV) { rows }`,
    scopes: ['RUNS'],
    ...DENIED,
  },
  'Subscription.deploymentChanged': {
    operation: ({ bot }) => `deploymentChanged(botId: "${bot}") { id }`,
    ...DENIED,
  },
};

const NO_TOKEN = 'INSUFFICIENT_SCOPE';

/** The outcomes for session tokens: of the session itself, and of another session, environment and bot. */
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
  { operation: (ids: Ids) => string; expected: Record<string, Outcome> }
> = {
  'the messages of a session': {
    operation: ({ bot }) =>
      `query { bot(id: "${bot}") { session(id: "user-1") { messages { edges { node { role text } } } } } }`,
    expected: { ...refused('OK'), inStaging: 'OK' },
  },
  'the memory of a session': {
    operation: ({ bot }) =>
      `query { bot(id: "${bot}") { session(id: "user-1") { memory { value } } } }`,
    expected: refused('INSUFFICIENT_SCOPE'),
  },
  'the runs of messages': {
    operation: ({ bot }) =>
      `query { bot(id: "${bot}") { session(id: "user-1") { messages { edges { node { run { id } } } } } } }`,
    expected: refused('INSUFFICIENT_SCOPE'),
  },
  'the session of the token': {
    operation: ({ bot }) =>
      `query { bot(id: "${bot}") { session { messages { edges { node { text } } } } } }`,
    expected: {
      own: 'OK',
      ofAnotherSession: 'OK',
      inStaging: 'OK',
      ofAnotherBot: 'BOT_ACCESS_DENIED',
    },
  },
  'the chat page of a bot': {
    operation: ({ bot }) => `query { bot(id: "${bot}") { chatPage { name } } }`,
    expected: {
      own: 'OK',
      ofAnotherSession: 'OK',
      inStaging: 'OK',
      ofAnotherBot: 'BOT_ACCESS_DENIED',
    },
  },
  'the settings of a chat page': {
    operation: ({ bot }) => `query { bot(id: "${bot}") { webOrigins } }`,
    expected: refused('INSUFFICIENT_SCOPE'),
  },
  'the events of a run': {
    operation: ({ run }) => `subscription { runEvents(runId: "${run}") { __typename } }`,
    expected: hidden,
  },
  'a run': {
    operation: ({ run }) => `query { run(id: "${run}") { response } }`,
    expected: refused('INSUFFICIENT_SCOPE'),
  },
};

/** The expected outcome for each credential. */
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

/** The same over REST, which accepts no session tokens, and most of whose paths contain the bot's id. */
export const expectedOverRest = (row: Row, { outcomes = DENIED }: Sent): Record<string, Outcome> =>
  Object.fromEntries(
    Object.entries({ ...expectedOf(row), ...outcomes }).map(([credential, outcome]) => [
      credential,
      /token/i.test(credential) ? 'INVALID_API_KEY' : outcome,
    ]),
  );
