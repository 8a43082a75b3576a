import type { Caller } from '../accounts/caller.ts';
import { MAX_BOTS } from '../bots/bots.ts';
import { visibleInList } from '../bots/visible-bots.ts';
import { GatewayError } from '../errors/errors.ts';
import { type Environment, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { retryInRequest } from '../storage/retry.ts';
import { ENVIRONMENT_NAMES } from '../vocabulary/environments.ts';

/** A bot in an environment in which it is deployed. */
export type DeployedBot = {
  botId: string;
  environment: Environment;
  /** When the bot was created. */
  createdAt: Date;
};

/** Entries that an account has at most: each bot in each environment. */
export const MAX_DEPLOYED_BOTS = MAX_BOTS * ENVIRONMENT_NAMES.length;

/** Finds what a caller can talk to. */
export type DeployedBots = {
  /** The deployed bots that the caller's key may use, newest first, each with its environments. */
  list(caller: Caller): Promise<DeployedBot[]>;
  /** @throws GatewayError `model_not_found` if the key may not use such a bot, or if it is not deployed there. */
  find(caller: Caller, botId: string, environment: Environment): Promise<DeployedBot>;
};

export function createDeployedBots({ prisma }: { prisma: PrismaClient }): DeployedBots {
  const read = (conditions: Prisma.Sql[]) =>
    retryInRequest(
      () => prisma.$queryRaw<DeployedBot[]>`
        SELECT bots.id AS "botId", active_deployments.environment::text AS environment,
          bots.created_at AS "createdAt"
        FROM bots JOIN active_deployments ON bot_id = bots.id
        WHERE ${Prisma.join(conditions, ' AND ')}
        ORDER BY bots.created_at DESC, bots.id, active_deployments.environment
        LIMIT ${MAX_DEPLOYED_BOTS}`,
    );

  return {
    list: (caller) => read(visibleInList(caller)),

    async find(caller, botId, environment) {
      const ofBot = Prisma.sql`bots.id = ${botId}`;
      const deployed = Prisma.sql`active_deployments.environment = ${environment}::"Environment"`;
      const [found] = await read([...visibleInList(caller), ofBot, deployed]);
      if (found) return found;
      throw new GatewayError(
        'model_not_found',
        `This API key has no bot "${botId}" that is deployed in ${environment.toLowerCase()}.`,
      );
    },
  };
}
