import { getRefFromModel, queryFromInfo } from '@pothos/plugin-prisma';
import { isOwnSession } from '../accounts/caller.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';

/** Loads the run that writes the current reply of each conversation. The index of users' runs finds it. */
const loadActiveRun = batchLoader(async (keys, query: object, { prisma }) => {
  const found = await prisma.$queryRaw<{ session: string; run: string }[]>`
    SELECT sessions.id AS session, active.id AS run
    FROM sessions CROSS JOIN LATERAL (
      SELECT id FROM runs
      WHERE bot_id = sessions.bot_id AND session_id = sessions.session_id AND kind IN ('CHAT', 'DRAFT')
        AND environment = sessions.environment AND channel = ANY(enum_range(NULL::"Channel")) AND status = 'RUNNING'
      ORDER BY created_at DESC, id DESC LIMIT 1) AS active
    WHERE sessions.id = ANY(${keys})`;
  const runs = await prisma.run.findMany({
    ...query,
    where: { id: { in: found.map(({ run }) => run) } },
  });
  const byId = new Map(runs.map((run) => [run.id, run]));
  const bySession = new Map(found.map(({ session, run }) => [session, byId.get(run)]));
  return (key) => bySession.get(key) ?? null;
});

builder.prismaObjectField('Session', 'activeRun', (t) =>
  t.field({
    type: getRefFromModel('Run', builder),
    nullable: true,
    description:
      'The run that writes the current reply. Null if there is none. `runEvents` follows it. Requires the scope RUNS or a session token of this session.',
    authScopes: (session, _args, context) =>
      isOwnSession(context.session(), session) || { scope: 'RUNS' },
    resolve: async (session, _args, context, info) => {
      const query = queryFromInfo({ context, info });
      const run = await loadActiveRun(session.id, query, context, info);
      // The page of a conversation may read the message that its run answers.
      if (run && isOwnSession(context.session(), session)) context.openRun(run.id);
      return run;
    },
  }),
);
