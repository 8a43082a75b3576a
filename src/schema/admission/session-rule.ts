import { type DocumentNode, type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { GatewayError } from '../../errors/errors.ts';

/**
 * Fields that a session token may select: it can chat, follow, cancel and rate the runs of its session, read and follow
 * its messages, delete the session, and read the content of the chat page. The fields of a run do not lead to its bot or
 * deployment.
 */
const OPEN = new Set([
  'Query.__schema',
  'Query.__type',
  'Mutation.chat',
  'Mutation.cancelRun',
  'Mutation.addFeedback',
  'Mutation.removeFeedback',
  'Mutation.forgetSession',
  'Subscription.chat',
  'Subscription.runEvents',
  'Subscription.sessionChanged',
  'Query.bot',
  'Bot.session',
  'Bot.chatPage',
  ...[
    'id',
    'sessionId',
    'environment',
    'lastSeenAt',
    'messages',
    'activeRun',
    'waitsForApproval',
  ].map((field) => `Session.${field}`),
  ...['id', 'role', 'text', 'createdAt'].map((field) => `Message.${field}`),
  ...['id', 'kind', 'status', 'channel', 'environment', 'sessionId', 'input', 'response', 'error']
    .concat(['createdAt', 'startedAt', 'finishedAt', 'latencyMs', 'toolsCalled'])
    .concat(['promptTokens', 'completionTokens', 'tokensUsed', 'tokensEstimated'])
    .map((field) => `Run.${field}`),
  ...['code', 'message'].map((field) => `RunError.${field}`),
  ...['rating', 'note', 'createdAt', 'updatedAt'].map((field) => `Feedback.${field}`),
]);

/** Types with all fields allowed: none leads out of the session. */
const OPEN_TYPES = new Set([
  ...['MessageConnection', 'MessageEdge', 'PageInfo', 'ChatPage'],
  ...['ChatReply', 'RunStarted', 'TextDelta', 'ToolStarted', 'ToolFinished'],
  ...['ChatDone', 'ChatFailed', 'ChatCancelled'],
]);

/**
 * Rejects a document that selects a field which session tokens may not read, before it runs. Fields are denied by
 * default, so a new field is denied too.
 *
 * @param document a valid document.
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
        const message = `A session token gives access to one conversation only. It cannot access ${type}.${name.value}.`;
        throw new GatewayError('insufficient_scope', message);
      },
    }),
  );
}
