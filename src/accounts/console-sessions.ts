import { hash } from 'node:crypto';
import type { PubSub } from '../coordination/pubsub.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ConsoleSession, PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import { retryInRequest } from '../storage/retry.ts';
import type { Caller } from './caller.ts';
import type { KeyLookups, KeyOrigin } from './key-lookup.ts';
import type { Changed, KeyWatchers } from './key-watchers.ts';
import type { Keys } from './keys.ts';
import { createSignedSecrets } from './signed-secrets.ts';

/** Maximum time between two uses of a session. */
const IDLE_MS = 12 * 60 * 60 * 1_000;
/** Maximum lifetime of a session, in seconds. */
export const MAX_SESSION_SECONDS = 7 * 24 * 60 * 60;
/** A use within this time after the last recorded one is not recorded. */
const USE_PRECISION_MS = 60_000;
/** Sessions of one key. The oldest one makes room. */
const MAX_OF_KEY = 100;

/** Channel on which the hashes of ended sessions are published. */
const ENDED = 'console-sessions:ended';

/** The beginning of a session's token. */
const PREFIX = 'parley_cs_';

/**
 * The console's sessions. A browser exchanges an API key for a session's token and does not keep the key. Only the hash
 * of a token is stored. A token is signed, so that a guessed one is refused without a look-up.
 */
export type ConsoleSessions = {
  /** Starts a session with the rights of the caller's key. @returns its token. */
  begin(caller: Caller): Promise<string>;
  /**
   * Authenticates a token and records the use. A session ends 12 hours after its last use, and 7 days after its start.
   *
   * @throws GatewayError `invalid_api_key` if the session or its key has ended.
   */
  verify(token: string, origin?: KeyOrigin): Promise<Caller>;
  /** Ends a session on every replica. @returns `false` if there is no such session. */
  end(token: string, origin?: KeyOrigin): Promise<boolean>;
  /** As `Keys.watch`. For a caller with a console session it also watches the end of the session. */
  watch: Keys['watch'];
};

type Parts = {
  prisma: PrismaClient;
  keys: Pick<Keys, 'find' | 'watch'>;
  pubsub: PubSub;
  watchers: Pick<KeyWatchers, 'add' | 'end'>;
  lookUps: KeyLookups;
  /** The secret key, then the previous ones. They sign the tokens. */
  secretKeys: Uint8Array[];
  log: Log;
  now?: (() => number) | undefined;
};

export function createConsoleSessions({
  prisma,
  keys,
  pubsub,
  watchers,
  lookUps,
  secretKeys,
  log,
  now = Date.now,
}: Parts): ConsoleSessions {
  const tokens = createSignedSecrets(secretKeys, PREFIX);
  const isOpen = ({ expiresAt }: ConsoleSession) => expiresAt.getTime() > now();
  const lookUp = lookUps<ConsoleSession>({
    isValid: isOpen,
    findOne: (id) =>
      retryInRequest(() => prisma.consoleSession.findUnique({ where: { hash: id } })),
    findMany: async (hashes) => {
      const rows = await prisma.consoleSession.findMany({ where: { hash: { in: hashes } } });
      return new Map(rows.map((row) => [row.hash, row]));
    },
  });

  const find = async (token: string, origin: KeyOrigin) =>
    tokens.isOwn(token) ? lookUp(hashOf(token), origin) : undefined;

  pubsub.subscribe(ENDED, watchers.end);

  const noteUse = ({ hash: id, createdAt, expiresAt }: ConsoleSession) => {
    const until = Math.min(now() + IDLE_MS, endOf(createdAt));
    if (until - expiresAt.getTime() < USE_PRECISION_MS) return;
    prisma.consoleSession
      .updateMany({ where: { hash: id }, data: { expiresAt: new Date(until) } })
      .catch((err: unknown) => log.error({ err }, 'Failed to extend a console session.'));
  };

  return {
    async begin({ key }) {
      const token = tokens.make();
      const createdAt = new Date(now());
      const expiresAt = new Date(now() + IDLE_MS);
      const row = { hash: hashOf(token), keyId: key.id, createdAt, expiresAt };
      await prisma.consoleSession.deleteMany({ where: { expiresAt: { lte: createdAt } } });
      await prisma.consoleSession.create({ data: row });
      const surplus = await prisma.consoleSession.findMany({
        where: { keyId: key.id },
        orderBy: { createdAt: 'desc' },
        skip: MAX_OF_KEY,
        select: { hash: true },
      });
      const hashes = surplus.map((old) => old.hash);
      await prisma.consoleSession.deleteMany({ where: { hash: { in: hashes } } });
      return token;
    },

    async verify(token, origin = {}) {
      const session = await find(token, origin);
      if (!session || !isOpen(session)) throw ended();
      const issuer = await keys.find(session.keyId, origin);
      noteUse(session);
      return callerOf(session, issuer);
    },

    async end(token, origin = {}) {
      const session = await find(token, origin);
      if (!session) return false;
      await prisma.consoleSession.deleteMany({ where: { hash: session.hash } });
      pubsub.publish(ENDED, session.hash);
      return true;
    },

    watch(caller, onEnd) {
      const { consoleSession } = caller;
      const unwatchKey = keys.watch(caller, onEnd);
      if (!consoleSession) return unwatchKey;
      const { hash: id, endsAt: expiresAt } = consoleSession;
      const unwatchSession = watchers.add({ hash: id, expiresAt }, onEnd);
      return () => {
        unwatchKey();
        unwatchSession();
      };
    },
  };
}

/** Finds the sessions among these hashes that were ended or not used for 12 hours. */
export async function findEndedSessions(
  prisma: PrismaClient,
  hashes: string[],
  now: number,
): Promise<Changed[]> {
  const rows = await prisma.consoleSession.findMany({
    where: { hash: { in: hashes }, expiresAt: { gt: new Date(now) } },
    select: { hash: true },
  });
  const open = new Set(rows.map((row) => row.hash));
  return hashes.filter((id) => !open.has(id)).map((id) => ({ hash: id, hasEnded: true }));
}

/** Returns the caller of a session: its key with its current rights. */
function callerOf(session: ConsoleSession, issuer: Caller): Caller {
  const { cacheEntry } = issuer;
  return {
    ...issuer,
    consoleSession: { hash: session.hash, endsAt: new Date(endOf(session.createdAt)) },
    ...(cacheEntry && {
      cacheEntry: {
        version: cacheEntry.version,
        renew: async (version) => callerOf(session, await cacheEntry.renew(version)),
      },
    }),
  };
}

function endOf(createdAt: Date): number {
  return createdAt.getTime() + MAX_SESSION_SECONDS * 1_000;
}

function hashOf(token: string): string {
  return hash('sha256', token);
}

function ended(): GatewayError {
  return new GatewayError('invalid_api_key', 'This session has ended. Sign in again.');
}
