import type { KeyScope } from '../../../src/generated/prisma/client.ts';

/** The fields that want a scope, whichever way leads to them. */
export const GUARDED: Record<string, KeyScope> = {
  'Account.apiKeys': 'ADMIN',
  'Account.auditLog': 'ADMIN',
  'ApiKey.createdBy': 'ADMIN',
  'ApiKey.createdKeys': 'ADMIN',
  'Bot.runs': 'RUNS',
  'Bot.sessions': 'RUNS',
  'Bot.session': 'RUNS',
  'Bot.stats': 'RUNS',
  'Deployment.source': 'DEPLOY',
  'Run.deployment': 'RUNS',
  'Run.input': 'RUNS',
  'Run.response': 'RUNS',
  'Run.output': 'RUNS',
  'Run.error': 'RUNS',
  'Run.metadata': 'RUNS',
  'Run.trace': 'RUNS',
  'Server.model': 'OPERATOR',
  'Server.database': 'OPERATOR',
  'Server.redis': 'OPERATOR',
  'Server.allowedOrigins': 'OPERATOR',
  'KeyUsage.requests': 'RUNS',
  'KeyUsage.tokens': 'RUNS',
  'Session.messages': 'RUNS',
  'Session.memory': 'RUNS',
  'Usage.byBot': 'RUNS',
  'Usage.byKey': 'ADMIN',
  'Usage.tokensThisMonth': 'RUNS',
};

/** The nodes that want a scope where they are found by their id. */
export const GUARDED_NODES: Record<string, KeyScope> = {
  ApiKey: 'ADMIN',
  Run: 'RUNS',
  Session: 'RUNS',
};

/** The ways to a run that the operation itself has begun, which it may read whole. */
export const OWN_RUNS = ['Mutation.chat ChatReply.run', 'Mutation.execute'];

/** The fields that need no scope besides those of the way to their object. */
const OPEN: Record<string, string> = {
  Account: 'id name plan requestsPerMinute requestsPerDay bots createdAt suspendedAt',
  ApiKey: 'id name prefix scopes bots createdAt lastUsedAt expiresAt revokedAt',
  AuditEntry: 'id action keyId botId targetId createdAt',
  Bot: 'id name createdAt activeDeployment deployments',
  BotUsage: 'bot requests tokens',
  ChatReply: 'response output sessionId run runId latencyMs tokensUsed toolsCalled',
  CreateAccountPayload: 'account apiKey secret',
  CreateApiKeyPayload: 'apiKey secret',
  RotateApiKeyPayload: 'apiKey secret',
  CreateSessionTokenPayload: 'token expiresAt',
  Deployment:
    'id bot environment status message envNames channels diagnostics active createdAt deployedAt rolledBackTo',
  KeyUsage: 'apiKey',
  MemoryEntry: 'name value updatedAt',
  Message: 'id role text run createdAt',
  RateLimit: 'perMinute perDay limit remaining remainingMinute remainingDay resetAt',
  Run:
    'id bot environment kind status channel user sessionId model createdAt startedAt finishedAt latencyMs ' +
    'promptTokens completionTokens tokensUsed tokensEstimated toolsCalled',
  Server: 'version startedAt',
  Session: 'id sessionId environment lastSeenAt',
  Usage: 'requestsThisMinute requestsToday',
  Viewer: 'account apiKey rateLimit usage',
};

/** Types whose fields are all read together: parts of what holds them. */
export const PARTS = [
  ...['BotStats', 'DayStats', 'HourStats', 'DefinitionReport', 'Diagnostic', 'PageInfo'],
  ...['Dependency', 'RunError', 'Span', 'Trace'],
  ...['RunStarted', 'TextDelta', 'ToolStarted', 'ToolFinished'],
  ...['ChatDone', 'ChatFailed', 'ChatCancelled'],
];

export const OPEN_FIELDS = Object.entries(OPEN).flatMap(([type, fields]) =>
  fields.split(' ').map((field) => `${type}.${field}`),
);

/** What a session token may ask for, of its own session alone. */
export const TOKEN_FIELDS = [
  ...['Query.bot', 'Mutation.chat', 'Mutation.cancelRun'],
  ...['Subscription.chat', 'Subscription.runEvents'],
  'Bot.session',
  ...['id', 'sessionId', 'environment', 'lastSeenAt', 'messages'].map((name) => `Session.${name}`),
  ...['id', 'role', 'text', 'createdAt'].map((name) => `Message.${name}`),
  ...OPEN_FIELDS.filter((field) => field.startsWith('ChatReply.')),
  ...['id', 'environment', 'kind', 'status', 'channel', 'sessionId', 'createdAt', 'startedAt']
    .concat(['finishedAt', 'latencyMs', 'promptTokens', 'completionTokens', 'tokensUsed'])
    .concat(['tokensEstimated', 'toolsCalled', 'input', 'response', 'error'])
    .map((name) => `Run.${name}`),
];
