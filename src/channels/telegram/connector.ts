import { startDeadline, untilAborted } from '../../async/deadline.ts';
import { startPeriodic } from '../../async/periodic.ts';
import type { ChannelConnections } from '../../deployments/channels.ts';
import { type ChannelState, Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import { databaseTime, STORED_NOW } from '../../storage/moment.ts';
import type { ChannelStates } from '../states.ts';
import { claimTelegram, replaceTelegram } from './claims.ts';
import { ATTEMPT_MS, createConnectionAttempts } from './connection-attempts.ts';
import { REVOKED, type Registration } from './registration.ts';
import type { TelegramUse } from './use.ts';

/** Connects deployments to Telegram, and releases them. */
export type TelegramConnector = ChannelConnections & {
  /** Takes the channel away after Telegram has rejected the token. */
  revoked(deploymentId: string): Promise<void>;
  /** Removes the webhooks of a bot that is being deleted. Takes at most 2 seconds, and does not reject. */
  release(botId: string): Promise<void>;
  /** Continues the work of processes that died, and connects anew after a change of the public URL. */
  start(): AsyncDisposable;
};

const RELEASE_MS = 2_000;
/** The most attempts of one process at a time, besides the attempts of deploys. */
const SLOTS = 20;
const POLL_EVERY_MS = 1_000;

const DELETED = 'The bot is being deleted.';

/**
 * @param registeredUrl the public URL for webhooks; empty: updates are polled.
 * @param waitMs how long a deploy waits for Telegram.
 * @param pendingMs how long after a deployment its last attempt to connect ends.
 */
export function createTelegramConnector({
  prisma,
  registration,
  states,
  use,
  registeredUrl,
  waitMs,
  pendingMs,
  log,
}: {
  prisma: PrismaClient;
  use: TelegramUse;
  registration: Registration;
  states: ChannelStates;
  registeredUrl: string;
  waitMs: number;
  pendingMs: number;
  log: Log;
}): TelegramConnector {
  const closed = new AbortController();
  const connecting = { prisma, registration, states, registeredUrl, pendingMs };
  const { attempt, giveUp, leave } = createConnectionAttempts(connecting);
  const refOf = (deploymentId: string) => ({ deploymentId, channel: 'TELEGRAM' as const });

  /** Takes a deployment that needs work, for one attempt. */
  const take = async (which: Prisma.Sql): Promise<ChannelState | undefined> => {
    const [taken] = await prisma.$queryRaw<{ id: string }[]>`
      UPDATE channel_states SET attempts = attempts + 1,
        available_at = now() + ${ATTEMPT_MS} * interval '1 millisecond'
      WHERE channel = 'TELEGRAM' AND deployment_id = (
        SELECT deployment_id FROM channel_states
        WHERE channel = 'TELEGRAM' AND ${which}
          AND (status = 'PENDING' OR leaving OR (status = 'CONNECTED' AND registered_url IS NULL))
        ORDER BY available_at LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING deployment_id AS id`;
    const where = taken && { deploymentId_channel: refOf(taken.id) };
    return (where && (await prisma.channelState.findUnique({ where }))) ?? undefined;
  };

  const active = new Set<Promise<void>>();

  /** Makes attempts, first for this deployment, until none is due. */
  const fillSlot = async (first: ChannelState) => {
    let state: ChannelState | undefined = first;
    while (state && !closed.signal.aborted) {
      await attempt(state, closed.signal);
      state = await take(Prisma.sql`available_at <= ${STORED_NOW}`);
    }
  };

  const work = async (signal: AbortSignal) => {
    if (!(await use.isUsed())) return;
    // Needs no slot, so that no deployment is pending for longer while Telegram answers none.
    const isLate = Prisma.sql`status = 'PENDING'
      AND created_at <= now() - ${pendingMs} * interval '1 millisecond'`;
    for (;;) {
      const late = await take(Prisma.sql`available_at <= ${STORED_NOW} AND ${isLate}`);
      if (!late) break;
      await giveUp(late);
    }
    while (active.size < SLOTS && !signal.aborted) {
      const state = await take(Prisma.sql`available_at <= ${STORED_NOW}`);
      if (!state) return;
      const filled = fillSlot(state)
        .catch((err: unknown) => {
          if (!closed.signal.aborted)
            log.error({ err }, 'The connection of a channel failed. It will be retried.');
        })
        .finally(() => active.delete(filled));
      active.add(filled);
    }
  };

  /**
   * Registers deployments anew that a process with another public URL registered. This process makes the first attempt,
   * because processes with the former URL may still run.
   */
  const adoptUrl = async () => {
    const now = await databaseTime(prisma);
    const states = await prisma.channelState.updateManyAndReturn({
      where: { channel: 'TELEGRAM', status: 'CONNECTED', NOT: { registeredUrl } },
      data: {
        registeredUrl: null,
        pollerId: null,
        attempts: 1,
        availableAt: new Date(now + ATTEMPT_MS),
      },
    });
    for (const state of states) await attempt(state, closed.signal);
  };

  return {
    check: registration.check,
    claim: claimTelegram,
    replace: replaceTelegram,

    async connect(deploymentId) {
      const first = async () => {
        const state = await take(Prisma.sql`deployment_id = ${deploymentId}`);
        if (state) await attempt(state, closed.signal);
      };
      using deadline = startDeadline(waitMs);
      const attempted = first().catch((err: unknown) => {
        log.error(
          { err, deployment: deploymentId },
          'Telegram could not be connected. It will be retried.',
        );
      });
      await untilAborted(attempted, deadline.signal).catch(() => {});
    },

    async revoked(deploymentId) {
      if (await states.lost(refOf(deploymentId), REVOKED))
        log.warn({ deployment: deploymentId }, 'Telegram rejected the token of a deployment.');
    },

    async release(botId) {
      using deadline = startDeadline(RELEASE_MS);
      try {
        const held = await prisma.channelState.findMany({
          where: { channel: 'TELEGRAM', botId, externalId: { not: null } },
        });
        await Promise.allSettled(
          held.map(async (state) => {
            await states.lost(refOf(state.deploymentId), DELETED);
            await leave(state, deadline.signal);
          }),
        );
      } catch (err) {
        log.error({ err, bot: botId }, 'The webhook of a deleted bot could not be removed.');
      }
    },

    start() {
      const adopting = adoptUrl().catch((err: unknown) => {
        log.error({ err }, 'The webhooks could not be checked against PUBLIC_URL.');
      });
      const task = startPeriodic(work, {
        everyMs: POLL_EVERY_MS,
        log,
        what: 'The connection of channels',
      });
      return {
        async [Symbol.asyncDispose]() {
          closed.abort();
          await task[Symbol.asyncDispose]();
          await Promise.all([adopting, ...active]);
        },
      };
    },
  };
}
