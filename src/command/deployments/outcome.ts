import { setTimeout as delay } from 'node:timers/promises';
import { DeploymentState } from '../../generated/operations/command.ts';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import { followEvaluation } from '../cases/follow.ts';
import { type CaseResult, type Evaluation, lineOf } from '../cases/result.ts';
import type { Context } from '../context.ts';
import { codeFrames, type Problem } from '../definitions/code-frame.ts';
import { Refusal } from '../errors.ts';
import type { Connection } from '../server/connection.ts';

/** How often the state of a pending deployment is read, and for how long. Parley connects channels within 60 s. */
const POLL_MS = 1_000;
const PENDING_LIMIT_MS = 90_000;
/** How long the command waits for the gate of a bot. The deployment goes on without it. */
const GATE_LIMIT_MS = 60 * 60 * 1_000;

export type Outcome = {
  deploymentId: string;
  botId: string;
  environment: EnvironmentName;
  status: 'deployed' | 'failed' | 'pending';
  channels: string[];
  diagnostics: Problem[];
};

/**
 * Waits until a deployment is no longer pending, for its gate too, and reads its channels and warnings.
 *
 * @param file the name of the source, before the places in it.
 */
export async function readOutcome(
  ids: Pick<Outcome, 'deploymentId' | 'botId' | 'environment'>,
  file: string,
  connection: Connection,
  context: Context,
): Promise<Outcome> {
  const { signal, terminal } = context;
  await waitForGate(ids, file, connection, context);
  const deadline = Date.now() + PENDING_LIMIT_MS;
  for (let isFirst = true; ; isFirst = false) {
    const { status, channels, diagnostics } = await readState(
      ids.deploymentId,
      connection,
      context,
    );
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

async function readState(id: string, { graphql }: Connection, { signal }: Context) {
  const { node } = await graphql.run(DeploymentState, { id }, signal);
  if (!node || !('status' in node))
    throw new Refusal(`The deployment ${id} does not exist any more.`);
  return node;
}

/** Waits for the gate of a deployment, and prints each case to stderr as it ends. */
async function waitForGate(
  { deploymentId, botId }: Pick<Outcome, 'deploymentId' | 'botId'>,
  file: string,
  connection: Connection,
  context: Context,
): Promise<void> {
  const { signal, terminal } = context;
  const deadline = Date.now() + GATE_LIMIT_MS;
  let followed: string | undefined;
  for (;;) {
    const { waitsForGate, evaluationId } = await readState(deploymentId, connection, context);
    if (evaluationId !== null && evaluationId !== followed) {
      followed = evaluationId;
      terminal.progress(`Waiting for the gate of ${botId}…`);
      const show = async (result: CaseResult, { repeat }: Evaluation) =>
        terminal.note(lineOf(file, result, repeat, terminal.errorStyle));
      await followEvaluation({ botId, id: evaluationId }, connection, context, show);
    } else if (!waitsForGate) return;
    else if (Date.now() > deadline)
      throw new Refusal(
        `${deploymentId} still waits for the gate of ${botId}. See parley deployments --bot ${botId}.`,
      );
    else await delay(POLL_MS, undefined, { signal });
  }
}

const LOWER = { DEPLOYED: 'deployed', FAILED: 'failed', PENDING: 'pending' } as const;

/**
 * Prints an outcome: warnings and errors to stderr, the result to stdout.
 *
 * @throws Refusal if the gate held the deployment back.
 */
export async function printOutcome(
  outcome: Outcome,
  source: { name: string; text: string },
  { terminal, json, print }: Context,
  verb = 'Deployed',
): Promise<void> {
  const { deploymentId, botId, environment, status, channels, diagnostics } = outcome;
  if (diagnostics.length > 0) terminal.note(codeFrames(source, diagnostics, terminal.errorStyle));
  const place = `${botId} (${environment})`;
  if (status === 'failed') {
    if (json) await print(outcome, () => '');
    throw new Refusal(
      `The gate of ${place} held ${deploymentId} back. What ran before goes on. Correct the definition and deploy it again. Without a deploy, parley test FILE --bot ${botId} runs the tests.`,
    );
  }
  await print(outcome, () => {
    if (status === 'pending')
      return `${deploymentId} on ${place} is still connecting its channels. See parley deployments.`;
    return `${verb} ${deploymentId} on ${place}. Channels: ${channels.join(', ') || 'none'}.`;
  });
}
