import {
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

/** Descriptions of fields and arguments that mean the same in every type. A description of their own wins. */
const SHARED: Record<string, string> = {
  after: 'Returns the entries after this cursor.',
  before: 'Returns the entries before this cursor.',
  first:
    'Number of entries from the start of the list, from 0 to 100. Defaults to 20. A page holds fewer entries, with `hasNextPage` true, when their texts exceed 8 MiB.',
  last: 'Number of entries from the end of the list, from 0 to 100. A page holds fewer entries when their texts exceed 8 MiB.',
  edges: 'The entries of this page, in order.',
  node: 'The entry.',
  cursor: 'Position of the entry in the list, for `after` and `before`.',
  pageInfo: 'Position of this page in the list.',
  id: 'Unique identifier. Opaque; it never changes.',
  botId: 'ID of the bot.',
  runId: 'ID of the run.',
  callId: 'Identifies the tool call. Its ToolStarted and ToolFinished events carry the same value.',
  sessionId: 'Session ID, as the caller named the conversation.',
  seq: 'Position of the event in the run, starting at 1.',
  environment: 'Environment of the bot. Defaults to PRODUCTION.',
  filter: 'Conditions that each entry must match. Defaults to all entries.',
  input: 'Parameters of the operation.',
  createdAt: 'Time of creation.',
  updatedAt: 'Time of the last change.',
  latencyMs: 'Time from the request to the end of the run, in milliseconds.',
  tokensUsed: 'Sum of prompt and completion tokens.',
  toolsCalled:
    'Names of the tools called, as `<group>.<capability>`, in call order without repeats.',
  bot: 'The bot that this object belongs to.',
  message: 'Human-readable explanation.',
  runs: 'Number of runs.',
  failed: 'Number of failed runs.',
};

/** Descriptions of one type, field, argument or enum value, by its path. */
const BY_PATH: Record<string, string> = {
  Node: 'An object with a globally unique ID. `node` retrieves it by that ID.',
  PageInfo: 'Position of a page in its list.',
  'PageInfo.endCursor': 'Cursor of the last entry on the page. Null if the page is empty.',
  'PageInfo.hasNextPage': 'Whether entries follow this page.',
  'PageInfo.hasPreviousPage': 'Whether entries precede this page.',
  'PageInfo.startCursor': 'Cursor of the first entry on the page. Null if the page is empty.',
  'Query.node.id': 'ID of the object.',
  'Query.nodes.ids': 'IDs of the objects, at most 100.',
  'Query.bot.id': 'ID of the bot, as in the paths of the REST API.',
  'Query.run.id': 'ID of the run.',
  'Query.run.botId': 'ID of the bot that the run must belong to. Defaults to any bot.',
  'Query.checkDefinition.source': 'Source of the definition in agentlang 5, at most 256 KiB.',
  'Mutation.cancelRun.id': 'ID of the run.',
  'Mutation.cancelRun.botId': 'ID of the bot that the run must belong to. Defaults to any bot.',
  'Mutation.deleteBot.id': 'ID of the bot.',
  'Mutation.promote.deploymentId': 'ID of a deployment to STAGING whose status is DEPLOYED.',
  'Mutation.revokeApiKey.id': 'ID of the key, not its secret.',
  'Mutation.rollback.deploymentId': 'ID of a deployment of the bot whose status is DEPLOYED.',
  'Mutation.setMemory.name': 'Name of the fact: at most 64 letters, digits and "_".',
  'Mutation.setMemory.value':
    'Value of the fact, 1 to 4,000 characters. Null deletes the fact. A user has at most 100 facts.',
  'Subscription.runEvents.runId': 'ID of the run.',
  'Subscription.runEvents.botId': 'ID of the bot that the run must belong to. Defaults to any bot.',
  'Account.name': 'Display name of the account.',
  'Account.plan': 'Plan of the account.',
  'ApiKey.name': 'Display name of the key.',
  'ApiKey.scopes': 'Scopes that the key grants.',
  'ApiKey.expiresAt': 'Time at which the key expires. Null if it does not expire.',
  'ApiKey.revokedAt': 'Time at which the key was revoked. Null if it was not revoked.',
  'Bot.id': 'Unique identifier, as in the paths of the REST API.',
  'Bot.name': 'Display name of the bot.',
  'Bot.deployments.environment':
    'Returns only deployments to this environment. Defaults to both environments.',
  'Bot.deployments.status': 'Returns only deployments with this status. Defaults to every status.',
  'Bot.session.id': 'Session ID, as the caller named the conversation.',
  'Bot.stats.from': 'Counts runs created at or after this time.',
  'Bot.stats.to': 'Counts runs created before this time.',
  'Channel.API': 'The REST and GraphQL APIs.',
  'Channel.TELEGRAM': 'A Telegram bot.',
  'Channel.WEB': 'The hosted chat page.',
  'ChatFailed.code': 'Error code, in upper case.',
  'ChatReply.response': 'Text of the reply.',
  'ChatReply.run': 'The run that produced the reply.',
  'CreateAccountInput.name': 'Display name of the account, 1 to 200 characters.',
  'CreateAccountInput.plan': 'Plan of the account.',
  'CreateAccountInput.requestsPerDay': 'Maximum requests per UTC day, at least 1.',
  'CreateAccountInput.requestsPerMinute': 'Maximum requests per UTC minute, at least 1.',
  'CreateAccountPayload.account': 'The new account.',
  'CreateAccountPayload.apiKey': 'The first key of the account.',
  'CreateApiKeyInput.name': 'Display name of the key, 1 to 200 characters.',
  'CreateApiKeyPayload.apiKey': 'The new key, without its secret.',
  CreateBotInput: 'Parameters of a new bot. A new bot has no definition.',
  'CreateBotInput.name': 'Display name of the bot, 1 to 200 characters.',
  'DefinitionReport.channels': 'Channels that the definition declares.',
  'Deployment.environment': 'Environment that the deployment targets.',
  'Deployment.status': 'Status of the deployment.',
  'DeploymentStatus.DEPLOYED': 'The deployment succeeded.',
  'DeploymentStatus.FAILED':
    'The deployment failed and changed nothing. Its diagnostics explain why.',
  'DeploymentStatus.PENDING': 'A channel is still being connected.',
  'Diagnostic.severity': 'Whether the diagnostic prevents deployment.',
  'EnvVarInput.name':
    'Name of the variable: at most 128 letters, digits and "_". It does not start with a digit.',
  'Environment.PRODUCTION': 'The environment for end users.',
  'Environment.STAGING': 'The environment for tests.',
  'ExecuteInput.prompt': 'The prompt for the bot.',
  'MemoryEntry.name': 'Name of the fact.',
  'MemoryEntry.value': 'Value of the fact.',
  'Message.text': 'Text of the message.',
  'OnDisconnect.CANCEL': 'Cancels the run. The run keeps the text generated so far.',
  'OnDisconnect.CONTINUE': 'The run continues without a subscriber and is stored.',
  'Plan.BUSINESS':
    '300 requests a minute and 200,000 a day. Allows 200 active runs a process, 8 active background runs and 10,000 queued background runs.',
  'Plan.ENTERPRISE':
    'Request limits set per account. Allows 1,000 active runs a process, 16 active background runs and 100,000 queued background runs.',
  'Plan.FREE':
    '10 requests a minute and 1,000 a day. Allows 10 active runs a process, 1 active background run and 100 queued background runs.',
  'Plan.PRO':
    '60 requests a minute and 20,000 a day. Allows 50 active runs a process, 4 active background runs and 1,000 queued background runs.',
  'RateLimit.remainingDay': 'Requests left in the current UTC day.',
  'RateLimit.remainingMinute': 'Requests left in the current UTC minute.',
  'Run.channel': 'Channel through which the run was requested.',
  'Run.completionTokens': 'Number of tokens that the model generated.',
  'Run.environment': 'Environment in which the run was requested.',
  'Run.finishedAt': 'Time at which the run finished. Null until then.',
  'Run.kind': 'Whether the run is a turn of a conversation or a single prompt.',
  'Run.promptTokens': 'Number of tokens in the prompts sent to the model.',
  'Run.sessionId': 'Session ID of the conversation. Null for a run outside any conversation.',
  'Run.startedAt': 'Time at which a worker started the run. Null until then.',
  'Run.status': 'Status of the run.',
  'RunFilter.deploymentId': 'Returns only runs of this deployment.',
  'RunFilter.environment': 'Returns only runs in this environment.',
  'RunFilter.kind': 'Returns only runs of this kind.',
  'RunKind.CHAT': 'A turn of a conversation.',
  'RunKind.EXECUTE': 'A single prompt outside any conversation.',
  'RunStarted.sessionId':
    'Session ID of the conversation. Null for a run outside any conversation.',
  'RunStatus.CANCELLED': 'The run was cancelled. It keeps the text generated so far.',
  'RunStatus.COMPLETED': 'The run finished successfully.',
  'RunStatus.FAILED': 'The run finished with an error.',
  'RunStatus.QUEUED': 'Waiting for a worker.',
  'RunStatus.RUNNING': 'A worker is executing the run.',
  'Session.environment': 'Environment of the conversation.',
  'Session.lastSeenAt': 'Time of the last message from the user.',
  'Severity.ERROR': 'Prevents deployment.',
  'Severity.WARNING': 'Does not prevent deployment, but points to a probable mistake.',
  'Span.durationMs': 'Duration in milliseconds, with fractions.',
  'Span.name': 'Name of the operation, following OpenTelemetry conventions.',
  'Span.startedAt': 'Time at which the span started.',
  'TextDelta.delta': 'The fragment of text.',
  'ToolFinished.durationMs': 'Duration of the call in milliseconds.',
  'ToolFinished.failed': 'Whether the call failed. The model receives the reason.',
  'ToolFinished.name': 'Name of the tool, as `<group>.<capability>`.',
  'Viewer.account': 'The account that the request counts against.',
  'Viewer.rateLimit': 'Request limits of the account and what is left of them.',
};

type Described = Pick<
  GraphQLNamedType | GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLEnumValue,
  'description'
>;

/** Adds a description to each type, field, argument and enum value that declares none of its own. */
export function describeSchema(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    describe(type, BY_PATH[type.name] ?? ofList(type.name));
    if (isEnumType(type)) {
      for (const value of type.getValues()) describe(value, BY_PATH[`${type.name}.${value.name}`]);
    }
    for (const field of fieldsOf(type)) {
      const path = `${type.name}.${field.name}`;
      describe(field, BY_PATH[path] ?? SHARED[field.name]);
      for (const argument of 'args' in field ? field.args : []) {
        const text = BY_PATH[`${path}.${argument.name}`] ?? SHARED[argument.name];
        describe(argument, text);
      }
    }
  }
  return schema;
}

function fieldsOf(type: GraphQLNamedType): (GraphQLField<unknown, unknown> | GraphQLInputField)[] {
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [];
  return Object.values(type.getFields());
}

/** Connections and edges are the same for every list. */
function ofList(name: string): string | undefined {
  if (name.endsWith('Connection')) return 'A page of a list.';
  return name.endsWith('Edge') ? 'An entry of a list.' : undefined;
}

function describe(described: Described, text: string | undefined): void {
  described.description ||= text;
}
