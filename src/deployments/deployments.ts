import { GatewayError } from '../errors.ts';
import type { Deployment, Environment, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { type AnsweringDeployment, answerOnce, earlierAnswer } from '../idempotency/deployments.ts';
import { fingerprintOf, type IdempotencyKey, type Repeatable } from '../idempotency/key.ts';
import { makeId } from '../ids.ts';
import { type Reading, readSource } from '../language/read.ts';
import { retry, withinRequest } from '../storage/retry.ts';
import { newDestinations, type VariableUse } from './destinations.ts';
import type { DeploymentDiagnostic, ProbeTools } from './diagnostics.ts';
import {
  assertWithinLimits,
  type EnvironmentCipher,
  type EnvironmentVariables,
} from './environment.ts';
import { createInstall } from './install.ts';

/** The key under which a request may be repeated. */
type Repeats = { idempotency?: IdempotencyKey | undefined };

/** A definition to run. */
export type DeployRequest = Repeats & {
  botId: string;
  environment: Environment;
  /** In agentlang 5; anything else makes a failed deployment. */
  source: string;
  message?: string | null;
  /** Laid over the variables of what runs in that environment now. */
  envVars: EnvironmentVariables;
  /** Names that are taken out of them. */
  unsetEnvVars: string[];
};

/** A deployment to run again. */
export type RedeployRequest = Repeats & {
  botId: string;
  deploymentId: string;
  message?: string | null;
};

/**
 * The life of definitions. Source: the API document, "Deploy"; every deployment is a new entry in the list. All three
 * throw GatewayError `idempotency_conflict` where a key was used for another request.
 */
export type Deployments = {
  /**
   * Makes a source run from the very next request on. A source with errors changes nothing: its deployment is
   * `FAILED`, and its diagnostics say why. So it is with a source that would send a variable whose value is carried
   * over to a server that it was not sent to before.
   *
   * @throws GatewayError `invalid_request` where the deployment would have too many variables, or too large ones.
   */
  deploy(request: DeployRequest): Promise<AnsweringDeployment>;
  /**
   * Runs an earlier deployment's source again, in its environment, with its variables.
   *
   * @throws GatewayError `deployment_not_found`, or `deployment_not_deployable` for one that never ran.
   */
  rollback(request: RedeployRequest): Promise<AnsweringDeployment>;
  /**
   * Runs a staging deployment's source in production, with production's variables.
   *
   * @throws GatewayError as `rollback`, and `deployment_not_deployable` for one that is not of staging.
   */
  promote(request: RedeployRequest): Promise<AnsweringDeployment>;
};

/** What a deploy comes to, as long as the deployment runs that it replaces. */
type Plan = {
  replaced: string | undefined;
  variables: EnvironmentVariables;
  /** Why it may not run. */
  refusals: DeploymentDiagnostic[];
};

/** How long the deploys of one bot may wait for each other, and one may take. */
const TRANSACTION = { maxWait: 30_000, timeout: 30_000 };

/**
 * @param probeTools asks the servers of tools that a source names; none is asked by default.
 * @param read reads a source, once for each deploy.
 */
export function createDeployments({
  prisma,
  cipher,
  probeTools = async () => [],
  read = readSource,
}: {
  prisma: PrismaClient;
  cipher: EnvironmentCipher;
  probeTools?: ProbeTools;
  read?: (source: string) => Reading;
}): Deployments {
  const install = createInstall({ cipher });

  /**
   * Does the work of one deploy in a transaction of its own, one deploy of a bot at a time: the last one to
   * come is the one that runs, and one that breaks leaves nothing behind. One that is repeated is not done again. Where
   * the answer of the database is lost, the deploy is repeated unless its deployment is stored: the lock of the bot tells
   * when its transaction is over.
   *
   * @param prepare what may take long, done before and without the transaction.
   */
  const attempt = async <Prepared>(
    botId: string,
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
    const once = (tries: number) =>
      prisma.$transaction(async (tx) => {
        const bots = await tx.$queryRaw<unknown[]>`
          SELECT 1 FROM bots WHERE id = ${botId} FOR NO KEY UPDATE`;
        if (bots.length === 0)
          throw new GatewayError('bot_not_found', `There is no bot "${botId}".`);
        const stored = tries > 1 && (await tx.deployment.findUnique({ where: { id } }));
        if (stored) return { ...stored, isReplayed: false };
        return answerOnce(tx, repeatable, () => work(tx, prepared, id));
      }, TRANSACTION);
    return retry(once, { when: withinRequest() });
  };

  const repeatableDeploy = ({ idempotency, ...request }: DeployRequest): Repeatable | undefined => {
    const { envVars, unsetEnvVars, botId, environment, source, message } = request;
    const variables = cipher.fingerprint(envVars);
    const input = [botId, environment, source, message ?? null, variables, unsetEnvVars];
    return idempotency && { ...idempotency, fingerprint: fingerprintOf('deploy', input) };
  };

  const repeatableRedeploy = (
    operation: 'rollback' | 'promote',
    { idempotency, botId, deploymentId, message }: RedeployRequest,
  ): Repeatable | undefined => {
    const input = [botId, deploymentId, message ?? null];
    return idempotency && { ...idempotency, fingerprint: fingerprintOf(operation, input) };
  };

  const variablesOf = ({ id, envVars }: Pick<Deployment, 'id' | 'envVars'>) =>
    envVars === null ? {} : cipher.decrypt(id, envVars);

  const activeId = async (
    tx: Prisma.TransactionClient,
    botId: string,
    environment: Environment,
  ): Promise<string | undefined> => {
    const where = { botId_environment: { botId, environment } };
    const active = await tx.activeDeployment.findUnique({ where, select: { deploymentId: true } });
    return active?.deploymentId;
  };

  const useOf = async (
    tx: Prisma.TransactionClient,
    id: string | undefined,
  ): Promise<VariableUse> => {
    const select = { id: true, source: true, envVars: true };
    const deployment =
      id === undefined ? null : await tx.deployment.findUnique({ where: { id }, select });
    if (deployment === null) return { source: '', variables: {} };
    return { source: deployment.source, variables: variablesOf(deployment) };
  };

  /** The variables of what runs in an environment now. */
  const currentVariables = async (
    tx: Prisma.TransactionClient,
    botId: string,
    environment: Environment,
  ): Promise<EnvironmentVariables> =>
    (await useOf(tx, await activeId(tx, botId, environment))).variables;

  /** @param known what was planned before: it holds as long as the same deployment runs. */
  const plan = async (
    tx: Prisma.TransactionClient,
    { botId, environment, source, envVars, unsetEnvVars }: DeployRequest,
    known?: Plan,
  ): Promise<Plan> => {
    const replaced = await activeId(tx, botId, environment);
    if (known && known.replaced === replaced) return known;
    const before = await useOf(tx, replaced);
    const variables = { ...before.variables, ...envVars };
    for (const name of unsetEnvVars) delete variables[name];
    assertWithinLimits(variables);
    const sent = new Set(Object.keys(envVars));
    const refusals = newDestinations({ source, variables }, before, sent);
    return { replaced, variables, refusals };
  };

  /**
   * Reads a source and asks the servers of its tools, outside any transaction: no lock waits for strangers, or for a
   * long source.
   */
  const probe = async (
    source: string,
    variables: () => Promise<EnvironmentVariables>,
    mayAsk = true,
  ) => {
    const reading = read(source);
    const groups = reading.definition?.tools.filter((group) => group.type === 'mcp');
    const reports = mayAsk && groups?.length ? await probeTools(groups, await variables()) : [];
    return { reading, reports };
  };

  const find = async (tx: Prisma.TransactionClient, { botId, deploymentId }: RedeployRequest) => {
    const target = await tx.deployment.findUnique({ where: { id: deploymentId, botId } });
    if (target === null) {
      throw new GatewayError('deployment_not_found', `There is no deployment "${deploymentId}".`);
    }
    if (target.status === 'DEPLOYED') return target;
    throw new GatewayError(
      'deployment_not_deployable',
      `The deployment "${deploymentId}" never ran, and cannot be run again.`,
    );
  };

  const findStaging = async (tx: Prisma.TransactionClient, request: RedeployRequest) => {
    const target = await find(tx, request);
    if (target.environment === 'STAGING') return target;
    throw new GatewayError(
      'deployment_not_deployable',
      `The deployment "${request.deploymentId}" is not one of staging.`,
    );
  };

  return {
    async deploy(request) {
      const { envVars: _given, unsetEnvVars: _unset, idempotency: _key, ...rest } = request;
      return attempt(
        request.botId,
        repeatableDeploy(request),
        async () => {
          const planned = await plan(prisma, request);
          // The probe sends variables, too.
          const mayAsk = planned.refusals.length === 0;
          const probed = await probe(request.source, async () => planned.variables, mayAsk);
          return { planned, probed };
        },
        async (tx, { planned, probed }, id) => {
          const { variables, refusals } = await plan(tx, request, planned);
          return install(tx, { ...rest, id, variables, refusals, ...probed });
        },
      );
    },

    async rollback(request) {
      const { botId, message } = request;
      return attempt(
        botId,
        repeatableRedeploy('rollback', request),
        async () => {
          const { source, ...found } = await find(prisma, request);
          return probe(source, async () => variablesOf(found));
        },
        async (tx, probed, id) => {
          const target = await find(tx, request);
          const { environment, source, id: rolledBackToId } = target;
          const variables = variablesOf(target);
          const again = { id, botId, message, environment, source, variables, ...probed };
          return install(tx, { ...again, rolledBackToId });
        },
      );
    },

    async promote(request) {
      const { botId, message } = request;
      const variablesIn = (tx: Prisma.TransactionClient) =>
        currentVariables(tx, botId, 'PRODUCTION');
      return attempt(
        botId,
        repeatableRedeploy('promote', request),
        async () => {
          const { source } = await findStaging(prisma, request);
          return probe(source, () => variablesIn(prisma));
        },
        async (tx, probed, id) => {
          const { source } = await findStaging(tx, request);
          const variables = await variablesIn(tx);
          const promoted = { id, botId, message, environment: 'PRODUCTION' as const, source };
          return install(tx, { ...promoted, variables, ...probed });
        },
      );
    },
  };
}
