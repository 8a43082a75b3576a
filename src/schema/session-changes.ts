import { actorOf } from '../accounts/audit.ts';
import { assertOwnSession } from '../accounts/caller.ts';
import { factName, factValue, MAX_FACTS, sessionId } from '../text/input.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { builder } from './builder.ts';
import { SessionNode } from './session.ts';
import { EnvironmentEnum } from './shared.ts';

const sessionArguments = builder.args((t) => ({
  botId: t.id({ required: true, description: 'ID of the bot.' }),
  sessionId: t.string({
    required: true,
    description: 'Session ID, as the caller named the conversation.',
    validate: { schema: sessionId },
  }),
  environment: t.field({
    type: EnvironmentEnum,
    defaultValue: DEFAULT_ENVIRONMENT,
    description: 'Environment of the bot. Defaults to PRODUCTION.',
  }),
}));

builder.mutationField('setMemory', (t) =>
  t.field({
    type: SessionNode,
    description:
      'Stores or deletes a fact about the user of a session. Requires the scope CHAT; the messages and memory of the session require RUNS.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: {
      ...sessionArguments,
      name: t.arg.string({
        required: true,
        description:
          'Name of the fact: at most 64 letters, digits and "_". It does not start with a digit.',
        validate: { schema: factName },
      }),
      value: t.arg.string({
        description: `Value of the fact, 1 to 4,000 characters. Null deletes the fact. A user has at most ${MAX_FACTS} facts.`,
        validate: { schema: factValue },
      }),
    },
    resolve: (_root, { botId, sessionId, environment, name, value }, { sessions, caller }) =>
      sessions.setMemory(
        { botId, sessionId, environment: environment ?? DEFAULT_ENVIRONMENT },
        name,
        value ?? null,
        actorOf(caller()),
      ),
  }),
);

builder.mutationField('forgetSession', (t) =>
  t.boolean({
    description:
      'Deletes a conversation: its history, its memory, the text of its runs, and its session ID on them. A repeat of an earlier request with its idempotency key still gets the first run, without text. Returns true if the conversation existed. Requires the scope CHAT or a session token of this session. Error: SESSION_BUSY.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: sessionArguments,
    resolve: (_root, { botId, sessionId, environment }, context) => {
      const session = { botId, sessionId, environment: environment ?? DEFAULT_ENVIRONMENT };
      const own = context.session();
      if (own) assertOwnSession(own, session.sessionId, session.environment);
      return context.sessions.forget(session, context.signal, actorOf(context.caller()));
    },
  }),
);
