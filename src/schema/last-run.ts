import { getRefFromModel, queryFromInfo } from '@pothos/plugin-prisma';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';

/**
 * Loads the newest run of each conversation. It reads the newest one of each kind, channel and status, which are ranges of
 * the index of users' runs, so that a conversation with many runs costs no more than one with few.
 */
const loadLastRun = batchLoader(async (keys, query: object, { prisma }) => {
  const found = await prisma.$queryRaw<{ session: string; run: string }[]>`
    SELECT DISTINCT ON (sessions.id) sessions.id AS session, newest.id AS run
    FROM sessions
      CROSS JOIN unnest(ARRAY['CHAT', 'DRAFT']::"RunKind"[]) AS kind
      CROSS JOIN unnest(enum_range(NULL::"Channel")) AS channel
      CROSS JOIN unnest(enum_range(NULL::"RunStatus")) AS status
      CROSS JOIN LATERAL (
        SELECT id, created_at FROM runs
        WHERE bot_id = sessions.bot_id AND session_id = sessions.session_id AND runs.kind = kind.kind
          AND environment = sessions.environment AND runs.channel = channel.channel AND runs.status = status.status
        ORDER BY created_at DESC, id DESC LIMIT 1) AS newest
    WHERE sessions.id = ANY(${keys})
    ORDER BY sessions.id, newest.created_at DESC, newest.id DESC`;
  const runs = await prisma.run.findMany({
    ...query,
    where: { id: { in: found.map(({ run }) => run) } },
  });
  const byId = new Map(runs.map((run) => [run.id, run]));
  const bySession = new Map(found.map(({ session, run }) => [session, byId.get(run)]));
  return (key) => bySession.get(key) ?? null;
});

builder.prismaObjectField('Session', 'lastRun', (t) =>
  t.field({
    type: getRefFromModel('Run', builder),
    nullable: true,
    description:
      'The newest run of the conversation, in any state. Null if no run is stored. Requires the scope RUNS.',
    authScopes: { scope: 'RUNS' },
    resolve: (session, _args, context, info) =>
      loadLastRun(session.id, queryFromInfo({ context, info }), context, info),
  }),
);
