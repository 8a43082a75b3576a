import type { ApprovedCalls } from '../agent/approved-calls.ts';
import { type SentCall, UNKNOWN_OUTCOME } from '../agent/send-call.ts';
import type { ActiveDeployments } from '../deployments/active.ts';
import { GatewayError } from '../errors/errors.ts';
import type { StartChat } from '../execution/start-chat.ts';
import type { StartExecute } from '../execution/start-execute.ts';
import type { StartedRun } from '../execution/started-run.ts';
import type { Approval, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { readValues } from '../runs/tool-calls/ask.ts';
import { isJsonObject } from '../text/json.ts';
import { deploymentOf, isBoundTo } from './approvals.ts';
import { noticeOf } from './notice.ts';

/**
 * Does what follows a decision: sends an approved call once, and begins the run that tells the user. Safe to repeat.
 *
 * @returns the id of that run; null if there is none.
 * @throws an error if the work must be repeated.
 */
export type Settle = (id: string, signal: AbortSignal) => Promise<string | null>;

/**
 * Brings the reply of the run that tells the user to a channel whose users do not read it from the server, such as
 * Telegram. Called after the run, before the work is done. Safe to repeat.
 */
export type DeliverOutcome = (
  outcome: { approvalId: string; runId: string } & Pick<
    Approval,
    'botId' | 'environment' | 'channel' | 'sessionId'
  >,
) => Promise<void>;

const SETTLED = {
  include: {
    toolCall: { select: { status: true, result: true } },
    bot: { select: { accountId: true, account: { select: { plan: true } } } },
  },
} satisfies Prisma.ApprovalDefaultArgs;

type Settled = Prisma.ApprovalGetPayload<typeof SETTLED>;

export function createSettle({
  prisma,
  activeDeployments,
  approvedCalls,
  startChat,
  startExecute,
  deliverOutcome,
  keepsTexts,
}: {
  prisma: PrismaClient;
  activeDeployments: Pick<ActiveDeployments, 'loadAll'>;
  approvedCalls: ApprovedCalls;
  startChat: StartChat;
  startExecute: StartExecute;
  deliverOutcome: DeliverOutcome;
  /** Whether results of tool calls are stored. */
  keepsTexts: boolean;
}): Settle {
  const find = (id: string) => prisma.approval.findUnique({ where: { id }, ...SETTLED });

  /** Ends the record of the call. @returns the call as the notice shows it. */
  const finish = async (id: string, { status, result, httpStatus }: SentCall) => {
    await prisma.toolCall.updateMany({
      where: { id },
      data: {
        status,
        result: keepsTexts ? result : null,
        httpStatus: httpStatus ?? null,
        finishedAt: new Date(),
      },
    });
    return { status, result };
  };

  /** Sends the approved call. If an earlier attempt may have sent it, sends it again only if it is repeatable. */
  const send = async (approval: Settled, signal: AbortSignal): Promise<Settled['toolCall']> => {
    const { id, name } = approval;
    if (approval.toolCall.status !== 'WAITING' && approval.toolCall.status !== 'RUNNING')
      return approval.toolCall;
    const values = readValues(approval.values);
    const text = approval.editedArguments ?? approval.arguments ?? '{}';
    let ready: Awaited<ReturnType<ApprovedCalls['prepare']>>;
    try {
      const deployment = await deploymentOf(activeDeployments, approval);
      ready = await approvedCalls.prepare({ deployment, name, arguments: text, values }, signal);
      if (!isBoundTo(ready, approval)) throw new GatewayError('tool_gone', NOT_BOUND);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // An earlier attempt may have sent it.
      if (approval.toolCall.status === 'RUNNING') return finish(id, UNKNOWN);
      return finish(id, { status: 'FAILED', result: `Error: ${error.message}` });
    }
    const begun = await prisma.toolCall.updateMany({
      where: { id, status: 'WAITING' },
      data: {
        status: 'RUNNING',
        idempotencyKey: id,
        startedAt: new Date(),
        ...(ready.request && keepsTexts && { request: ready.request }),
      },
    });
    if (begun.count === 0 && !ready.isRepeatable) return finish(id, UNKNOWN);
    const sent = await ready.send(id);
    // The process ends. The record stays open, so that the next attempt sends the call again with its key.
    if (sent.isStopped && ready.isRepeatable) signal.throwIfAborted();
    return finish(id, sent);
  };

  /** Begins the run that tells the user, once. */
  const followUp = async (
    approval: Settled,
    toolCall: Settled['toolCall'],
    signal: AbortSignal,
  ): Promise<StartedRun | undefined> => {
    const { id, botId, environment, channel, keyId, runId, sessionId, background } = approval;
    const notice = noticeOf({ ...approval, toolCall });
    const run = await prisma.run.findUnique({ where: { id: runId }, select: ASKING });
    const request = {
      accountId: approval.bot.accountId,
      plan: approval.bot.account.plan,
      keyId,
      botId,
      environment,
      channel,
      entrance: run?.entrance ?? null,
      causedById: runId,
      onDisconnect: 'CONTINUE' as const,
      idempotencyKey: id,
      idempotencyNamespace: `approval:${botId}`,
      traceparent: undefined,
    };
    const context = isJsonObject(run?.context) ? run.context : undefined;
    if (sessionId !== null) {
      const message = { message: notice, sessionId, context, onBusy: 'ENQUEUE' as const };
      return startChat({ ...request, ...message }, signal);
    }
    if (!background || !run) return undefined;
    const prompt = `${run.input}\n\n${notice}`;
    const metadata = isJsonObject(run.metadata) ? run.metadata : undefined;
    const outputSchema = isJsonObject(run.outputSchema) ? run.outputSchema : undefined;
    const execution = { prompt, context, metadata, outputSchema, background: true };
    return startExecute({ ...request, ...execution }, signal);
  };

  return async (id, signal) => {
    const approval = await find(id);
    if (!approval) return null;
    const isApproved = approval.status === 'APPROVED';
    const toolCall = isApproved ? await send(approval, signal) : approval.toolCall;
    const run = await followUp(approval, toolCall, signal).catch((error) => {
      // Without a deployment, nothing can tell the user. The decision and the result stand at the call.
      if (error instanceof GatewayError && error.code === 'bot_not_deployed') return undefined;
      throw error;
    });
    if (!run) return null;
    if (approval.sessionId === null) return run.id;
    await ended(run, signal);
    await deliverOutcome({ ...approval, approvalId: id, runId: run.id });
    return run.id;
  };
}

const NOT_BOUND = 'The request is no longer the one that was approved, so it was not sent.';
const UNKNOWN: SentCall = { status: 'UNKNOWN', result: UNKNOWN_OUTCOME };
const ASKING = {
  input: true,
  context: true,
  metadata: true,
  outputSchema: true,
  entrance: true,
} as const;

/** Waits for the end of a run. @throws an error if the run was interrupted: a repeat begins another one. */
async function ended({ id, read }: StartedRun, signal: AbortSignal): Promise<void> {
  for await (const event of read(signal)) {
    if (event.type === 'ChatFailed' && event.code === 'interrupted')
      throw new Error(`The run ${id} was interrupted.`);
  }
  signal.throwIfAborted();
}
