import { channelWarning, inOrder, readDiagnostics } from '../deployments/diagnostics.ts';
import type { Channel, ChannelState, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { databaseTime } from '../storage/moment.ts';

/** Identifies the state of a deployment's channel. */
export type StateRef = { deploymentId: string; channel: Channel };

/** Moves channels of deployments between their states. A step does nothing if the deployment was replaced meanwhile. */
export type ChannelStates = {
  /**
   * @param attempts the number of the attempt that connected the channel. A request for another one makes it void.
   * @returns whether the channel is connected now.
   */
  connected(state: StateRef, attempts: number, registeredUrl: string): Promise<boolean>;
  /**
   * Takes a channel away.
   *
   * @param problem why, a sentence. A pending deployment gets it as a warning.
   * @returns whether the channel was pending or connected before.
   */
  lost(state: StateRef, problem: string): Promise<boolean>;
  /** Sets or removes the remark on a connected channel. */
  remark(state: StateRef, problem: string | null): Promise<void>;
};

/** The columns of a state that holds nothing at the service. */
export const RELEASED = {
  externalId: null,
  webhookPath: null,
  registeredUrl: null,
  pollerId: null,
  leaving: false,
} as const;

export const REPLACED = 'A later deployment has replaced this one.';

/** Why the states of a deployment's channels changed, for its channels and warnings. */
type Outcome = { channel: Channel; problem?: string };

/** Updates a deployment after the state of its channel changed. A pending deployment becomes deployed. */
export async function applyToDeployment(
  tx: Prisma.TransactionClient,
  id: string,
  { channel, problem }: Outcome,
): Promise<void> {
  const select = { status: true, channels: true, diagnostics: true };
  const { status, channels, diagnostics } = await tx.deployment.findUniqueOrThrow({
    where: { id },
    select,
  });
  const others = channels.filter((other) => other !== channel);
  await tx.deployment.update({
    where: { id },
    data: {
      channels: problem === undefined ? [...others, channel] : others,
      ...(status === 'PENDING' && {
        status: 'DEPLOYED',
        deployedAt: new Date(await databaseTime(tx)),
        ...(problem !== undefined && {
          diagnostics: inOrder([...readDiagnostics(diagnostics), channelWarning(channel, problem)]),
        }),
      }),
    },
  });
}

export function createChannelStates({
  prisma,
  notify,
}: {
  prisma: PrismaClient;
  /** Notifies subscribers of a changed deployment. */
  notify: (deployment: { id: string; botId: string }) => void;
}): ChannelStates {
  const move = async (
    { deploymentId, channel }: StateRef,
    data: Prisma.ChannelStateUpdateManyMutationInput,
    { attempts, problem }: { attempts?: number; problem?: string },
  ) => {
    const where: Prisma.ChannelStateWhereInput = {
      deploymentId,
      channel,
      status: { in: ['PENDING', 'CONNECTED'] },
      ...(attempts !== undefined && { attempts }),
    };
    const [moved] = await prisma.$transaction(async (tx) => {
      const states: ChannelState[] = await tx.channelState.updateManyAndReturn({ where, data });
      const outcome = problem === undefined ? { channel } : { channel, problem };
      if (states.length > 0) await applyToDeployment(tx, deploymentId, outcome);
      return states;
    });
    if (moved) notify({ id: deploymentId, botId: moved.botId });
    return moved !== undefined;
  };

  return {
    connected: (state, attempts, registeredUrl) =>
      move(state, { status: 'CONNECTED', registeredUrl, attempts: 0 }, { attempts }),
    lost: (state, problem) =>
      move(state, { ...RELEASED, status: 'UNAVAILABLE', problem }, { problem }),
    async remark(state, problem) {
      await prisma.channelState.updateMany({
        where: { ...state, status: 'CONNECTED' },
        data: { problem },
      });
    },
  };
}
