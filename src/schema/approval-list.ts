import { APPROVALS, type ApprovalFilter, findApprovals } from '../approvals/list.ts';
import { type Environment, Prisma } from '../generated/prisma/client.ts';
import { MAX_WAITING } from '../runs/tool-calls/ask.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { hasValue } from '../storage/lists.ts';
import { ApprovalObject, ApprovalStatusEnum } from './approval.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';
import { EnvironmentEnum } from './shared.ts';

const loadApprovals = connectionLoader({
  type: 'Approval',
  order: APPROVALS,
  select: { id: true },
  find: ({ prisma }, botIds, page, filter: PageArguments & ApprovalFilter) =>
    findApprovals(prisma, botIds, filter, page),
  read: ({ prisma }, query) => prisma.approval.findMany(query),
});

type CountQuestion = { environment: Environment | null };

/** Counts the waiting calls of bots. @param environment null: in both. */
const loadWaiting = batchLoader(async (botIds, { environment }: CountQuestion, { prisma }) => {
  const conditions = [
    Prisma.sql`bot_id = bot AND status = 'WAITING' AND expires_at > now()`,
    ...hasValue('environment', 'Environment', environment),
  ];
  const rows = await prisma.$queryRaw<{ id: string; count: number }[]>`
    SELECT bot AS id, (SELECT count(*)::int FROM (
      SELECT 1 FROM approvals WHERE ${Prisma.join(conditions, ' AND ')} LIMIT ${MAX_WAITING}::int
    ) AS waiting) AS count FROM unnest(${botIds}::text[]) AS bot`;
  const counts = new Map(rows.map(({ id, count }) => [id, count]));
  return (id) => counts.get(id) ?? 0;
});

builder.prismaObjectFields('Bot', (t) => ({
  approvals: t.connection(
    {
      type: ApprovalObject,
      description:
        'Tool calls of the bot that wait for a person or that a person has decided, newest first. Requires the scope APPROVE.',
      authScopes: { scope: 'APPROVE' },
      args: {
        environment: t.arg({
          type: EnvironmentEnum,
          description:
            'Returns only approvals of runs in this environment. Defaults to both environments.',
        }),
        status: t.arg({
          type: ApprovalStatusEnum,
          description: 'Returns only approvals in this state. Defaults to every state.',
        }),
      },
      resolve: ({ id }, args, context, info) => loadApprovals(id, args, context, info),
    },
    { name: 'ApprovalConnection' },
    { name: 'ApprovalEdge' },
  ),
  approvalsWaiting: t.int({
    description: `Number of tool calls that wait for a person, at most ${MAX_WAITING}. Requires the scope APPROVE.`,
    authScopes: { scope: 'APPROVE' },
    args: {
      environment: t.arg({
        type: EnvironmentEnum,
        description:
          'Counts only calls of runs in this environment. Defaults to both environments.',
      }),
    },
    resolve: ({ id }, { environment }, context, info) =>
      loadWaiting(id, { environment: environment ?? null }, context, info),
  }),
}));
