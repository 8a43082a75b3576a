import { setTimeout } from 'node:timers/promises';
import { startPeriodic } from '../../async/periodic.ts';
import { isOwnerless, type Owner } from '../../coordination/worker-lease.ts';
import { type Environment, Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import type { TelegramBot } from './api.ts';
import { blockedRemark } from './blocked-chats.ts';
import type { TelegramConnector } from './connector.ts';
import { isTelegramError, TelegramError } from './error.ts';
import type { Receive } from './receive.ts';
import { CONFLICT, type Registration } from './registration.ts';
import type { TelegramUse } from './use.ts';

/** How often a process compares its polls with the deployments. */
const CHECK_EVERY_MS = 1_000;
/** How long one request waits for updates. */
const WAIT_S = 20;
const PAUSE_MS = 3_000;

type Polled = {
  deploymentId: string;
  botId: string;
  environment: Environment;
  externalId: string;
  externalName: string;
  problem: string | null;
};

/** Polls for the updates of deployments without a webhook. Of all processes, the one with the lease polls. */
export function startPoller({
  prisma,
  owner,
  use,
  registration,
  connector,
  receive,
  log,
}: {
  use: TelegramUse;
  prisma: PrismaClient;
  owner: Pick<Owner, 'id'>;
  registration: Pick<Registration, 'botOf'>;
  connector: Pick<TelegramConnector, 'revoked'>;
  receive: Receive;
  log: Log;
}): AsyncDisposable {
  /** The polls of this process, by deployment. */
  const polls = new Map<string, { abort: AbortController; ended: Promise<void> }>();

  /** Acquires the free leases. @returns the deployments that this process polls. */
  const lease = async () => {
    await prisma.$executeRaw`
      UPDATE channel_states SET poller_id = ${owner.id()}
      WHERE channel = 'TELEGRAM' AND status = 'CONNECTED' AND registered_url = ''
        AND ${Prisma.raw(isOwnerless('channel_states.poller_id'))}`;
    return prisma.$queryRaw<Polled[]>`
      SELECT deployment_id AS "deploymentId", bot_id AS "botId", environment,
        external_id AS "externalId", external_name AS "externalName", problem
      FROM channel_states
      WHERE channel = 'TELEGRAM' AND status = 'CONNECTED' AND registered_url = ''
        AND poller_id = ${owner.id()}`;
  };

  /** Sets or removes the remark on a deployment that this process still polls. */
  const remark = (deploymentId: string, problem: string | null) =>
    prisma.channelState.updateMany({
      where: { deploymentId, channel: 'TELEGRAM', pollerId: owner.id() },
      data: { problem },
    });

  /** @returns the offset of the next request. @throws Error if Telegram would answer it with the same updates. */
  const pollOnce = async (
    bot: TelegramBot,
    { botId, environment, externalId, externalName }: Polled,
    offset: number | undefined,
    signal: AbortSignal,
  ): Promise<number | undefined> => {
    const receiver = { botId, environment, id: externalId, name: externalName };
    const updates = await bot.getUpdates(offset, WAIT_S, signal);
    let next = offset;
    for (const update of updates) {
      const id = await receive(receiver, update);
      if (id !== undefined) next = Math.max(next ?? 0, id + 1);
    }
    if (updates.length > 0 && next === offset)
      throw new Error('No update of Telegram has a new and valid id.');
    return next;
  };

  const poll = async (polled: Polled, signal: AbortSignal) => {
    const { deploymentId, externalId } = polled;
    let hasConflict = polled.problem === CONFLICT;
    // Without an offset, Telegram repeats the updates that it has not seen acknowledged. The inbox has each once.
    let offset: number | undefined;
    while (!signal.aborted) {
      try {
        const bot = await registration.botOf(deploymentId);
        if (!bot) return;
        offset = await pollOnce(bot, polled, offset, signal);
        if (hasConflict) await remark(deploymentId, await blockedRemark(prisma, externalId));
        hasConflict = false;
      } catch (err) {
        if (signal.aborted) return;
        if (isTelegramError(err, 'unauthorized')) return connector.revoked(deploymentId);
        if (isTelegramError(err, 'conflict')) {
          hasConflict = true;
          await remark(deploymentId, CONFLICT);
        }
        const isExpected = err instanceof TelegramError;
        log.warn(
          { deployment: deploymentId, ...(isExpected ? { reason: err.message } : { err }) },
          'The poll for Telegram updates failed. It will be retried.',
        );
        const waitMs = isExpected ? (err.retryAfterS ?? 0) * 1_000 : 0;
        await setTimeout(Math.max(waitMs, PAUSE_MS), undefined, { signal, ref: false }).catch(
          () => {},
        );
      }
    }
  };

  const begin = (polled: Polled) => {
    const { deploymentId } = polled;
    const abort = new AbortController();
    const ended = poll(polled, abort.signal)
      .catch((err: unknown) => {
        log.error({ err, deployment: deploymentId }, 'A poll for Telegram updates ended.');
      })
      .finally(() => polls.delete(deploymentId));
    polls.set(deploymentId, { abort, ended });
  };

  const check = async () => {
    if (!(await use.isUsed())) return;
    const leased = await lease();
    const mine = new Set(leased.map(({ deploymentId }) => deploymentId));
    for (const [id, { abort }] of polls) if (!mine.has(id)) abort.abort();
    for (const polled of leased) if (!polls.has(polled.deploymentId)) begin(polled);
  };

  const checking = startPeriodic(check, {
    everyMs: CHECK_EVERY_MS,
    isImmediate: true,
    log,
    what: 'The lease of Telegram polls',
  });

  return {
    async [Symbol.asyncDispose]() {
      await checking[Symbol.asyncDispose]();
      for (const { abort } of polls.values()) abort.abort();
      await Promise.all([...polls.values()].map(({ ended }) => ended));
    },
  };
}
