import { hash } from 'node:crypto';
import { GatewayError } from '../errors/errors.ts';
import type { PrismaClient, SignInCode } from '../generated/prisma/client.ts';
import type { Caller, ConsoleSessionRef } from './caller.ts';
import type { KeyLookups, KeyOrigin } from './key-lookup.ts';
import type { Keys } from './keys.ts';
import { createSignedSecrets } from './signed-secrets.ts';

const LIFETIME_MS = 15 * 60 * 1_000;
/** The beginning of a code. */
const PREFIX = 'parley_si_';

/**
 * Codes that sign in to the console in place of a key. Each works once, within 15 minutes. Only their hashes are stored.
 * A code is signed, so that a guessed one is refused without a look-up.
 */
export type SignInCodes = {
  /**
   * Issues a code with the rights of a key.
   *
   * @param session the console session that asks for the code, if one does. The code ends with it.
   */
  issue(keyId: string, session?: ConsoleSessionRef): Promise<string>;
  /**
   * Reads whom a code signs in, without using it up.
   *
   * @throws GatewayError `invalid_api_key` if the code is unknown, used or expired, or if its key or its session has ended.
   */
  inspect(code: string, origin?: KeyOrigin): Promise<Caller>;
  /**
   * Uses an inspected code up. Of several concurrent uses, one succeeds.
   *
   * @throws GatewayError `invalid_api_key` for the others.
   */
  redeem(code: string): Promise<void>;
};

export function createSignInCodes({
  prisma,
  keys,
  lookUps,
  secretKeys,
  now = Date.now,
}: {
  prisma: PrismaClient;
  keys: Pick<Keys, 'find'>;
  lookUps: KeyLookups;
  /** The secret key, then the previous ones. They sign the codes. */
  secretKeys: Uint8Array[];
  now?: (() => number) | undefined;
}): SignInCodes {
  const codes = createSignedSecrets(secretKeys, PREFIX);
  /** Matches codes that have not ended. */
  const current = () => {
    const expiresAt = { gt: new Date(now()) };
    return { expiresAt, OR: [{ sessionHash: null }, { session: { expiresAt } }] };
  };
  const lookUp = lookUps<SignInCode>({
    findOne: (id) => prisma.signInCode.findUnique({ where: { hash: id, ...current() } }),
    findMany: async (hashes) => {
      const where = { hash: { in: hashes }, ...current() };
      const rows = await prisma.signInCode.findMany({ where });
      return new Map(rows.map((row) => [row.hash, row]));
    },
  });

  return {
    async issue(keyId, session) {
      const code = codes.make();
      const end = Math.min(now() + LIFETIME_MS, session?.endsAt.getTime() ?? Infinity);
      const row = { hash: hash('sha256', code), keyId, expiresAt: new Date(end) };
      await prisma.signInCode.deleteMany({ where: { expiresAt: { lte: new Date(now()) } } });
      await prisma.signInCode.create({ data: { ...row, sessionHash: session?.hash ?? null } });
      return code;
    },

    async inspect(code, origin = {}) {
      const found = codes.isOwn(code) ? await lookUp(hash('sha256', code), origin) : undefined;
      if (!found) throw spent();
      return keys.find(found.keyId, origin);
    },

    async redeem(code) {
      const where = { hash: hash('sha256', code), ...current() };
      const { count } = await prisma.signInCode.deleteMany({ where });
      if (count === 0) throw spent();
    },
  };
}

function spent(): GatewayError {
  const message = 'This sign-in link has expired or was already used. Paste an API key.';
  return new GatewayError('invalid_api_key', message);
}
