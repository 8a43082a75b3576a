import { hash, randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { PrismaClient, SignInCode } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { createKeyLookup, type KeyOrigin } from './key-lookup.ts';
import type { Keys } from './keys.ts';

const LIFETIME_MS = 15 * 60 * 1_000;

/** Codes that sign in to the console in place of a key. Each works once, within 15 minutes. Only their hashes are stored. */
export type SignInCodes = {
  /** Issues a code with the rights of a key. */
  issue(keyId: string): Promise<string>;
  /**
   * Uses a code up. Of several concurrent uses, one succeeds.
   *
   * @throws GatewayError `invalid_api_key` if the code is unknown, used or expired, or if its key has ended.
   */
  redeem(code: string, origin?: KeyOrigin): Promise<Caller>;
};

export function createSignInCodes({
  prisma,
  keys,
  now = Date.now,
}: {
  prisma: PrismaClient;
  keys: Pick<Keys, 'find'>;
  now?: (() => number) | undefined;
}): SignInCodes {
  const lookUp = createKeyLookup<SignInCode>({
    findOne: (id) => prisma.signInCode.findUnique({ where: { hash: id } }),
    findMany: async (hashes) => {
      const rows = await prisma.signInCode.findMany({ where: { hash: { in: hashes } } });
      return new Map(rows.map((row) => [row.hash, row]));
    },
  });

  return {
    async issue(keyId) {
      const code = randomBytes(24).toString('base64url');
      const expiresAt = new Date(now() + LIFETIME_MS);
      await prisma.signInCode.deleteMany({ where: { expiresAt: { lte: new Date(now()) } } });
      await prisma.signInCode.create({ data: { hash: hash('sha256', code), keyId, expiresAt } });
      return code;
    },

    async redeem(code, origin = {}) {
      const id = hash('sha256', code);
      if (!(await lookUp(id, origin))) throw spent();
      const [used] = await prisma.$queryRaw<{ keyId: string; expiresAt: Date }[]>`
        DELETE FROM sign_in_codes WHERE hash = ${id}
        RETURNING key_id AS "keyId", expires_at AS "expiresAt"`;
      if (!used || used.expiresAt.getTime() <= now()) throw spent();
      return keys.find(used.keyId);
    },
  };
}

function spent(): GatewayError {
  const message = 'This sign-in link has expired or was already used. Paste an API key.';
  return new GatewayError('invalid_api_key', message);
}
