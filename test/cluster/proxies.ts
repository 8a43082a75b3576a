import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../helpers/free-port.ts';
import { PASSWORD, ROLE } from './postgres.ts';
import { folder, listensOn, type Scope, startProgram } from './programs.ts';

/** HAProxy in front of servers, one of which is in use. */
export type Haproxy = {
  port: number;
  /**
   * Sends new connections to another server.
   *
   * @param cut whether the connections to the former one end; else they stay.
   */
  use(port: number, options: { cut: boolean }): Promise<void>;
  /** Ends all connections, and closes each new one until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
};

/** @param ports of the servers; the first one is in use. */
export async function startHaproxy(ports: number[], scope: Scope): Promise<Haproxy> {
  const directory = await folder(scope);
  const [port, control] = [await freePort(), join(directory, 'control')];
  const configuration = join(directory, 'haproxy.cfg');
  const servers = ports.map(
    (one, index) => `  server s${one} 127.0.0.1:${one} ${index > 0 ? 'disabled' : ''}`,
  );
  await writeFile(
    configuration,
    `global
  stats socket ${control} mode 600 level admin
defaults
  mode tcp
  timeout connect 2s
  timeout client 10m
  timeout server 10m
listen all
  bind 127.0.0.1:${port}
${servers.join('\n')}
`,
  );
  await startProgram('haproxy', ['-db', '-f', configuration], scope, () => listensOn(port));
  let current = ports[0] ?? 0;
  const command = async (line: string) => {
    const socket = connect(control);
    await once(socket, 'connect');
    socket.end(`${line}\n`);
    const answer = await text(socket);
    if (answer.trim() !== '') throw new Error(`HAProxy refused "${line}": ${answer}`);
  };
  return {
    port,
    async use(next, { cut }) {
      await command(`disable server all/s${current}`);
      if (cut) await command(`shutdown sessions server all/s${current}`);
      await command(`enable server all/s${next}`);
      current = next;
    },
    async pause() {
      await command(`disable server all/s${current}`);
      await command(`shutdown sessions server all/s${current}`);
    },
    resume: () => command(`enable server all/s${current}`),
  };
}

/**
 * Starts PgBouncer with its own defaults, besides the mode of its pools.
 *
 * @param more further lines of its configuration.
 * @returns its port.
 */
export async function startPgBouncer(
  postgresPort: number,
  { mode, more = '' }: { mode: 'session' | 'transaction'; more?: string },
  scope: Scope,
): Promise<number> {
  const directory = await folder(scope);
  const port = await freePort();
  const users = join(directory, 'users.txt');
  const configuration = join(directory, 'pgbouncer.ini');
  await writeFile(users, `"${ROLE}" "${PASSWORD}"\n`);
  await writeFile(
    configuration,
    `[databases]
* = host=127.0.0.1 port=${postgresPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${mode}
${more}
`,
  );
  await startProgram('pgbouncer', [configuration], scope, () => listensOn(port));
  return port;
}
