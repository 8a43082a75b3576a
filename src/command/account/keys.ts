import { rm } from 'node:fs/promises';
import { CreateKey, KeyList, RevokeKey, Viewer } from '../../generated/operations/command.ts';
import { createPrivateFile } from '../../storage/private-file.ts';
import { toUpperCase } from '../../vocabulary/names.ts';
import { SCOPE_NAMES, type Scope } from '../../vocabulary/scopes.ts';
import type { Context } from '../context.ts';
import { Refusal, systemCode, UsageError } from '../errors.ts';
import { connect } from '../server/connection.ts';
import { openPrompts } from '../terminal/prompts.ts';
import { textTable } from '../terminal/text-table.ts';
import { localTime } from '../terminal/units.ts';
import { expiryOf } from './expiry.ts';

/** Lists the keys of the account. Secrets are never listed. */
export async function listKeys(context: Context): Promise<void> {
  const { terminal, print, signal } = context;
  const { graphql } = await connect(context);
  const { viewer } = await graphql.run(KeyList, {}, signal);
  const keys = viewer.account.apiKeys.map((key) => ({
    ...key,
    scopes: key.scopes.map((scope) => scope.toLowerCase()),
    bots: key.bots?.map(({ id }) => id) ?? null,
  }));
  await print(keys, () =>
    textTable(
      [
        { title: 'ID', paint: terminal.style.bold },
        { title: 'NAME' },
        { title: 'KEY' },
        { title: 'SCOPES' },
        { title: 'LAST USED' },
        { title: 'STATE' },
        { title: 'BOTS' },
      ],
      keys.map((key) => [
        key.id,
        key.name,
        `${key.prefix}…`,
        key.scopes.join(','),
        localTime(key.lastUsedAt) || 'never',
        stateOf(key),
        key.bots?.join(',') ?? 'all',
      ]),
      terminal,
    ),
  );
}

function stateOf({
  revokedAt,
  expiresAt,
}: {
  revokedAt: string | null;
  expiresAt: string | null;
}): string {
  if (revokedAt !== null) return `revoked ${localTime(revokedAt)}`;
  if (expiresAt === null) return 'valid';
  const isOver = Date.parse(expiresAt) <= Date.now();
  return `${isOver ? 'expired' : 'valid until'} ${localTime(expiresAt)}`;
}

type KeyOptions = {
  scopes: readonly string[];
  bots: readonly string[];
  expires: string | undefined;
  /** The new file for the secret; none: it is printed. */
  output: string | undefined;
};

/** Creates a key, and prints or writes its secret, which the server never shows again. */
export async function createKey(
  name: string,
  { scopes, bots, expires, output }: KeyOptions,
  context: Context,
) {
  const { terminal, print, signal } = context;
  const input = {
    name,
    ...(scopes.length > 0 && { scopes: scopes.map(scopeOf) }),
    ...(bots.length > 0 && { botIds: [...bots] }),
    ...(expires !== undefined && { expiresAt: expiryOf(expires) }),
  };
  const { graphql, forBot } = await connect(context);
  const create = async () => {
    const { createApiKey } = await forBot(bots[0] ?? '', () =>
      graphql.run(CreateKey, { input }, signal),
    );
    if (!createApiKey) throw new Refusal('The server returned no key.');
    return createApiKey;
  };
  if (output !== undefined) {
    const { apiKey } = await writeSecret(output, create);
    const written = { id: apiKey.id, name: apiKey.name, output, expiresAt: apiKey.expiresAt };
    return print(written, () => `The key ${apiKey.id} is in ${output}.`);
  }
  const { secret, apiKey } = await create();
  await print(
    { id: apiKey.id, name: apiKey.name, secret, expiresAt: apiKey.expiresAt },
    () => secret,
  );
  terminal.progress(`The key "${name}" (${apiKey.id}) is shown only once. Store it now.`);
}

/** Makes the file before the key, so that a wrong path makes no key. */
async function writeSecret<Made extends { secret: string; apiKey: { id: string } }>(
  path: string,
  create: () => Promise<Made>,
): Promise<Made> {
  const file = await createPrivateFile(path).catch((error: unknown) => {
    const reason = systemCode(error) === 'EEXIST' ? 'it exists' : systemCode(error);
    throw new Refusal(`${path} cannot be written: ${reason ?? 'unknown error'}. No key was made.`, {
      cause: error,
    });
  });
  try {
    const made = await create();
    await file
      .writeFile(`${made.secret}\n`)
      .then(() => file.sync())
      .catch((error: unknown) => {
        throw lostSecret(made.apiKey.id, path, error);
      });
    return made;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** The secret of a key is lost, but the key is valid. */
function lostSecret(id: string, path: string, cause: unknown): Refusal {
  const reason = `The key ${id} was made, but ${path} cannot be written: ${systemCode(cause) ?? 'unknown error'}.`;
  return new Refusal(`${reason} Revoke the key: parley keys revoke ${id}`, { cause });
}

function scopeOf(text: string): Scope {
  const scope = SCOPE_NAMES.find((one) => one === text);
  if (scope === undefined) throw new UsageError(`There is no scope "${text}".`);
  return toUpperCase(scope);
}

/** Revokes a key for ever. Revoking the key in use asks first, or needs `yes`. */
export async function revokeKey(id: string, { yes }: { yes: boolean }, context: Context) {
  const { terminal, print, signal } = context;
  const { graphql } = await connect(context);
  const { viewer } = await graphql.run(Viewer, {}, signal);
  if (viewer.apiKey.id === id && !yes) {
    if (!terminal.canAsk)
      throw new UsageError('This is the key that the command uses. To revoke it, add --yes.');
    const { confirm } = await openPrompts(terminal);
    if (!(await confirm('This is the key that the command uses. Revoke it?')))
      throw new Refusal('The key was not revoked.');
  }
  const { revokeApiKey } = await graphql.run(RevokeKey, { id }, signal);
  await print(revokeApiKey, () => `Revoked the key ${id}.`);
}
