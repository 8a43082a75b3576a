import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, inject, test } from 'vitest';
import { openPostgres } from '../../src/storage/database.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';

/** Answers each connection as PostgreSQL does after a wrong password. The test's own server may trust everybody. */
async function rejectPasswords(): Promise<string> {
  const fields = ['SFATAL', 'VFATAL', 'C28P01', 'Mpassword authentication failed for user "u"'];
  const body = Buffer.from(`${fields.join('\0')}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, body])));
  }).listen(0, '127.0.0.1');
  atTheEnd(() => void server.close());
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a refused connection is explained in one sentence', () => {
  test('that names the user, but not the password, after a wrong password', async () => {
    const host = await rejectPasswords();
    await expect(openPostgres(`postgresql://u%40x:hunter2@${host}/parley`)).rejects.toThrow(
      new RegExp(`^DATABASE_URL: PostgreSQL at ${host} rejects the password of the user "u@x"\\.$`),
    );
  });

  test.skipIf(!inject('databaseUrl'))('for a database that does not exist', async () => {
    const url = new URL(inject('databaseUrl'));
    url.pathname = '/parley_none';
    await expect(openPostgres(url.href)).rejects.toThrow(
      new RegExp(`^DATABASE_URL: PostgreSQL at ${url.host} has no database "parley_none"\\.$`),
    );
  });

  test.skipIf(!inject('databaseUrl'))('for a user that does not exist', async () => {
    const url = new URL(inject('databaseUrl'));
    url.username = 'parley_nobody';
    await expect(openPostgres(url.href)).rejects.toThrow(
      /^DATABASE_URL: PostgreSQL at \S+ (does not let|rejects the password of) the user "parley_nobody"/,
    );
  });
});
