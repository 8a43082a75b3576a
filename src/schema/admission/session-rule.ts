import { type DocumentNode, type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { GatewayError } from '../../errors.ts';

/**
 * All that a browser with a session token may ask for: to chat, its runs' events and end, and the messages of its session.
 * Of a run it sees what its user has said and was answered, and no way on from there to the bot.
 */
const OPEN = new Set([
  'Query.__schema',
  'Query.__type',
  'Mutation.chat',
  'Mutation.cancelRun',
  'Subscription.chat',
  'Subscription.runEvents',
  'Query.bot',
  'Bot.session',
  ...['id', 'sessionId', 'environment', 'lastSeenAt', 'messages'].map(
    (field) => `Session.${field}`,
  ),
  ...['id', 'role', 'text', 'createdAt'].map((field) => `Message.${field}`),
  ...['id', 'kind', 'status', 'channel', 'environment', 'sessionId', 'input', 'response', 'error']
    .concat(['createdAt', 'startedAt', 'finishedAt', 'latencyMs', 'toolsCalled'])
    .concat(['promptTokens', 'completionTokens', 'tokensUsed', 'tokensEstimated'])
    .map((field) => `Run.${field}`),
]);

/** Types of which all may be asked for: none leads out of the session. */
const OPEN_TYPES = new Set([
  ...['MessageConnection', 'MessageEdge', 'PageInfo'],
  ...['ChatReply', 'RunError', 'RunStarted', 'TextDelta', 'ToolStarted', 'ToolFinished'],
  ...['ChatDone', 'ChatFailed', 'ChatCancelled'],
]);

/**
 * Refuses, before any of it runs, a document that asks for more than a session token is for: whatever is not
 * named here is closed, so that a new field is too.
 *
 * @param document one that is valid.
 * @throws GatewayError `insufficient_scope`
 */
export function assertSessionMayAsk(schema: GraphQLSchema, document: DocumentNode): void {
  const typeInfo = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field({ name }) {
        const type = typeInfo.getParentType()?.name ?? '';
        if (name.value === '__typename' || type.startsWith('__')) return;
        if (OPEN_TYPES.has(type) || OPEN.has(`${type}.${name.value}`)) return;
        const message = `A session token is for one conversation alone: it has no access to ${type}.${name.value}.`;
        throw new GatewayError('insufficient_scope', message);
      },
    }),
  );
}
