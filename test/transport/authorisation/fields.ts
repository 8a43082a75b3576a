import type { KeyScope } from '../../../src/generated/prisma/client.ts';

/** The fields that require a scope, or one of several, on any path. */
export const GUARDED: Record<string, KeyScope | KeyScope[]> = {
  'Account.apiKeys': 'ADMIN',
  'Account.auditLog': 'ADMIN',
  'ApiKey.createdBy': 'ADMIN',
  'ApiKey.createdKeys': 'ADMIN',
  'Bot.approvals': 'APPROVE',
  'Bot.approvalsWaiting': 'APPROVE',
  'Bot.evaluations': 'DEPLOY',
  'Bot.gate': 'DEPLOY',
  'Bot.runCount': 'RUNS',
  'Bot.runs': 'RUNS',
  'Bot.sessions': 'RUNS',
  'Bot.session': 'RUNS',
  'Bot.stats': 'RUNS',
  'Deployment.source': 'DEPLOY',
  'Run.deployment': 'RUNS',
  'Run.context': 'RUNS',
  'Run.input': 'RUNS',
  'Run.inputExcerpt': 'RUNS',
  'Run.response': 'RUNS',
  'Run.responseExcerpt': 'RUNS',
  'Run.replyText': ['CHAT', 'RUNS'],
  'Run.output': 'RUNS',
  'Run.error': 'RUNS',
  'Run.failure': ['CHAT', 'RUNS'],
  'Run.failedToolCalls': 'RUNS',
  'Run.feedback': 'RUNS',
  'Run.prompt': 'RUNS',
  'Run.metadata': 'RUNS',
  'Run.toolCalls': 'RUNS',
  'Run.trace': 'RUNS',
  'RunError.detail': 'RUNS',
  'Server.model': 'OPERATOR',
  'Server.database': 'OPERATOR',
  'Server.redis': 'OPERATOR',
  'Server.checks': 'OPERATOR',
  'Server.allowedOrigins': 'OPERATOR',
  'KeyUsage.requests': 'RUNS',
  'KeyUsage.tokens': 'RUNS',
  'Session.activeRun': 'RUNS',
  'Session.lastRun': 'RUNS',
  'Session.messages': 'RUNS',
  'Session.memory': 'RUNS',
  'Usage.byBot': 'RUNS',
  'Usage.byKey': 'ADMIN',
  'Usage.tokensThisMonth': 'RUNS',
};

/** The types that require a scope when found by id as nodes. */
export const GUARDED_NODES: Record<string, KeyScope> = {
  ApiKey: 'ADMIN',
  Run: 'RUNS',
  Session: 'RUNS',
};

/** The paths to a run that the operation itself began. Its caller may read the whole run. */
export const OWN_RUNS = ['Mutation.chat ChatReply.run', 'Mutation.execute'];

/** The fields that require no scope beyond the scopes of the path to their object. */
const OPEN: Record<string, string> = {
  Account: 'id name plan requestsPerMinute requestsPerDay bots createdAt suspendedAt',
  ApiKey: 'id name prefix scopes bots createdAt lastUsedAt expiresAt revokedAt',
  Approval:
    'id bot name reason arguments editedArguments request inputSchema status note environment channel user session runId ' +
    'followUpRunId call decidedById createdAt expiresAt decidedAt',
  AuditEntry: 'id action keyId botId targetId createdAt',
  Bot: 'id name createdAt activeDeployment deployments chatPage tool webUrl logoUrl webOrigins visitorSessionsPerHour visitorMessagesPerMinute',
  ChatPage: 'name title accent welcome suggestions',
  BotTool: 'description outputSchema readOnly',
  BotUsage: 'bot requests tokens',
  ChatReply: 'response output sessionId run runId startedAt end latencyMs tokensUsed toolsCalled',
  CreateAccountPayload: 'account apiKey secret',
  CreateApiKeyPayload: 'apiKey secret',
  RotateApiKeyPayload: 'apiKey secret',
  CreateSessionTokenPayload: 'token expiresAt',
  CreateSignInCodePayload: 'code',
  Deployment:
    'id bot environment status version message envNames sentEnvNames channels channelStates diagnostics active waitsForGate evaluationId createdAt deployedAt endedAt keyId previous rolledBackTo',
  DeployedBot: 'botId environment createdAt owner',
  Evaluation:
    'id status verdict note environment sourceHash model judgeModel repeat cases passed failed diverged skipped promptTokens ' +
    'completionTokens createdAt startedAt finishedAt results',
  KeyUsage: 'apiKey',
  MemoryEntry: 'name value updatedAt',
  Message: 'id role text toolName run createdAt',
  ModelCheck: 'name status message advice',
  ModelTest: 'model usable checks',
  ServerCheck: 'name status message advice',
  RateLimit: 'perMinute perDay limit remaining remainingMinute remainingDay resetAt',
  Run:
    'id cursor bot environment kind status channel entrance user sessionId model createdAt startedAt finishedAt latencyMs ' +
    'promptTokens completionTokens tokensUsed tokensEstimated cachedTokens reasoningTokens finishReason deploymentId toolsCalled trigger causedById',
  RunError: 'code message',
  Server: 'version startedAt',
  Session: 'id sessionId environment turns createdAt lastSeenAt waitsForApproval',
  Usage: 'requestsThisMinute requestsToday',
  Viewer: 'account apiKey rateLimit usage',
};

/** Types whose fields are all read together, as parts of their object. */
export const PARTS = [
  ...['BotStats', 'DayStats', 'HourStats', 'DefinitionReport', 'Diagnostic', 'PageInfo'],
  ...['DeployCheck', 'Dependency', 'RunExportPart', 'Span', 'Trace'],
  ...['ChannelState', 'Feedback', 'RunPrompt', 'PromptPart'],
  ...['RunStarted', 'TextDelta', 'ToolStarted', 'ToolFinished'],
  ...['ToolCall', 'ToolRequest', 'EvaluationCase', 'EvaluationForecast'],
  ...['EvaluationAttempt', 'EvaluationTurn', 'EvaluationCall', 'EvaluationExpectation'],
  ...['EvaluationComparison', 'EvaluationCallChange', 'EvaluationRecord', 'EvaluationFeedback'],
  ...['Gate', 'GateReplay'],
  ...['ReplyEnd', 'ChatDone', 'ChatFailed', 'ChatCancelled'],
];

export const OPEN_FIELDS = Object.entries(OPEN).flatMap(([type, fields]) =>
  fields.split(' ').map((field) => `${type}.${field}`),
);

/** The fields that a session token may read, of its own session only. */
export const TOKEN_FIELDS = [
  ...['Query.bot', 'Mutation.chat', 'Mutation.cancelRun', 'Mutation.addFeedback'],
  ...['Subscription.chat', 'Subscription.runEvents', 'Subscription.sessionChanged'],
  'Bot.session',
  'Bot.chatPage',
  ...['name', 'title', 'accent', 'welcome', 'suggestions'].map((name) => `ChatPage.${name}`),
  ...[
    'id',
    'sessionId',
    'environment',
    'lastSeenAt',
    'messages',
    'activeRun',
    'waitsForApproval',
  ].map((name) => `Session.${name}`),
  ...['id', 'role', 'text', 'createdAt'].map((name) => `Message.${name}`),
  ...OPEN_FIELDS.filter((field) => field.startsWith('ChatReply.') && field !== 'ChatReply.end'),
  ...['id', 'environment', 'kind', 'status', 'channel', 'sessionId', 'createdAt', 'startedAt']
    .concat(['finishedAt', 'latencyMs', 'promptTokens', 'completionTokens', 'tokensUsed'])
    .concat(['tokensEstimated', 'toolsCalled', 'input', 'response', 'error'])
    .map((name) => `Run.${name}`),
  ...['code', 'message'].map((name) => `RunError.${name}`),
];
