import type { PubSub } from '../coordination/pubsub.ts';
import type { DeploymentChanges } from '../deployments/changes.ts';
import { gateError } from '../deployments/diagnostics.ts';
import type { EnvironmentCipher } from '../deployments/environment.ts';
import {
  DUE_GATES,
  EVALUATION_WORK,
  NEEDLESS_EVALUATIONS,
} from '../deployments/evaluation-work.ts';
import { basisOfGate, findAnswer, type Gate, readGate, replayOfGate } from '../deployments/gate.ts';
import type { ReadSource } from '../deployments/read-source.ts';
import type { SettleGate } from '../deployments/settle-gate.ts';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import { makeId } from '../text/ids.ts';
import { casesOf, type Evaluations, newEvaluation } from './evaluations.ts';
import { createGateProblems } from './gate-problems.ts';
import type { FindReplayed } from './replay-request.ts';

/** Evaluates the deployments that wait for a gate. */
export type Gates = {
  /**
   * Takes each waiting deployment one step further: begins its evaluation, or decides by the one that has ended. Cancels
   * evaluations of deployments that no longer wait. Several processes may do this at once, and a process that stops leaves
   * nothing undone that another one would not find.
   *
   * @param signal ends the work after the current deployment.
   */
  advance(signal: AbortSignal): Promise<void>;
};

/** Deployments of one step. */
const BATCH = 20;
const NOTHING = gateError(
  'gate-failed',
  'the gate of the bot found nothing to check: the definition has no tests, or no recorded run matches',
);
const GONE = gateError('gate-failed', 'the evaluation of the gate no longer exists: deploy again');

type Due = {
  id: string;
  botId: string;
  accountId: string;
  keyId: string | null;
  source: string;
  envVars: Uint8Array | null;
  gate: Prisma.JsonValue;
  evaluationId: string | null;
  /** Whether the evaluation exists. */
  hasEvaluation: boolean;
};

export function createGates({
  prisma,
  pubsub,
  cipher,
  read,
  findReplayed,
  evaluations,
  settleGate,
  deploymentChanges,
  log,
}: {
  prisma: PrismaClient;
  pubsub: PubSub;
  cipher: EnvironmentCipher;
  read: ReadSource;
  findReplayed: FindReplayed;
  evaluations: Pick<Evaluations, 'cancel'>;
  settleGate: SettleGate;
  deploymentChanges: Pick<DeploymentChanges, 'notify'>;
  log: Log;
}): Gates {
  const problemsOf = createGateProblems({ prisma });

  /** The order is random, so that a deployment whose step always fails does not hold the others up. */
  const due = () => prisma.$queryRaw<Due[]>`
    SELECT due.*, bots.account_id AS "accountId" FROM (
      SELECT deployments.id, deployments.bot_id AS "botId", deployments.key_id AS "keyId", deployments.source,
        deployments.env_vars AS "envVars", deployments.gate, evaluation_id AS "evaluationId",
        evaluations.id IS NOT NULL AS "hasEvaluation"
      FROM ${DUE_GATES}
      UNION ALL
      SELECT deployments.id, deployments.bot_id, NULL, '', NULL, NULL, evaluations.id, true FROM ${NEEDLESS_EVALUATIONS}
    ) AS due JOIN bots ON bots.id = "botId"
    ORDER BY random() LIMIT ${BATCH}`;

  const begin = async (waiting: Due, gate: Gate) => {
    const { id: deploymentId, botId, accountId, keyId, source, envVars } = waiting;
    const variables = envVars ? cipher.decrypt(deploymentId, envVars) : {};
    const basis = basisOfGate(gate, cipher.fingerprint(variables));
    const answer = await findAnswer(prisma, waiting, basis);
    if (answer && (await problemsOf(answer.id, gate)).length === 0) {
      await prisma.deployment.updateMany({
        where: { id: deploymentId, evaluationId: null },
        data: { evaluationId: answer.id },
      });
      return settleGate(deploymentId, []);
    }
    const { tests } = await read(source, { isDeployed: true });
    const replay = gate.replay && { of: replayOfGate(gate.replay), session: true };
    const runIds = replay ? await findReplayed(botId, replay, (_filter, find) => find()) : [];
    const cases = casesOf(gate.tests ? tests : [], runIds);
    if (cases.length === 0) return settleGate(deploymentId, [NOTHING]);
    const id = makeId('eva');
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.deployment.updateMany({
        where: { id: deploymentId, evaluationId: null, status: 'PENDING' },
        data: { evaluationId: id },
      });
      // Another process has begun it, or a newer deployment has replaced it.
      if (count === 0) return;
      await tx.evaluation.create({
        data: {
          ...newEvaluation({ botId, accountId, keyId, source, repeat: gate.repeat, basis, cases }),
          id,
          environment: 'PRODUCTION',
          envVars: cipher.encrypt(id, variables),
        },
      });
    });
    pubsub.publish(EVALUATION_WORK, '');
    deploymentChanges.notify({ id: deploymentId, botId });
  };

  const step = async (waiting: Due) => {
    const gate = readGate(waiting.gate);
    const { id, evaluationId, hasEvaluation } = waiting;
    if (!gate) return evaluationId === null ? undefined : evaluations.cancel(evaluationId);
    if (evaluationId === null) return begin(waiting, gate);
    if (!hasEvaluation) return settleGate(id, [GONE]);
    return settleGate(id, await problemsOf(evaluationId, gate));
  };

  return {
    async advance(signal) {
      for (const waiting of await due()) {
        if (signal.aborted) return;
        const { id: deploymentId } = waiting;
        await step(waiting).catch((err) => {
          log.error({ deploymentId, err }, 'A gate could not be decided. It will be tried again.');
        });
      }
    },
  };
}
