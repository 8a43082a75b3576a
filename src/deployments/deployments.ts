import { z } from 'zod';
import { GatewayError } from '../errors.ts';
import type { Deployment, Environment, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Definition } from '../language/definition.ts';
import { readDefinition } from '../language/read.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';

/** A definition to run. */
export type DeployRequest = {
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
export type RedeployRequest = {
  botId: string;
  deploymentId: string;
  message?: string | null;
};

/** The life of definitions. Source: the API document, "Deploy"; every deployment is a new entry in the list. */
export type Deployments = {
  /**
   * Makes a source run from the very next request on. A source with errors changes nothing: its deployment is
   * `FAILED`, and its diagnostics say why.
   */
  deploy(request: DeployRequest): Promise<Deployment>;
  /**
   * Runs an earlier deployment's source again, in its environment, with its variables.
   *
   * @throws GatewayError `deployment_not_found`, or `deployment_not_deployable` for one that never ran.
   */
  rollback(request: RedeployRequest): Promise<Deployment>;
  /**
   * Runs a staging deployment's source in production, with production's variables.
   *
   * @throws GatewayError as `rollback`, and `deployment_not_deployable` for one that is not of staging.
   */
  promote(request: RedeployRequest): Promise<Deployment>;
};

/** What a deployment is made of, once it is clear which variables it has. */
type Installation = Omit<DeployRequest, 'envVars' | 'unsetEnvVars'> & {
  variables: EnvironmentVariables;
  rolledBackToId?: string;
};

/** How long the deploys of one bot may wait for each other, and one may take. */
const TRANSACTION = { maxWait: 30_000, timeout: 30_000 };

export function createDeployments({
  prisma,
  cipher,
}: {
  prisma: PrismaClient;
  cipher: EnvironmentCipher;
}): Deployments {
  /**
   * Does the work of one deploy in a transaction of its own, one deploy of a bot at a time: the last one to
   * come is the one that runs, and one that breaks leaves nothing behind.
   */
  const inTurn = <T>(botId: string, work: (tx: Prisma.TransactionClient) => Promise<T>) =>
    prisma.$transaction(async (tx) => {
      const bots = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM bots WHERE id = ${botId} FOR NO KEY UPDATE`;
      if (bots.length === 0) throw new GatewayError('bot_not_found', `There is no bot "${botId}".`);
      return work(tx);
    }, TRANSACTION);

  const variablesOf = ({ id, envVars }: Pick<Deployment, 'id' | 'envVars'>) =>
    envVars === null ? {} : cipher.decrypt(id, envVars);

  /** The variables of what runs in an environment now. */
  const currentVariables = async (
    tx: Prisma.TransactionClient,
    botId: string,
    environment: Environment,
  ): Promise<EnvironmentVariables> => {
    const active = await tx.activeDeployment.findUnique({
      where: { botId_environment: { botId, environment } },
      select: { deployment: { select: { id: true, envVars: true } } },
    });
    return active ? variablesOf(active.deployment) : {};
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

  /** Stores the deployment, and where its source is without errors makes it the one that runs. */
  const install = async (
    tx: Prisma.TransactionClient,
    { variables, ...request }: Installation,
  ): Promise<Deployment> => {
    const { botId, environment, source } = request;
    const id = makeId('dep');
    const report = readDefinition(source, { envNames: Object.keys(variables) });
    const { definition } = report;
    const attempt = { ...request, id, deployedAt: new Date() };
    if (definition === null) {
      const { diagnostics } = report;
      return tx.deployment.create({ data: { ...attempt, status: 'FAILED', diagnostics } });
    }
    const deployment = await tx.deployment.create({
      data: {
        ...attempt,
        status: 'DEPLOYED',
        diagnostics: [...report.diagnostics, ...unavailable(definition)],
        channels: definition.channels.some(({ type }) => type === 'web') ? ['WEB'] : [],
        envNames: Object.keys(variables).sort(),
        envVars: cipher.encrypt(id, variables),
      },
    });
    await tx.activeDeployment.upsert({
      where: { botId_environment: { botId, environment } },
      create: { botId, environment, deploymentId: id },
      update: { deploymentId: id, version: { increment: 1 } },
    });
    return deployment;
  };

  return {
    deploy: ({ envVars, unsetEnvVars, ...request }) =>
      inTurn(request.botId, async (tx) => {
        const current = await currentVariables(tx, request.botId, request.environment);
        const variables = { ...current, ...envVars };
        for (const name of unsetEnvVars) delete variables[name];
        return install(tx, { ...request, variables });
      }),

    rollback: (request) =>
      inTurn(request.botId, async (tx) => {
        const target = await find(tx, request);
        const { botId, message } = request;
        const { environment, source, id: rolledBackToId } = target;
        const variables = variablesOf(target);
        return install(tx, { botId, message, environment, source, variables, rolledBackToId });
      }),

    promote: (request) =>
      inTurn(request.botId, async (tx) => {
        const { environment, source } = await find(tx, request);
        if (environment !== 'STAGING') {
          throw new GatewayError(
            'deployment_not_deployable',
            `The deployment "${request.deploymentId}" is not one of staging.`,
          );
        }
        const { botId, message } = request;
        const variables = await currentVariables(tx, botId, 'PRODUCTION');
        return install(tx, { botId, message, environment: 'PRODUCTION', source, variables });
      }),
  };
}

/** What is to be said of a deployment: what the language says of its source, and what deploying adds. */
const deploymentDiagnostics = z.array(
  z.object({
    severity: z.enum(['ERROR', 'WARNING']),
    code: z.string(),
    message: z.string(),
    line: z.int(),
    column: z.int(),
  }),
);

export type DeploymentDiagnostic = z.infer<typeof deploymentDiagnostics>[number];

/** Reads the diagnostics of a stored deployment. */
export function readDiagnostics(stored: unknown): DeploymentDiagnostic[] {
  return deploymentDiagnostics.parse(stored);
}

/** What a definition names and nothing here can connect to. */
function unavailable({ channels, tools }: Definition): DeploymentDiagnostic[] {
  const warn = (code: string, message: string): DeploymentDiagnostic => ({
    severity: 'WARNING',
    code,
    message,
    line: 1,
    column: 1,
  });
  return [
    ...channels
      .filter(({ type }) => type !== 'web')
      .map(({ type }) => warn('channel-unavailable', `the channel ${type} cannot be connected`)),
    ...tools
      .filter(({ type }) => type === 'mcp')
      .map(({ name }) => warn('tools-unavailable', `the tools of ${name} cannot be connected`)),
  ];
}
