import { GatewayError, notFound } from '../errors/errors.ts';
import type { ApiKey, KeyScope, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { databaseTime } from '../storage/moment.ts';
import { actorOf, recordChanges } from './audit.ts';
import { type Caller, covers } from './caller.ts';
import { assertGrantable, outlives } from './grants.ts';
import { makeApiKey } from './key-format.ts';
import { findDescendants, lockAccount, makeRoom } from './key-lineage.ts';
import { keepingLastKey } from './last-key.ts';
import { type IssuedApiKey, type NewApiKey, newApiKey } from './new-key.ts';

/** Changes to a key. Omitted fields stay as they are. */
export type ApiKeyChanges = {
  name?: string | null | undefined;
  scopes?: KeyScope[] | null | undefined;
  /** `null`: every bot of the account. */
  botIds?: string[] | null | undefined;
  /** `null`: never. */
  expiresAt?: Date | null | undefined;
};

/**
 * Changes to the keys of the caller's account. The caller's key must have every right of the key that it changes. All of
 * them throw GatewayError `invalid_api_key` if the caller's own key has ended in the meantime; `update`, `rotate` and
 * `revoke` throw `not_found` for a key that does not exist or has more rights than the caller's.
 */
export type KeyChanges = {
  /**
   * Issues a key.
   *
   * @throws GatewayError if the new key would have more rights than the caller's, if it is restricted to a bot that does
   *   not belong to the account, or if the account has too many keys.
   */
  issue(caller: Caller, input: NewApiKey): Promise<IssuedApiKey>;
  /**
   * Changes a key from its next request on, on every replica. Streams of a key that loses a right end.
   *
   * @throws GatewayError as `issue`; `invalid_request` for a key that has ended, and for the account's last key with
   *   the scope `ADMIN` or `OPERATOR` that would lose it.
   */
  update(caller: Caller, id: string, changes: ApiKeyChanges): Promise<ApiKey>;
  /**
   * Issues a key with the same rights, and ends the old one.
   *
   * @param overlapHours how long the old key stays valid. With 0 it is revoked at once.
   * @throws GatewayError as `issue`; `invalid_request` for a key that has ended, or that outlives the caller's.
   */
  rotate(caller: Caller, id: string, overlapHours: number): Promise<IssuedApiKey>;
  /**
   * Revokes a key. From then on no replica serves a request with it. A key that is already revoked stays unchanged.
   *
   * @param withCreated whether to revoke, in the same transaction, all keys that it created directly or through others,
   *   except keys with more rights than the caller's.
   * @throws GatewayError `invalid_request` for the account's last key with the scope `ADMIN` or `OPERATOR`.
   */
  revoke(caller: Caller, id: string, withCreated?: boolean): Promise<ApiKey>;
};

type Parts = {
  prisma: PrismaClient;
  now: () => number;
  /** Called after each change, with the keys that it ended or changed. */
  announce(accountId: string, changed: { ended?: ApiKey[]; updated?: ApiKey[] }): Promise<void>;
};

const HOUR_MS = 60 * 60 * 1_000;

export function createKeyChanges({ prisma, now, announce }: Parts): KeyChanges {
  /** Makes a change under the account's lock, with the caller's rights of that moment. */
  const change = <Result>(
    caller: Caller,
    work: (tx: Prisma.TransactionClient, current: Caller) => Promise<Result>,
  ) =>
    prisma.$transaction(async (tx) => {
      await lockAccount(tx, caller.account.id);
      const { account, ...key } = await readOwnKey(tx, caller, now());
      return work(tx, { ...caller, account, key });
    });

  return {
    async issue(caller, { name, scopes, botIds, expiresAt }) {
      const secret = makeApiKey();
      const apiKey = await change(caller, async (tx, current) => {
        const { account, key } = current;
        const granted = {
          scopes: [...new Set(scopes ?? ['CHAT' as const])],
          botIds: botIds ?? (key.restricted ? key.botIds : null),
          expiresAt: expiresAt ?? key.expiresAt,
        };
        await assertGrantable(tx, current, granted);
        await makeRoom(tx, account.id);
        const row = newApiKey(account.id, secret, { name, ...granted });
        const change = { action: 'CREATE_API_KEY', targetId: row.id } as const;
        await recordChanges(tx, actorOf(current), change);
        return tx.apiKey.create({ data: { ...row, createdById: key.id } });
      });
      return { apiKey, secret };
    },

    async update(caller, id, { name, scopes, botIds, expiresAt }) {
      const accountId = caller.account.id;
      const updated = await change(caller, async (tx, current) => {
        const found = await findCovered(tx, current, id);
        if (hasEnded(found, now())) throw hasEndedAlready(id);
        const granted = { scopes: scopes ?? undefined, botIds, expiresAt };
        await assertGrantable(tx, current, granted);
        const rights = {
          scopes: scopes ? [...new Set(scopes)] : found.scopes,
          ...(botIds !== undefined && { restricted: botIds !== null, botIds: botIds ?? [] }),
        };
        const isNarrower = !covers({ ...caller, key: { ...found, ...rights } }, found);
        const data = {
          name: name ?? found.name,
          ...rights,
          ...(expiresAt !== undefined && { expiresAt }),
          ...(isNarrower && { narrowedAt: new Date(now()) }),
        };
        await recordChanges(tx, actorOf(current), { action: 'UPDATE_API_KEY', targetId: id });
        return keepingLastKey(tx, accountId, now(), () =>
          tx.apiKey.update({ where: { id }, data }),
        );
      });
      await announce(accountId, { updated: [updated] });
      return updated;
    },

    async rotate(caller, id, overlapHours) {
      const accountId = caller.account.id;
      const secret = makeApiKey();
      const { apiKey, replaced } = await change(caller, async (tx, current) => {
        const found = await findCovered(tx, current, id);
        if (hasEnded(found, now())) throw hasEndedAlready(id);
        const { name, scopes, restricted, botIds, expiresAt } = found;
        if (outlives(expiresAt, current.key)) throw outlivesCaller(id);
        await makeRoom(tx, accountId);
        const rights = { name, scopes, botIds: restricted ? botIds : null, expiresAt };
        const row = newApiKey(accountId, secret, rights);
        await recordChanges(
          tx,
          actorOf(current),
          { action: 'ROTATE_API_KEY', targetId: id },
          { action: 'CREATE_API_KEY', targetId: row.id },
        );
        const end = new Date((await databaseTime(tx)) + overlapHours * HOUR_MS);
        const isSooner = expiresAt === null || end < expiresAt;
        const data = overlapHours === 0 ? { revokedAt: end } : isSooner ? { expiresAt: end } : {};
        return {
          apiKey: await tx.apiKey.create({ data: { ...row, createdById: current.key.id } }),
          replaced: await tx.apiKey.update({ where: { id }, data }),
        };
      });
      await announce(
        accountId,
        replaced.revokedAt ? { ended: [replaced] } : { updated: [replaced] },
      );
      return { apiKey, secret };
    },

    async revoke(caller, id, withCreated = false) {
      const accountId = caller.account.id;
      const revoked = await change(caller, async (tx, current) => {
        await findCovered(tx, current, id);
        const created = withCreated ? await findCoveredBelow(tx, current, id) : [];
        const where = { id: { in: [id, ...created] } };
        const data = { revokedAt: new Date(await databaseTime(tx)) };
        const ended = await keepingLastKey(tx, accountId, now(), () =>
          tx.apiKey.updateManyAndReturn({
            where: { ...where, revokedAt: null },
            data,
            select: { id: true },
          }),
        );
        const changes = ended.map(
          (key) => ({ action: 'REVOKE_API_KEY', targetId: key.id }) as const,
        );
        await recordChanges(tx, actorOf(current), ...changes);
        return tx.apiKey.findMany({ where });
      });
      await announce(accountId, { ended: revoked });
      const key = revoked.find((one) => one.id === id);
      if (!key) throw notFound('API key', id);
      return key;
    },
  };
}

/** @throws GatewayError `not_found`, also if the key has more rights than the caller's. */
async function findCovered(
  tx: Prisma.TransactionClient,
  caller: Caller,
  id: string,
): Promise<ApiKey> {
  const found = await tx.apiKey.findFirst({ where: { id, accountId: caller.account.id } });
  if (found === null || !covers(caller, found)) throw notFound('API key', id);
  return found;
}

/** The ids of the keys that a key has created, directly or through others, without keys with more rights than the caller's. */
async function findCoveredBelow(
  tx: Prisma.TransactionClient,
  caller: Caller,
  id: string,
): Promise<string[]> {
  const ids = await findDescendants(tx, id);
  const keys = await tx.apiKey.findMany({ where: { id: { in: ids } } });
  return keys.filter((key) => covers(caller, key)).map((key) => key.id);
}

/** The caller's key as it is now. @throws GatewayError `invalid_api_key` if it has ended, or its account is suspended. */
export async function readOwnKey(
  tx: Prisma.TransactionClient,
  { key: { id } }: Caller,
  now: number,
) {
  const found = await tx.apiKey.findUnique({ where: { id }, include: { account: true } });
  if (found === null || hasEnded(found, now) || found.account.suspendedAt) throw invalidKey();
  return found;
}

/** Whether a key is revoked or expired. */
export function hasEnded(
  { revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): boolean {
  return revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= now);
}

export function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'This API key is not valid.');
}

function hasEndedAlready(id: string): GatewayError {
  return new GatewayError('invalid_request', `The API key "${id}" is revoked or expired.`);
}

function outlivesCaller(id: string): GatewayError {
  const message = `The API key "${id}" expires later than the key of this request.`;
  return new GatewayError('invalid_request', message);
}
