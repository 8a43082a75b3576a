import { recordChanges } from '../accounts/audit.ts';
import { botVersionName } from '../bots/bots.ts';
import type { Versions } from '../coordination/cache-versions.ts';
import { invalidInput, notFound } from '../errors/errors.ts';
import type { Bot, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import {
  type AnsweringDeployment,
  claimKey,
  earlierAnswer,
  recordDeployment,
} from '../idempotency/deployments.ts';
import { fingerprintOf, type Repeatable } from '../idempotency/key.ts';
import type { ParsedSource } from '../language/read.ts';
import { retryInRequest } from '../storage/retry.ts';
import { makeId } from '../text/ids.ts';
import type { DeploymentChanges } from './changes.ts';
import type { ChannelConnections } from './channels.ts';
import type { ProbeTools } from './diagnostics.ts';
import type { EnvironmentCipher } from './environment.ts';
import { basisOfGate, findAnswer, readGate, waitsForGate } from './gate.ts';
import { createInstall } from './install.ts';
import { createPlan, type Plan } from './plan.ts';
import type { ReadSource } from './read-source.ts';
import type { DeployRequest } from './request.ts';

/**
 * Adds a deployment to the bot's list, and activates it from the next request on. Resolves when every replica uses the new
 * deployment, and its channels had 1 second to connect. Source: the API document, "Deploy".
 *
 * - `DEPLOY`: a source. A source with errors does not become active: its deployment is `FAILED` and its diagnostics give
 *   the reasons. The same holds for a source that would send a carried-over variable to a new server.
 * - `ROLLBACK`: an earlier deployment's source again, in its environment, with its variables.
 * - `PROMOTE`: a staging deployment's source in production, with production's variables.
 *
 * If the bot has a gate, a deploy or a promotion to production is `PENDING` until the gate is decided: see `SettleGate`. With
 * `skipGate` it becomes active at once, which the audit log records.
 *
 * @throws GatewayError `idempotency_conflict` if the idempotency key was used for another request, `invalid_request` if the
 *   variables exceed their limits in number or size, or if `skipGate` has no message; and for an earlier deployment `deployment_not_found`, or
 *   `deployment_not_deployable` if it failed, or if a deployment outside staging is promoted.
 */
export type Deploy = (request: DeployRequest) => Promise<AnsweringDeployment>;

/** Milliseconds that a deploy may wait for a connection, and that its transaction may take. */
const TRANSACTION = { maxWait: 30_000, timeout: 30_000 };

export function createDeploy({
  prisma,
  cipher,
  read,
  probeTools,
  connections,
  versions,
  changes,
  notifyGates,
}: {
  prisma: PrismaClient;
  cipher: EnvironmentCipher;
  read: ReadSource;
  probeTools: ProbeTools;
  connections: ChannelConnections;
  versions: Pick<Versions, 'renew'>;
  changes: DeploymentChanges;
  /** Notifies workers that a deployment waits for its gate. */
  notifyGates(): void;
}): Deploy {
  const { plan } = createPlan({ cipher });
  const install = createInstall({ cipher, connections });

  /** Asks the tool servers and the services of the channels. A refused deploy asks none: that would send the variables. */
  const probe = async ({ definition }: ParsedSource, { variables, refusals }: Plan) => {
    if (!definition || refusals.length > 0) return { reports: [], channelReports: [] };
    const groups = definition.tools.filter((group) => group.type === 'mcp');
    const hasServices = definition.channels.some(({ type }) => type !== 'web');
    const [reports, channelReports] = await Promise.all([
      groups.length > 0 ? probeTools(groups, variables) : [],
      hasServices ? connections.check(definition, variables) : [],
    ]);
    return { reports, channelReports };
  };

  /** Every replica uses the new deployment. Also for a repeat: the process that deployed may have died before this step. */
  const renew = async ({ botId, status }: AnsweringDeployment) => {
    if (status !== 'FAILED') await versions.renew(botVersionName(botId));
  };

  /** The gate of a request; null if it needs to pass none. */
  const gateFor = (
    stored: Prisma.JsonValue,
    { action, skipGate }: DeployRequest,
    { environment }: Plan,
  ) =>
    action === 'ROLLBACK' || skipGate || environment !== 'PRODUCTION' ? null : readGate(stored);

  /** Waits for the decision about a deployment whose evaluation exists already: that takes only a moment. */
  const decided = async (deployment: AnsweringDeployment, { variables }: Plan) => {
    const { id, botId, gate: stored } = deployment;
    const gate = readGate(stored);
    const basis = gate && basisOfGate(gate, cipher.fingerprint(variables));
    const stopped = AbortSignal.timeout(DECISION_MS);
    const notices = changes.follow(botId, stopped)[Symbol.asyncIterator]();
    const read = async () => ({
      ...deployment,
      ...(await prisma.deployment.findUnique({ where: { id } })),
    });
    notifyGates();
    const answer = basis && (await findAnswer(prisma, deployment, basis));
    if (!answer || answer.failed > 0) {
      await notices.return?.();
      return deployment;
    }
    for (let latest = await read(); ; latest = await read()) {
      if (!waitsForGate(latest)) return latest;
      const { done } = await notices.next();
      if (done) return read();
    }
  };

  return async (request) => {
    const { action, botId, message, actor, skipGate } = request;
    if (skipGate && !message?.trim())
      throw invalidInput([{ path: 'input.message', message: 'is required with skipGate' }]);
    const repeatable = repeatableOf(request, cipher);
    const earlier = repeatable && (await earlierAnswer(prisma, repeatable));
    if (earlier) {
      await renew(earlier);
      return earlier;
    }

    // Outside the transaction: neither a slow server nor a long source holds the lock on the bot.
    const planned = await plan(prisma, request);
    const parsed = await read(planned.source, { isDeployed: action !== 'DEPLOY' });
    const probed = await probe(parsed, planned);

    // The lock admits one deploy per bot at a time. After an attempt with an unknown outcome, it waits until that attempt's
    // transaction is over, and the deployment may be stored.
    const id = makeId('dep');
    const store = (attempts: number) =>
      prisma.$transaction(async (tx) => {
        const [bot] = await tx.$queryRaw<Pick<Bot, 'gate'>[]>`
          SELECT gate FROM bots WHERE id = ${botId} FOR NO KEY UPDATE`;
        if (!bot) throw notFound('bot', botId);
        const stored = attempts > 1 && (await tx.deployment.findUnique({ where: { id } }));
        if (stored) return { ...stored, isReplayed: false };
        const first = repeatable && (await claimKey(tx, repeatable));
        if (first) return first;
        const latest = await plan(tx, request, planned);
        const deployment = await install(tx, {
          id,
          botId,
          message,
          keyId: actor?.keyId,
          plan: latest,
          gate: gateFor(bot.gate, request, latest),
          parsed,
          ...probed,
          asked: planned.variables,
        });
        const change = deployment.status === 'FAILED' ? 'DEPLOY_FAILED' : action;
        const skips = skipGate && bot.gate !== null && deployment.status !== 'FAILED';
        if (actor)
          await recordChanges(
            tx,
            actor,
            { action: change, targetId: id, botId },
            ...(skips ? [{ action: 'SKIP_GATE' as const, targetId: id, botId }] : []),
          );
        if (repeatable) await recordDeployment(tx, repeatable, id);
        return { ...deployment, isReplayed: false };
      }, TRANSACTION);
    const deployment = await retryInRequest(store);

    await renew(deployment);
    if (deployment.isReplayed) return deployment;
    changes.notify(deployment);
    if (waitsForGate(deployment)) return decided(deployment, planned);
    if (deployment.status !== 'PENDING') return deployment;
    await connections.connect(id);
    return { ...deployment, ...(await prisma.deployment.findUnique({ where: { id } })) };
  };
}

/** Milliseconds that a deploy waits for a decision that needs no new evaluation. */
const DECISION_MS = 5_000;

/** The request with its fingerprint, if it has an idempotency key. */
function repeatableOf(request: DeployRequest, cipher: EnvironmentCipher): Repeatable | undefined {
  const { action, botId, message = null, idempotency, skipGate = false } = request;
  if (!idempotency) return undefined;
  const gate = skipGate ? ['skip-gate'] : [];
  const operation = action.toLowerCase();
  if (request.action !== 'DEPLOY') {
    const input = [botId, request.deploymentId, message, ...gate];
    return { ...idempotency, fingerprint: fingerprintOf(operation, input) };
  }
  const { environment, source, envVars, unsetEnvVars } = request;
  const variables = cipher.fingerprint(envVars);
  // A client may send the same variables in another order.
  const input = [botId, environment, source, message, variables, unsetEnvVars.toSorted(), ...gate];
  return { ...idempotency, fingerprint: fingerprintOf(operation, input) };
}
