import type { ApprovedCalls } from '../agent/approved-calls.ts';
import type { Lifetime } from '../async/lifetime.ts';
import { type Looks, wakeWhile } from '../coordination/looks.ts';
import { createNotices } from '../coordination/notices.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { ActiveDeployments } from '../deployments/active.ts';
import type { StartChat } from '../execution/start-chat.ts';
import type { StartExecute } from '../execution/start-execute.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import { TOOL_CALL_DAYS } from '../runs/life/retention.ts';
import type { Changes } from '../runs/record/changes.ts';
import { WORK_CHANNEL } from '../runs/tool-calls/ask.ts';
import { type Approvals, createApprovals } from './approvals.ts';
import { createSettle, type DeliverOutcome } from './settle.ts';
import { createWork, IS_APPROVAL_DUE } from './work.ts';
import { startWorker } from './worker.ts';

/** The composed domain of approvals. */
export type ApprovalsDomain = { approvals: Approvals };

type Parts = {
  prisma: PrismaClient;
  owner: Owner;
  looks: Looks;
  pubsub: PubSub;
  activeDeployments: ActiveDeployments;
  approvedCalls: ApprovedCalls;
  startChat: StartChat;
  startExecute: StartExecute;
  deliverOutcome: DeliverOutcome;
  runChanges: Pick<Changes, 'notify'>;
  /** Days that the texts of tool calls are stored; 0: not at all. */
  toolCallDays?: number | undefined;
  log: Log;
  lifetime: Lifetime;
};

export function createApprovalsDomain({
  prisma,
  owner,
  looks,
  pubsub,
  activeDeployments,
  approvedCalls,
  startChat,
  startExecute,
  deliverOutcome,
  runChanges,
  toolCallDays = TOOL_CALL_DAYS,
  log,
  lifetime,
}: Parts): ApprovalsDomain {
  const approvals = createApprovals({
    prisma,
    pubsub,
    followNotices: createNotices(pubsub),
    activeDeployments,
    approvedCalls,
  });
  const settle = createSettle({
    prisma,
    activeDeployments,
    approvedCalls,
    startChat,
    startExecute,
    deliverOutcome,
    keepsTexts: toolCallDays > 0,
  });
  const work = createWork({ prisma, owner });
  lifetime.onStart(() =>
    startWorker({ work, settle, approvals, notifyRun: runChanges.notify, pubsub, log }),
  );
  const due = { what: 'The work after decisions', condition: IS_APPROVAL_DUE };
  looks.add(wakeWhile({ ...due, pubsub, channel: WORK_CHANNEL }));
  return { approvals };
}
