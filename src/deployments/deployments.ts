import { recordChanges } from '../accounts/audit.ts';
import { notFound } from '../errors/errors.ts';
import type { AuditAction, Deployment, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import {
  type AnsweringDeployment,
  claimKey,
  earlierAnswer,
  recordDeployment,
} from '../idempotency/deployments.ts';
import { fingerprintOf, type Repeatable } from '../idempotency/key.ts';
import type { DefinitionReport } from '../language/read.ts';
import { retryInRequest } from '../storage/retry.ts';
import { makeId } from '../text/ids.ts';
import { type ChannelConnections, NO_CONNECTIONS } from './channels.ts';
import { type DeployCheck, deployCheck } from './deploy-check.ts';
import type { ProbeTools } from './diagnostics.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';
import { createInstall } from './install.ts';
import { createPlan } from './plan.ts';
import { createReadSource, type ReadSource } from './read-source.ts';
import type {
  DeployCheckRequest,
  DeploymentRequest,
  DeployRequest,
  RedeployRequest,
} from './request.ts';
import { findDeployable, findStaging } from './target.ts';

/**
 * Deploys definitions. Each operation adds a deployment to the bot's list. All three throw GatewayError
 * `idempotency_conflict` if the idempotency key was used for another request. Source: the API document, "Deploy".
 */
export type Deployments = {
  /**
   * Reads a source as a deploy does, and deploys nothing.
   *
   * @param envNames see `ParsedSource.diagnose`.
   */
  check(source: string, envNames?: readonly string[]): Promise<DefinitionReport>;
  /**
   * Decides on a deploy as `deploy` does, and changes nothing. Contacts neither tool servers nor the services of channels,
   * so that an unfinished request sends no variable: their warnings are absent, and errors about claimed bots too.
   *
   * @throws GatewayError `invalid_request` as `deploy`.
   */
  checkDeploy(request: DeployCheckRequest): Promise<DeployCheck>;
  /**
   * Activates a source from the next request on. A source with errors does not become active: its deployment is `FAILED`
   * and its diagnostics give the reasons. The same holds for a source that would send a carried-over variable to a new
   * server.
   *
   * @throws GatewayError `invalid_request` if the variables exceed their limits in number or size.
   */
  deploy(request: DeployRequest): Promise<AnsweringDeployment>;
  /**
   * Runs an earlier deployment's source again, in its environment, with its variables.
   *
   * @throws GatewayError `deployment_not_found`, or `deployment_not_deployable` for a failed deployment.
   */
  rollback(request: RedeployRequest): Promise<AnsweringDeployment>;
  /**
   * Runs a staging deployment's source in production, with production's variables.
   *
   * @throws GatewayError as `rollback`, and `deployment_not_deployable` for a deployment outside staging.
   */
  promote(request: RedeployRequest): Promise<AnsweringDeployment>;
  /** @returns `null` if its bot was deleted. */
  find(id: string): Promise<Deployment | null>;
};

/** Milliseconds that a deploy may wait for a connection, and that its transaction may take. */
const TRANSACTION = { maxWait: 30_000, timeout: 30_000 };

/**
 * @param probeTools probes the tool servers of a source; by default none is probed.
 * @param connections connects the channels of deployments; by default none is connected.
 * @param read parses a source, once per deploy.
 */
export function createDeployments({
  prisma,
  cipher,
  probeTools = async () => [],
  connections = NO_CONNECTIONS,
  read = createReadSource(),
}: {
  prisma: PrismaClient;
  cipher: EnvironmentCipher;
  probeTools?: ProbeTools;
  connections?: ChannelConnections;
  read?: ReadSource;
}): Deployments {
  const install = createInstall({ cipher, connections });
  const { plan, variablesOf, variablesIn } = createPlan({ cipher });

  /**
   * Runs one deploy in a transaction, one deploy per bot at a time. A repeated request returns the earlier deployment. If
   * the outcome of a commit is unknown, the deploy is retried unless its deployment is stored; the lock on the bot waits
   * until the earlier transaction is over.
   *
   * @param prepare slow work, done before the transaction.
   */
  const attempt = async <Prepared>(
    action: AuditAction,
    { botId, actor }: DeploymentRequest,
    repeatable: Repeatable | undefined,
    prepare: () => Promise<Prepared>,
    work: (
      tx: Prisma.TransactionClient,
      prepared: Prepared,
      deploymentId: string,
    ) => Promise<Deployment>,
  ) => {
    const earlier = repeatable && (await earlierAnswer(prisma, repeatable));
    if (earlier) return earlier;
    const prepared = await prepare();
    const id = makeId('dep');
    const once = (attempts: number) =>
      prisma.$transaction(async (tx) => {
        const bots = await tx.$queryRaw<unknown[]>`
          SELECT 1 FROM bots WHERE id = ${botId} FOR NO KEY UPDATE`;
        if (bots.length === 0) throw notFound('bot', botId);
        const stored = attempts > 1 && (await tx.deployment.findUnique({ where: { id } }));
        if (stored) return { ...stored, isReplayed: false };
        const first = repeatable && (await claimKey(tx, repeatable));
        if (first) return first;
        const deployment = await work(tx, prepared, id);
        if (actor) await recordChanges(tx, actor, { action, targetId: id, botId });
        if (repeatable) await recordDeployment(tx, repeatable, id);
        return { ...deployment, isReplayed: false };
      }, TRANSACTION);
    return retryInRequest(once);
  };

  const repeatableDeploy = ({ idempotency, ...request }: DeployRequest): Repeatable | undefined => {
    const { envVars, unsetEnvVars, botId, environment, source, message } = request;
    const variables = cipher.fingerprint(envVars);
    // A client may send the same object of variables in another order.
    const unset = unsetEnvVars.toSorted();
    const input = [botId, environment, source, message ?? null, variables, unset];
    return idempotency && { ...idempotency, fingerprint: fingerprintOf('deploy', input) };
  };

  const repeatableRedeploy = (
    operation: 'rollback' | 'promote',
    { idempotency, botId, deploymentId, message }: RedeployRequest,
  ): Repeatable | undefined => {
    const input = [botId, deploymentId, message ?? null];
    return idempotency && { ...idempotency, fingerprint: fingerprintOf(operation, input) };
  };

  /**
   * Parses a source, and probes its tool servers and the services of its channels, outside any transaction: neither a slow
   * server nor a long source holds a lock.
   */
  const probe = async (
    source: string,
    variables: () => Promise<EnvironmentVariables>,
    { mayAsk = true, isDeployed = true } = {},
  ) => {
    const parsed = await read(source, { isDeployed });
    const { definition } = parsed;
    const groups = definition?.tools.filter((group) => group.type === 'mcp') ?? [];
    const asksServices = definition?.channels.some(({ type }) => type !== 'web');
    const asked = mayAsk && (groups.length > 0 || asksServices) ? await variables() : {};
    const [reports, channelReports] = await Promise.all([
      mayAsk && groups.length > 0 ? probeTools(groups, asked) : [],
      mayAsk && definition && asksServices ? connections.check(definition, asked) : [],
    ]);
    return { parsed, reports, channelReports, asked };
  };

  return {
    find: (id) => prisma.deployment.findUnique({ where: { id } }),

    async check(source, envNames) {
      const { diagnose, ...parsed } = await read(source);
      return { ...parsed, diagnostics: diagnose(envNames) };
    },

    async checkDeploy(request) {
      const planned = await plan(prisma, request);
      return deployCheck(await read(request.source), planned, request.envVars);
    },

    async deploy(request) {
      const { botId, environment, source, message } = request;
      return attempt(
        'DEPLOY',
        request,
        repeatableDeploy(request),
        async () => {
          const earlier = await plan(prisma, request);
          // A refused deploy must not probe: the probe would send the variables.
          const mayAsk = earlier.refusals.length === 0;
          const options = { mayAsk, isDeployed: false };
          const probed = await probe(source, async () => earlier.variables, options);
          return { earlier, probed };
        },
        async (tx, { earlier, probed }, id) => {
          const { variables, refusals } = await plan(tx, request, earlier);
          const planned = { id, botId, environment, source, message, variables, refusals };
          const sentEnvNames = Object.keys(request.envVars).sort();
          return install(tx, { ...planned, ...probed, sentEnvNames, keyId: request.actor?.keyId });
        },
      );
    },

    async rollback(request) {
      const { botId, message } = request;
      return attempt(
        'ROLLBACK',
        request,
        repeatableRedeploy('rollback', request),
        async () => {
          const { source, ...found } = await findDeployable(prisma, request);
          return probe(source, async () => variablesOf(found));
        },
        async (tx, probed, id) => {
          const target = await findDeployable(tx, request);
          const { environment, source, id: rolledBackToId } = target;
          const variables = variablesOf(target);
          const redeployed = { id, botId, message, environment, source, variables, ...probed };
          return install(tx, { ...redeployed, rolledBackToId, keyId: request.actor?.keyId });
        },
      );
    },

    async promote(request) {
      const { botId, message } = request;
      return attempt(
        'PROMOTE',
        request,
        repeatableRedeploy('promote', request),
        async () => {
          const { source } = await findStaging(prisma, request);
          return probe(source, () => variablesIn(prisma, botId, 'PRODUCTION'));
        },
        async (tx, probed, id) => {
          const { source } = await findStaging(tx, request);
          const variables = await variablesIn(tx, botId, 'PRODUCTION');
          const promoted = { id, botId, message, environment: 'PRODUCTION' as const, source };
          return install(tx, { ...promoted, variables, ...probed, keyId: request.actor?.keyId });
        },
      );
    },
  };
}
