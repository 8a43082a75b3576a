import { z } from 'zod';
import { MAX_TOKEN_SECONDS } from '../accounts/session-tokens.ts';
import type { Channel } from '../generated/prisma/client.ts';
import { sessionId } from '../text/input.ts';
import { isJsonObject, jsonObjectUpTo } from '../text/json.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { builder } from './builder.ts';
import { ChannelEnum, EnvironmentEnum } from './shared.ts';

const CreateSessionTokenInput = builder.inputType('CreateSessionTokenInput', {
  description: 'Parameters of a session token.',
  fields: (t) => ({
    botId: t.id({ required: true, description: 'ID of the bot.' }),
    sessionId: t.string({
      required: true,
      description:
        'Session ID, stable and unique for each end user, 1 to 256 visible characters. IDs with the prefixes `web:` and `telegram:` are reserved for sessions of channels.',
      validate: { schema: sessionId },
    }),
    environment: t.field({
      type: EnvironmentEnum,
      description: 'Environment of the bot. Defaults to PRODUCTION.',
    }),
    channel: t.field({
      type: ChannelEnum,
      description:
        'Channel of the token’s runs: WEB for the chat page and the widget. Defaults to API.',
      validate: {
        refine: [(channel: Channel) => channel !== 'TELEGRAM', { message: 'must be API or WEB' }],
      },
    }),
    expiresIn: t.int({
      description: `Lifetime in seconds, from 1 to ${MAX_TOKEN_SECONDS}. Defaults to ${MAX_TOKEN_SECONDS}.`,
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
        'Context for each message sent with the token: an object of at most 4 KiB. The page can neither read nor change it.',
      validate: { schema: jsonObjectUpTo(4) },
    }),
    allowContext: t.boolean({
      description:
        'Whether the page may send its own context. Keys of the token’s context take precedence. Defaults to false: such messages fail with INVALID_REQUEST.',
    }),
  }),
});

builder.mutationField('createSessionToken', (t) =>
  t.field({
    type: builder.simpleObject('CreateSessionTokenPayload', {
      description: 'A session token for a web page.',
      fields: (payload) => ({
        token: payload.string({
          description:
            'Encrypted token that replaces an API key, on the GraphQL API only. It can chat, follow, cancel and rate the runs of its session, read its messages, and delete the session.',
        }),
        expiresAt: payload.field({
          type: 'DateTime',
          description:
            'Time at which the token expires. Revoking the key that created it ends it earlier.',
        }),
      }),
    }),
    description:
      'Creates a token for one session of one bot, so that a web page needs no API key. Its requests count against the account. Requires the scope CHAT.',
    authScopes: (_root, { input }) => ({ bot: { id: input.botId, scope: 'CHAT' } }),
    args: {
      input: t.arg({
        type: CreateSessionTokenInput,
        required: true,
        description: 'Parameters of the token.',
      }),
    },
    resolve: async (_root, { input }, { caller, sessions, sessionTokens }) => {
      const { botId, sessionId, environment, expiresIn, context, allowContext, channel } = input;
      const session = {
        botId,
        sessionId,
        environment: environment ?? DEFAULT_ENVIRONMENT,
        context: isJsonObject(context) ? context : undefined,
        allowContext: allowContext ?? undefined,
        channel: channel ?? undefined,
      };
      await sessions.assertNotReserved(session, 'input.sessionId');
      return sessionTokens.issue(caller(), session, expiresIn ?? MAX_TOKEN_SECONDS);
    },
  }),
);
