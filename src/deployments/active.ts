import { LRUCache } from 'lru-cache';
import { GatewayError } from '../errors.ts';
import type { Environment, PrismaClient } from '../generated/prisma/client.ts';
import type { Definition } from '../language/definition.ts';
import { readDefinition } from '../language/read.ts';

/** A definition that runs, and the deployment that it came with. */
export type RunningDefinition = { deploymentId: string; definition: Definition };

/** What the bots run now. */
export type ActiveDeployments = {
  /** @throws GatewayError `bot_not_deployed` where nothing was deployed to that environment. */
  find(botId: string, environment: Environment): Promise<RunningDefinition>;
};

const CACHE_SIZE = 1_000;

export function createActiveDeployments({ prisma }: { prisma: PrismaClient }): ActiveDeployments {
  /** By deployment: which one runs is asked each time, what it says never changes. */
  const definitions = new LRUCache<string, Definition>({ max: CACHE_SIZE });

  const definitionOf = async (deploymentId: string): Promise<Definition> => {
    const known = definitions.get(deploymentId);
    if (known) return known;
    const { source } = await prisma.deployment.findUniqueOrThrow({
      where: { id: deploymentId },
      select: { source: true },
    });
    const { definition } = readDefinition(source);
    if (definition === null)
      throw new Error(`The source of ${deploymentId} cannot be read any more.`);
    definitions.set(deploymentId, definition);
    return definition;
  };

  return {
    async find(botId, environment) {
      const active = await prisma.activeDeployment.findUnique({
        where: { botId_environment: { botId, environment } },
        select: { deploymentId: true },
      });
      if (active === null) {
        throw new GatewayError(
          'bot_not_deployed',
          `The bot "${botId}" has no deployment in ${environment.toLowerCase()} yet.`,
        );
      }
      const { deploymentId } = active;
      return { deploymentId, definition: await definitionOf(deploymentId) };
    },
  };
}
