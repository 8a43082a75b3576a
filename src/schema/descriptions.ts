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

/** What a name says wherever it stands, where the field or argument itself says nothing else. */
const EVERYWHERE: Record<string, string> = {
  after: 'Begins behind this cursor.',
  before: 'Ends before this cursor.',
  first:
    'So many from the beginning: 0 to 100, 20 by default. A page ends sooner, with hasNextPage true, where its texts pass 8 MiB.',
  last: 'So many from the end: 0 to 100. A page of long texts may hold fewer, as with first.',
  edges: 'The entries of this page, in order.',
  node: 'The entry itself.',
  cursor: 'Its place in the list, for `after` and `before`.',
  pageInfo: 'Where this page stands in the list.',
  id: 'Opaque, unique, and for good.',
  botId: 'The bot that is meant.',
  runId: 'The run that this is of.',
  callId: 'The same in ToolStarted and ToolFinished of one call.',
  sessionId: 'The name of the conversation that the caller gave it.',
  seq: 'Its place among the events of the run, from 1.',
  environment: 'Which of the bot’s running definitions; PRODUCTION by default.',
  filter: 'Which of them; all by default.',
  input: 'All that is asked for.',
  createdAt: 'When it was made.',
  updatedAt: 'When it was last set.',
  latencyMs: 'Milliseconds from taking the request to the end of the run.',
  tokensUsed: 'Of prompts and completions together.',
  toolsCalled: 'In call order, without repeats: <group>.<capability>.',
  bot: 'The bot that it belongs to.',
  message: 'In words, for people.',
  runs: 'How many runs there were.',
  failed: 'How many runs failed.',
};

/** What is said of one type, field, argument or enum value. */
const PRECISELY: Record<string, string> = {
  Node: 'Anything that has an id, by which `node` finds it again.',
  PageInfo: 'Where a page stands in its list.',
  'PageInfo.endCursor': 'The cursor of its last entry; null where it is empty.',
  'PageInfo.hasNextPage': 'Whether there are entries behind it.',
  'PageInfo.hasPreviousPage': 'Whether there are entries before it.',
  'PageInfo.startCursor': 'The cursor of its first entry; null where it is empty.',
  'Query.node.id': 'The id of anything.',
  'Query.nodes.ids': 'Ids of anything, at most 100.',
  'Query.bot.id': 'The bot’s id, as in the paths of the REST API.',
  'Query.run.id': 'The run’s id.',
  'Query.run.botId': 'The bot that the run must be of; any by default.',
  'Query.checkDefinition.source': 'In agentlang 5, at most 256 KiB.',
  'Mutation.cancelRun.id': 'The run’s id.',
  'Mutation.cancelRun.botId': 'The bot that the run must be of; any by default.',
  'Mutation.deleteBot.id': 'The bot’s id.',
  'Mutation.promote.deploymentId': 'A deployment of staging that was deployed.',
  'Mutation.revokeApiKey.id': 'The key’s id, not the key.',
  'Mutation.rollback.deploymentId': 'A deployment of the bot that was deployed.',
  'Mutation.setMemory.name': 'What the fact is called: at most 64 letters, digits and "_".',
  'Mutation.setMemory.value':
    'The fact: 1 to 4,000 characters; null forgets it. At most 100 facts are kept of a user.',
  'Subscription.runEvents.runId': 'The run that is followed.',
  'Subscription.runEvents.botId': 'The bot that the run must be of; any by default.',
  'Account.name': 'What people call it.',
  'Account.plan': 'What it pays for.',
  'ApiKey.name': 'What people call it.',
  'ApiKey.scopes': 'What it may do.',
  'ApiKey.expiresAt': 'When it stops working; null for a key that does not.',
  'ApiKey.revokedAt': 'When it was stopped for good; null while it works.',
  'Bot.id': 'The one in the paths of the REST API.',
  'Bot.name': 'What people call it.',
  'Bot.deployments.environment': 'Of this environment; of both by default.',
  'Bot.deployments.status': 'That ended so; all by default.',
  'Bot.session.id': 'The name that the caller gave the conversation.',
  'Bot.stats.from': 'Runs made at this moment or after it.',
  'Bot.stats.to': 'Runs made before this moment.',
  'Channel.API': 'The REST and GraphQL interfaces.',
  'Channel.TELEGRAM': 'A Telegram bot.',
  'Channel.WEB': 'The hosted chat page.',
  'ChatFailed.code': 'One of the codes of errors, in capitals.',
  'ChatReply.response': 'What the bot said.',
  'ChatReply.run': 'The run that made it.',
  'CreateAccountInput.name': '1 to 200 characters.',
  'CreateAccountInput.plan': 'What it pays for.',
  'CreateAccountInput.requestsPerDay': 'Requests in a UTC day, 1 at least.',
  'CreateAccountInput.requestsPerMinute': 'Requests in a UTC minute, 1 at least.',
  'CreateAccountPayload.account': 'The account.',
  'CreateAccountPayload.apiKey': 'Its first key.',
  'CreateApiKeyInput.name': '1 to 200 characters.',
  'CreateApiKeyPayload.apiKey': 'The key as it is listed.',
  CreateBotInput: 'A new bot, without a definition.',
  'CreateBotInput.name': '1 to 200 characters.',
  'DefinitionReport.channels': 'Where it would be reached.',
  'Deployment.environment': 'Where it was deployed to.',
  'Deployment.status': 'How the attempt ended.',
  'DeploymentStatus.DEPLOYED': 'It ran from then on.',
  'DeploymentStatus.FAILED': 'It changed nothing; its diagnostics say why.',
  'DeploymentStatus.PENDING': 'A channel has still to be connected.',
  'Diagnostic.severity': 'Whether it keeps the definition from being deployed.',
  'EnvVarInput.name': 'At most 128 letters, digits and "_", no digit first.',
  'Environment.PRODUCTION': 'What users talk to.',
  'Environment.STAGING': 'What is tried out before.',
  'ExecuteInput.prompt': 'What the bot is to do.',
  'MemoryEntry.name': 'What the fact is called.',
  'MemoryEntry.value': 'The fact.',
  'Message.text': 'What was said.',
  'OnDisconnect.CANCEL': 'It is stopped, and keeps what was said until then.',
  'OnDisconnect.CONTINUE': 'It goes on to its end, and is stored.',
  'Plan.BUSINESS':
    '300 requests a minute, 200,000 a day. At once: 200 active runs a process, 8 active and 10,000 waiting background runs.',
  'Plan.ENTERPRISE':
    'Its own numbers of requests. At once: 1,000 active runs a process, 16 active and 100,000 waiting background runs.',
  'Plan.FREE':
    '10 requests a minute, 1,000 a day. At once: 10 active runs a process, 1 active and 100 waiting background runs.',
  'Plan.PRO':
    '60 requests a minute, 20,000 a day. At once: 50 active runs a process, 4 active and 1,000 waiting background runs.',
  'RateLimit.remainingDay': 'Requests left in this UTC day.',
  'RateLimit.remainingMinute': 'Requests left in this UTC minute.',
  'Run.channel': 'Where the message came from.',
  'Run.completionTokens': 'Tokens that the model wrote.',
  'Run.environment': 'Which of the bot’s running definitions it ran on.',
  'Run.finishedAt': 'When it ended; null before.',
  'Run.kind': 'A turn of a conversation, or a prompt without one.',
  'Run.promptTokens': 'Tokens that the model read.',
  'Run.sessionId': 'The conversation that it is a turn of; null where it is of none.',
  'Run.startedAt': 'When work on it began; null before.',
  'Run.status': 'How far it is.',
  'RunFilter.deploymentId': 'On this deployment.',
  'RunFilter.environment': 'In this environment.',
  'RunFilter.kind': 'Of this kind.',
  'RunKind.CHAT': 'A turn of a conversation.',
  'RunKind.EXECUTE': 'A prompt by itself.',
  'RunStarted.sessionId': 'The conversation that it is a turn of; null where it is of none.',
  'RunStatus.CANCELLED': 'It was stopped, and keeps what was said until then.',
  'RunStatus.COMPLETED': 'It came to its end.',
  'RunStatus.FAILED': 'It ended with an error.',
  'RunStatus.QUEUED': 'Waiting for a worker.',
  'RunStatus.RUNNING': 'It is at work.',
  'Session.environment': 'The environment whose bot it is with.',
  'Session.lastSeenAt': 'When the user last said something.',
  'Severity.ERROR': 'The definition cannot be deployed.',
  'Severity.WARNING': 'It can be deployed, and may not do what was meant.',
  'Span.durationMs': 'Milliseconds, with fractions.',
  'Span.name': 'What was done, after OpenTelemetry’s conventions.',
  'Span.startedAt': 'When it began.',
  'TextDelta.delta': 'The fragment.',
  'ToolFinished.durationMs': 'Milliseconds that the call took.',
  'ToolFinished.failed': 'Whether it failed; the model is told why.',
  'ToolFinished.name': '<group>.<capability>',
  'Viewer.account': 'The account of this request, against which it counts.',
  'Viewer.rateLimit': 'What the account has, and what is left of it.',
};

type Described = Pick<
  GraphQLNamedType | GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLEnumValue,
  'description'
>;

/**
 * Says something of everything in the schema that does not speak for itself: what is the same everywhere stands
 * here once, so that it is also said the same.
 */
export function describeSchema(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    describe(type, PRECISELY[type.name] ?? ofList(type.name));
    if (isEnumType(type)) {
      for (const value of type.getValues())
        describe(value, PRECISELY[`${type.name}.${value.name}`]);
    }
    for (const field of fieldsOf(type)) {
      const path = `${type.name}.${field.name}`;
      describe(field, PRECISELY[path] ?? EVERYWHERE[field.name]);
      for (const argument of 'args' in field ? field.args : []) {
        const said = PRECISELY[`${path}.${argument.name}`] ?? EVERYWHERE[argument.name];
        describe(argument, said);
      }
    }
  }
  return schema;
}

function fieldsOf(type: GraphQLNamedType): (GraphQLField<unknown, unknown> | GraphQLInputField)[] {
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [];
  return Object.values(type.getFields());
}

/** Relay's own types, which are the same of all lists. */
function ofList(name: string): string | undefined {
  if (name.endsWith('Connection')) return 'A page of a list.';
  return name.endsWith('Edge') ? 'An entry of a list.' : undefined;
}

function describe(described: Described, text: string | undefined): void {
  described.description ||= text;
}
