import { LRUCache } from 'lru-cache';
import { REMEMBER_MS, rememberFor } from '../coordination/cache-versions.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Environment, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { Definition } from '../language/definition.ts';
import { readDefinition } from '../language/read.ts';
import { createRedactor, type Redactor } from '../redaction/redact.ts';
import { retryInRequest } from '../storage/retry.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';
import { turnFor } from './read-source.ts';

/** An active deployment, decrypted and parsed. */
export type RunningDeployment = {
  deploymentId: string;
  /** Whether the definition is not deployed, so that no deployment has the id. */
  isDraft?: boolean;
  accountId: string;
  definition: Definition;
  variables: EnvironmentVariables;
  /** Redacts the values of `variables` from output. */
  redactor: Redactor;
};

/** Finds the active deployments of bots. */
export type ActiveDeployments = {
  /**
   * @param version the bot's cache version, if the caller knows it. A result for the same version comes from the cache.
   * @throws GatewayError `bot_not_deployed` if the environment has no deployment, or if its source is not valid in this
   *   version of Parley.
   */
  find(botId: string, environment: Environment, version?: string): Promise<RunningDeployment>;
  /**
   * Loads stored deployments by their ids, with at most one statement.
   *
   * @throws GatewayError `bot_not_deployed` if a source is not valid in this version of Parley.
   */
  loadAll(deploymentIds: string[]): Promise<Map<string, RunningDeployment>>;
  /** Like `loadAll`, but leaves out deployments whose sources are not valid in this version of Parley. */
  loadValid(deploymentIds: string[]): Promise<Map<string, RunningDeployment>>;
};

/** The columns of a deployment that a run needs. */
const STORED = {
  id: true,
  source: true,
  envVars: true,
  bot: { select: { accountId: true } },
} as const;

type StoredDeployment = Prisma.DeploymentGetPayload<{ select: typeof STORED }>;

const CACHE_SIZE = 1_000;
/** The approximate memory limit of cached definitions and redactors. */
const CACHE_BYTES = 128 * 1024 * 1024;
/** The approximate memory of a definition for each character of its source. */
const BYTES_PER_CHARACTER = 8;

export function createActiveDeployments({
  prisma,
  cipher,
}: {
  prisma: PrismaClient;
  cipher: EnvironmentCipher;
}): ActiveDeployments {
  /** The active deployment by bot and environment, with the cache version at which it was read. */
  const active = new LRUCache<string, { deploymentId: string; version: string }>({
    max: CACHE_SIZE,
    ttl: REMEMBER_MS,
  });
  /** By deployment id. A stored deployment never changes. */
  const deployments = new LRUCache<string, RunningDeployment>({
    max: CACHE_SIZE,
    maxSize: CACHE_BYTES,
  });

  /** @throws GatewayError `bot_not_deployed` if the source is not valid in this version of Parley. */
  const open = async ({
    id: deploymentId,
    source,
    envVars,
    bot,
  }: StoredDeployment): Promise<RunningDeployment> => {
    await turnFor(source);
    const { definition, diagnostics } = readDefinition(source, { isDeployed: true });
    if (definition === null) {
      const problem = diagnostics.find(({ severity }) => severity === 'ERROR');
      const where = problem ? `${problem.line}:${problem.column} [${problem.code}]` : 'its source';
      throw new GatewayError(
        'bot_not_deployed',
        `The deployment "${deploymentId}" is not valid in this version of Parley, see ${where}: deploy a valid definition.`,
      );
    }
    const variables = envVars ? cipher.decrypt(deploymentId, envVars) : {};
    const { accountId } = bot;
    const size = 1 + source.length * BYTES_PER_CHARACTER;
    let redactor: Redactor | undefined;
    const deployment = {
      deploymentId,
      accountId,
      definition,
      variables,
      // Made for the first run, because it may take megabytes. Readers of definitions need none.
      get redactor() {
        if (redactor) return redactor;
        redactor = createRedactor(variables);
        if (deployments.has(deploymentId))
          deployments.set(deploymentId, deployment, { size: size + redactor.size });
        return redactor;
      },
    };
    deployments.set(deploymentId, deployment, { size });
    return deployment;
  };

  const load = async (id: string): Promise<RunningDeployment> =>
    deployments.get(id) ??
    open(
      await retryInRequest(() =>
        prisma.deployment.findUniqueOrThrow({ where: { id }, select: STORED }),
      ),
    );

  const loadAll = async (
    ids: string[],
    read: (stored: StoredDeployment) => Promise<RunningDeployment | undefined>,
  ) => {
    const known = ids.flatMap((id) => deployments.get(id) ?? []);
    const unknown = ids.filter((id) => !deployments.has(id));
    const where = { id: { in: unknown } };
    const stored =
      unknown.length > 0 ? await prisma.deployment.findMany({ where, select: STORED }) : [];
    const found = new Map(known.map((one) => [one.deploymentId, one]));
    for (const one of stored) {
      const opened = await read(one);
      if (opened) found.set(one.id, opened);
    }
    return found;
  };

  return {
    loadAll: (ids) => loadAll(ids, open),

    loadValid: (ids) =>
      loadAll(ids, (stored) =>
        open(stored).catch((error) => {
          if (error instanceof GatewayError) return undefined;
          throw error;
        }),
      ),

    async find(botId, environment, version) {
      const name = `${botId} ${environment}`;
      const known = active.get(name);
      if (known && known.version === version) return load(known.deploymentId);
      const where = { botId_environment: { botId, environment } };
      const select = { deploymentId: true };
      const readAt = performance.now();
      const found = await retryInRequest(() =>
        prisma.activeDeployment.findUnique({ where, select }),
      );
      if (found === null) {
        throw new GatewayError(
          'bot_not_deployed',
          `The bot "${botId}" has no deployment in ${environment.toLowerCase()} yet.`,
        );
      }
      const { deploymentId } = found;
      if (version !== undefined)
        active.set(name, { deploymentId, version }, { ttl: rememberFor(readAt) });
      return load(deploymentId);
    },
  };
}
