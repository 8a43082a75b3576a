import { z } from 'zod';
import { MAX_TOKEN_SECONDS } from '../accounts/session-tokens.ts';
import { sessionId } from '../input.ts';
import { isJsonObject, jsonObjectUpTo } from '../json.ts';
import { builder } from './builder.ts';
import { EnvironmentEnum } from './shared.ts';

const CreateSessionTokenInput = builder.inputType('CreateSessionTokenInput', {
  description: 'The one conversation that a browser is to take part in.',
  fields: (t) => ({
    botId: t.id({ required: true }),
    sessionId: t.string({
      required: true,
      description: 'Stable and unique for each end user, 1 to 256 visible characters.',
      validate: { schema: sessionId },
    }),
    environment: t.field({ type: EnvironmentEnum, description: 'PRODUCTION by default.' }),
    expiresIn: t.int({
      description: `Seconds that it holds: 1 to ${MAX_TOKEN_SECONDS}, which is the default.`,
      validate: {
        schema: z
          .int()
          .min(1, 'must be at least 1')
          .max(MAX_TOKEN_SECONDS, `must be at most ${MAX_TOKEN_SECONDS}`),
      },
    }),
    context: t.field({
      type: 'JSON',
      description:
        'The context of each message that the page sends: an object of at most 4 KiB, which the page can neither change nor read.',
      validate: { schema: jsonObjectUpTo(4) },
    }),
    allowContext: t.boolean({
      description:
        'Whether the page may send context of its own, too; what stands in this one wins. By default it is refused with INVALID_REQUEST.',
    }),
  }),
});

builder.mutationField('createSessionToken', (t) =>
  t.field({
    type: builder.simpleObject('CreateSessionTokenPayload', {
      description: 'A token that a page may have.',
      fields: (payload) => ({
        token: payload.string({
          description:
            'Sent in place of an API key, on GraphQL alone: to `chat`, to follow and stop what it began, and to read the messages of its session. It is encrypted.',
        }),
        expiresAt: payload.field({
          type: 'DateTime',
          description: 'When it stops working, unless the key that made it is revoked before.',
        }),
      }),
    }),
    description:
      'Makes a token for a page, which must never hold a key: for one session of one bot. What it does counts against the account. Scope CHAT.',
    authScopes: (_root, { input }) => ({ bot: { id: input.botId, scope: 'CHAT' } }),
    args: { input: t.arg({ type: CreateSessionTokenInput, required: true }) },
    resolve: (_root, { input }, { caller, sessionTokens }) => {
      const { botId, sessionId, environment, expiresIn, context, allowContext } = input;
      const session = {
        botId,
        sessionId,
        environment: environment ?? 'PRODUCTION',
        context: isJsonObject(context) ? context : undefined,
        allowContext: allowContext ?? undefined,
      };
      return sessionTokens.issue(caller(), session, expiresIn ?? MAX_TOKEN_SECONDS);
    },
  }),
);
