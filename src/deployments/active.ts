import { LRUCache } from 'lru-cache';
import { REMEMBER_MS } from '../coordination/cache-versions.ts';
import { GatewayError } from '../errors.ts';
import type { Environment, PrismaClient } from '../generated/prisma/client.ts';
import type { Definition } from '../language/definition.ts';
import { readDefinition } from '../language/read.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';
import { createRedactor, type Redactor } from './redact.ts';

/** An active deployment, decrypted and parsed. */
export type RunningDeployment = {
  deploymentId: string;
  /** Whether the definition is not deployed, so that the id is not that of a deployment. */
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
   * Loads any stored deployment by id.
   *
   * @throws GatewayError `bot_not_deployed` if its source is not valid in this version of Parley.
   */
  load(deploymentId: string): Promise<RunningDeployment>;
};

const CACHE_SIZE = 1_000;
/** The approximate memory limit of cached definitions and redactors. */
const CACHE_BYTES = 256 * 1024 * 1024;
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

  const load = async (deploymentId: string): Promise<RunningDeployment> => {
    const known = deployments.get(deploymentId);
    if (known) return known;
    const { source, envVars, bot } = await prisma.deployment.findUniqueOrThrow({
      where: { id: deploymentId },
      select: { source: true, envVars: true, bot: { select: { accountId: true } } },
    });
    const { definition, diagnostics } = readDefinition(source);
    if (definition === null) {
      const problem = diagnostics.find(({ severity }) => severity === 'ERROR');
      const where = problem ? `${problem.line}:${problem.column} [${problem.code}]` : 'its source';
      throw new GatewayError(
        'bot_not_deployed',
        `The deployment "${deploymentId}" is not valid in this version of Parley, see ${where}: deploy a valid definition.`,
      );
    }
    const variables = envVars ? cipher.decrypt(deploymentId, envVars) : {};
    const redactor = createRedactor(variables);
    const { accountId } = bot;
    const deployment = { deploymentId, accountId, definition, variables, redactor };
    const size = 1 + source.length * BYTES_PER_CHARACTER + redactor.size;
    deployments.set(deploymentId, deployment, { size });
    return deployment;
  };

  return {
    load,

    async find(botId, environment, version) {
      const name = `${botId} ${environment}`;
      const known = active.get(name);
      if (known && known.version === version) return load(known.deploymentId);
      const found = await prisma.activeDeployment.findUnique({
        where: { botId_environment: { botId, environment } },
        select: { deploymentId: true },
      });
      if (found === null) {
        throw new GatewayError(
          'bot_not_deployed',
          `The bot "${botId}" has no deployment in ${environment.toLowerCase()} yet.`,
        );
      }
      const { deploymentId } = found;
      if (version !== undefined) active.set(name, { deploymentId, version });
      return load(deploymentId);
    },
  };
}
