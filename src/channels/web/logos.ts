import type { KeyLookups, KeyOrigin } from '../../accounts/key-lookup.ts';
import type { BotLogo, PrismaClient } from '../../generated/prisma/client.ts';
import { botId as botIdSchema } from '../../text/input.ts';

/** Finds the logo of a bot. Only a client that knows the hash finds it, so that a search tells nothing of other bots. */
export type FindLogo = (
  botId: string,
  hash: string,
  origin?: KeyOrigin,
) => Promise<BotLogo | undefined>;

const HASH = /^[\da-f]{32}$/;

/** The address of a logo, relative to the server. It changes with the logo. */
export function logoUrlOf({ id, logoHash }: { id: string; logoHash: string | null }) {
  return logoHash === null ? undefined : `/chat/${id}/logo/${logoHash}`;
}

export function createFindLogo({
  prisma,
  lookUps,
}: {
  prisma: PrismaClient;
  lookUps: KeyLookups;
}): FindLogo {
  const lookUp = lookUps({
    findOne: (key) => {
      const [botId = '', hash = ''] = key.split('/');
      return prisma.botLogo.findUnique({ where: { botId, hash } });
    },
    findMany: async (keys) => {
      const [botIds, hashes] = [0, 1].map((part) => keys.map((key) => key.split('/')[part] ?? ''));
      const where = { botId: { in: botIds }, hash: { in: hashes } };
      const logos = await prisma.botLogo.findMany({ where });
      return new Map(logos.map((logo) => [`${logo.botId}/${logo.hash}`, logo]));
    },
  });
  return async (botId, hash, origin = {}) => {
    const isPossible = botIdSchema.safeParse(botId).success && HASH.test(hash);
    return isPossible ? lookUp(`${botId}/${hash}`, origin) : undefined;
  };
}
