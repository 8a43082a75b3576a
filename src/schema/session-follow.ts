import { assertOwnSession } from '../accounts/caller.ts';
import { GatewayError } from '../errors/errors.ts';
import type { SessionRef } from '../sessions/history.ts';
import { sessionId } from '../text/input.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { SessionNode } from './session.ts';
import { EnvironmentEnum } from './shared.ts';

/** Yields a notice of each finished run of a conversation. */
async function* changesOf({ botId, environment, sessionId }: SessionRef, context: Context) {
  const { prisma, runChanges, signal } = context;
  for await (const notice of runChanges.follow(botId, signal)) {
    const select = { environment: true, sessionId: true, finishedAt: true } as const;
    const where = { id: notice.message };
    const run = await notice.once('run of a session', () =>
      prisma.run.findUnique({ where, select }),
    );
    if (run?.finishedAt && run.sessionId === sessionId && run.environment === environment)
      yield notice;
  }
}

builder.subscriptionField('sessionChanged', (t) =>
  t.prismaField({
    type: SessionNode,
    description:
      'Emits a conversation each time one of its runs finishes, so that its page shows messages that it did not request, such as the outcome of an approval. Events can repeat. Requires the scope RUNS or a session token of this session.',
    authScopes: (_root, { botId }, context) =>
      context.session()
        ? { bot: { id: botId, scope: 'CHAT' } }
        : { bot: { id: botId, scope: 'RUNS' } },
    args: {
      botId: t.arg.id({ required: true, description: 'ID of the bot.' }),
      sessionId: t.arg.string({
        required: true,
        description: 'Session ID, as the caller named the conversation.',
        validate: { schema: sessionId },
      }),
      environment: t.arg({
        type: EnvironmentEnum,
        description:
          'Environment of the bot. Defaults to the environment of the session token, or to PRODUCTION with an API key.',
      }),
    },
    subscribe: (_root, { botId, sessionId, environment: given }, context) => {
      const own = context.session();
      const environment = given ?? own?.environment ?? DEFAULT_ENVIRONMENT;
      if (own) assertOwnSession(own, sessionId, environment);
      return changesOf({ botId, sessionId, environment }, context);
    },
    resolve: async (query, _notice, { botId, sessionId, environment: given }, context) => {
      const environment = given ?? context.session()?.environment ?? DEFAULT_ENVIRONMENT;
      const where = { botId_environment_sessionId: { botId, environment, sessionId } };
      const session = await context.prisma.session.findUnique({ ...query, where });
      if (session) return session;
      throw new GatewayError('not_found', 'The conversation no longer exists.');
    },
  }),
);
