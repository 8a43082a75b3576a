import { startDeadline } from '../../async/deadline.ts';
import type { ChannelState, PrismaClient } from '../../generated/prisma/client.ts';
import { databaseTime } from '../../storage/moment.ts';
import { type ChannelStates, RELEASED } from '../states.ts';
import { blockedRemark } from './blocked-chats.ts';
import { TelegramError } from './error.ts';
import { CONFLICT, type Registration } from './registration.ts';

/** Steps towards the connection or the release of a deployment that this process has taken. */
export type ConnectionAttempts = {
  /** Makes one attempt, and schedules the next one if Telegram fails. Gives up once the time is over. */
  attempt(state: ChannelState, signal: AbortSignal): Promise<void>;
  giveUp(state: ChannelState): Promise<void>;
  /** Removes the webhook of a deployment. @throws TelegramError */
  leave(state: ChannelState, signal: AbortSignal): Promise<void>;
};

/** How long a taken deployment belongs to its process. No attempt is longer, so that no two processes connect one at once. */
export const ATTEMPT_MS = 15_000;
const MAX_PAUSE_S = 10;
/** Attempts to remove a webhook, or to set one anew. */
const MAX_ATTEMPTS = 20;

const UNREACHABLE = 'Telegram did not answer in time. Deploy again.';

/**
 * @param registeredUrl the public URL for webhooks; empty: updates are polled.
 * @param pendingMs how long after a deployment its last attempt to connect ends.
 */
export function createConnectionAttempts({
  prisma,
  registration,
  states,
  registeredUrl,
  pendingMs,
}: {
  prisma: PrismaClient;
  registration: Pick<Registration, 'register' | 'leave'>;
  states: ChannelStates;
  registeredUrl: string;
  pendingMs: number;
}): ConnectionAttempts {
  const refOf = ({ deploymentId }: ChannelState) => ({
    deploymentId,
    channel: 'TELEGRAM' as const,
  });

  /** Milliseconds in which a deployment may still be connected. */
  const timeLeft = ({ status, createdAt }: ChannelState, now: number) =>
    status === 'PENDING' ? createdAt.getTime() + pendingMs - now : Number.POSITIVE_INFINITY;

  const giveUp = async (state: ChannelState) => {
    if (!state.leaving) await states.lost(refOf(state), UNREACHABLE);
    else await prisma.channelState.updateMany({ where: refOf(state), data: RELEASED });
  };

  /** Registers other deployments again, also those for which an attempt is in progress. */
  const reconnectOthers = async (
    { deploymentId }: ChannelState,
    which: Pick<ChannelState, 'botId' | 'environment'> | { externalId: string },
  ) => {
    const now = await databaseTime(prisma);
    await prisma.channelState.updateMany({
      where: {
        ...which,
        channel: 'TELEGRAM',
        status: { in: ['PENDING', 'CONNECTED'] },
        deploymentId: { not: deploymentId },
      },
      data: { registeredUrl: null, availableAt: new Date(now), attempts: { increment: 1 } },
    });
  };

  const register = async (state: ChannelState, signal: AbortSignal) => {
    const { botId, environment, externalId } = state;
    const ref = refOf(state);
    const problem = await registration.register(state, signal);
    if (problem !== undefined) {
      await states.lost(ref, problem);
      return;
    }
    const isConnected = await states.connected(ref, state.attempts, registeredUrl);
    // A replaced deployment may have set its webhook after its successor had.
    if (!isConnected) await reconnectOthers(state, { botId, environment });
    else if (state.problem === CONFLICT && externalId !== null)
      await states.remark(ref, await blockedRemark(prisma, externalId));
  };

  const leave = async (state: ChannelState, signal: AbortSignal) => {
    const { externalId } = state;
    try {
      await registration.leave(state, signal);
    } finally {
      // The removal may have reached Telegram after another deployment had set its webhook for the same bot.
      if (externalId !== null) await reconnectOthers(state, { externalId });
    }
  };

  const repeatLater = async (state: ChannelState, { retryAfterS = 0 }: TelegramError) => {
    const now = await databaseTime(prisma);
    const leftMs = timeLeft(state, now);
    const isLast = state.status === 'PENDING' ? leftMs <= 0 : state.attempts >= MAX_ATTEMPTS;
    if (isLast) return giveUp(state);
    const pauseS = Math.max(Math.min(2 ** (state.attempts - 1), MAX_PAUSE_S), retryAfterS);
    await prisma.channelState.updateMany({
      where: refOf(state),
      data: { availableAt: new Date(now + Math.min(pauseS * 1_000, leftMs)) },
    });
  };

  return {
    giveUp,
    leave,

    async attempt(state, signal) {
      const limitMs = Math.min(timeLeft(state, await databaseTime(prisma)), ATTEMPT_MS);
      if (limitMs <= 0) return giveUp(state);
      const reason = () => new TelegramError('unreachable');
      using limited = startDeadline(limitMs, { signal, reason });
      try {
        await (state.leaving ? leave : register)(state, limited.signal);
      } catch (error) {
        if (!(error instanceof TelegramError)) throw error;
        await repeatLater(state, error);
      }
    },
  };
}
