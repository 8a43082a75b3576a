import { setTimeout as delay } from 'node:timers/promises';
import { DeploymentState } from '../../generated/operations/command.ts';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import type { Context } from '../context.ts';
import { codeFrames, type Problem } from '../definitions/code-frame.ts';
import { Refusal } from '../errors.ts';
import type { Connection } from '../server/connection.ts';

/** How often the state of a pending deployment is read, and for how long. Parley connects channels within 60 s. */
const POLL_MS = 1_000;
const PENDING_LIMIT_MS = 90_000;

export type Outcome = {
  deploymentId: string;
  botId: string;
  environment: EnvironmentName;
  status: 'deployed' | 'failed' | 'pending';
  channels: string[];
  diagnostics: Problem[];
};

/** Waits until a deployment is no longer pending, and reads its channels and warnings. */
export async function readOutcome(
  ids: Pick<Outcome, 'deploymentId' | 'botId' | 'environment'>,
  { graphql }: Connection,
  { signal, terminal }: Context,
): Promise<Outcome> {
  const deadline = Date.now() + PENDING_LIMIT_MS;
  for (let isFirst = true; ; isFirst = false) {
    const { node } = await graphql.run(DeploymentState, { id: ids.deploymentId }, signal);
    if (!node || !('status' in node))
      throw new Refusal(`The deployment ${ids.deploymentId} does not exist any more.`);
    const { status, channels, diagnostics } = node;
    if (status !== 'PENDING' || Date.now() > deadline)
      return {
        ...ids,
        status: LOWER[status],
        channels: channels.map((channel) => channel.toLowerCase()),
        diagnostics,
      };
    if (isFirst) terminal.progress('Connecting channels…');
    await delay(POLL_MS, undefined, { signal });
  }
}

const LOWER = { DEPLOYED: 'deployed', FAILED: 'failed', PENDING: 'pending' } as const;

/** Prints an outcome: warnings to stderr, the result to stdout. */
export async function printOutcome(
  outcome: Outcome,
  source: { name: string; text: string },
  { terminal, print }: Context,
  verb = 'Deployed',
): Promise<void> {
  const { deploymentId, botId, environment, status, channels, diagnostics } = outcome;
  if (diagnostics.length > 0) terminal.note(codeFrames(source, diagnostics, terminal.errorStyle));
  await print(outcome, () => {
    const place = `${botId} (${environment})`;
    if (status === 'pending')
      return `${deploymentId} on ${place} is still connecting its channels. See parley deployments.`;
    return `${verb} ${deploymentId} on ${place}. Channels: ${channels.join(', ') || 'none'}.`;
  });
}
