import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Prisma, PrismaClient } from '../../src/generated/prisma/client.ts';
import type { Database } from '../../src/storage/database.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';

/** Opens a WebSocket without sending a message. */
async function open({ webSocketUrl }: TestApp) {
  const socket = new WebSocket(webSocketUrl, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  const closed = once(socket, 'close').then(([code, reason]) => `closed with ${code} ${reason}`);
  return { socket, closed, send: (message: object) => socket.send(JSON.stringify(message)) };
}

/** Opens a WebSocket and authenticates. */
async function connect(app: TestApp, { headers }: Pick<Tenant, 'headers'>) {
  const connection = await open(app);
  connection.send({ type: 'connection_init', payload: { Authorization: headers.authorization } });
  await once(connection.socket, 'message');
  return connection;
}

describe('an operation', () => {
  test('has an id of at most 128 characters', async () => {
    const app = await startApp();
    const { socket, closed, send } = await connect(app, await app.tenant());
    const execute = (id: string) =>
      send({ id, type: 'subscribe', payload: { query: '{ __typename }' } });
    execute('x'.repeat(128));
    const [answer] = await once(socket, 'message');
    expect(JSON.parse(String(answer))).toMatchObject({ type: 'next' });
    execute('x'.repeat(129));
    expect(await closed).toBe('closed with 4400 Invalid message received');
  });
});

/** The database with replaced methods of its key model. */
async function withKeys(
  overrides: (model: PrismaClient['apiKey']) => Record<string, (argument: never) => unknown>,
): Promise<Database> {
  const database = await testDatabase();
  const { apiKey } = database.prisma;
  const own = overrides(apiKey);
  const keys = new Proxy(apiKey, {
    get: (model, name) => own[String(name)] ?? Reflect.get(model, name),
  });
  const prisma = new Proxy(database.prisma, {
    get: (client, name) => (name === 'apiKey' ? keys : Reflect.get(client, name)),
  });
  return { ...database, prisma };
}

describe('a client that disconnects while its key is looked up', () => {
  test('is not watched', async () => {
    const lookupStarted = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    let onPoll = (_keys: number) => {};
    const database = await withKeys((model) => ({
      findUnique: async (key: Prisma.ApiKeyFindUniqueArgs) => {
        lookupStarted.resolve();
        await answer.promise;
        return model.findUnique(key);
      },
    }));
    const prisma = new Proxy(database.prisma, {
      get: (client, name) =>
        name !== '$queryRaw'
          ? Reflect.get(client, name)
          : (text: TemplateStringsArray, ...values: unknown[]) => {
              const watched = values.find((value) => Array.isArray(value));
              if (text.join('?').includes('AS watched(hash)')) onPoll(watched?.length ?? 0);
              return client.$queryRaw(text, ...values);
            },
    });
    const app = await startApp({ database: { ...database, prisma } });
    const tenant = await app.tenant();
    const { socket, send } = await open(app);
    send({ type: 'connection_init', payload: { Authorization: tenant.headers.authorization } });
    await lookupStarted.promise;
    socket.terminate();
    await expect.poll(app.openSockets).toBe(0);
    answer.resolve();
    await connect(app, await app.tenant());
    // All watched keys are polled in one statement.
    const next = Promise.withResolvers<number>();
    onPoll = next.resolve;
    expect(await next.promise).toBe(1);
  });
});

describe('a key that cannot be looked up', () => {
  test('has its operation refused, and the other operations of its WebSocket continue', async () => {
    let isDown = false;
    const database = await withKeys((model) => ({
      findUnique: async (query: Prisma.ApiKeyFindUniqueArgs) => {
        if (isDown) throw new Error('canary');
        return model.findUnique(query);
      },
    }));
    const app = await startApp({ database });
    const printed = vi.spyOn(console, 'error');
    onTestFinished(() => printed.mockRestore());
    const { socket, closed, send } = await connect(app, await app.tenant());
    const messages: string[] = [];
    socket.on('message', (data) => messages.push(String(data)));
    /** Runs an operation. @returns its error code, if any, or how the connection ended. */
    const execute = async () => {
      const id = randomUUID();
      const answered = new Promise<string>((resolve) => {
        socket.on('message', function onMessage(data) {
          const parsed = JSON.parse(String(data));
          if (parsed.id !== id || parsed.type === 'complete') return;
          socket.off('message', onMessage);
          resolve(String(data));
        });
      });
      send({ id, type: 'subscribe', payload: { query: '{ viewer { account { id } } }' } });
      const message = await Promise.race([answered, closed]);
      if (message.startsWith('closed')) return message;
      const { type, payload } = JSON.parse(message);
      const [error] = type === 'error' ? payload : (payload.errors ?? []);
      return error?.extensions.code;
    };
    expect(await execute()).toBeUndefined();
    isDown = true;
    // A key is cached for a second.
    await expect.poll(execute).toBe('INTERNAL_ERROR');
    isDown = false;
    expect(await execute()).toBeUndefined();
    expect(messages.join()).not.toContain('canary');
    expect(printed).not.toHaveBeenCalled();
  });
});

describe('a message that only servers send', () => {
  test.each([
    ['connection_ack', {}],
    ['next', {}],
    ['error', [{ message: 'No' }]],
  ])('closes the connection, even without a key: %s', async (type, payload) => {
    const app = await startApp();
    const printed = vi.spyOn(console, 'error');
    onTestFinished(() => printed.mockRestore());
    const { closed, send } = await open(app);
    send({ id: '1', type, payload });
    expect(await closed).toBe('closed with 4400 Invalid message received');
    expect(printed).not.toHaveBeenCalled();
  });
});

describe('closing the server', () => {
  test('does not wait for a WebSocket whose client is silent', async () => {
    const app = await startApp();
    const { socket, closed } = await open(app);
    socket.pause();
    await app.close();
    socket.resume();
    expect(await closed).toBe('closed with 1012 Service Restart');
  });
});

describe('a message', () => {
  const large = 'x'.repeat(16 * 1024);
  const CLOSED = 'closed with 4400 Invalid message received';

  test.each([
    ['that authenticates', { type: 'connection_init', payload: { Authorization: large } }],
    ['that is a ping', { type: 'ping', payload: { large } }],
    ['that begins an operation', { id: '1', type: 'subscribe', payload: { query: large } }],
  ])(
    'of more than 16 KiB %s is refused before the connection is acknowledged',
    async (_what, message) => {
      const { closed, send } = await open(await startApp());
      send(message);
      expect(await closed).toBe(CLOSED);
    },
  );

  test.each([
    ['a ping', { type: 'ping', payload: { large } }],
    ['a pong', { type: 'pong', payload: { large } }],
    ['the end of an operation', { type: 'complete', id: large }],
    ['a message without a type', { large }],
  ])('of more than 16 KiB may be an operation, but not %s', async (_what, message) => {
    const app = await startApp();
    const { closed, send } = await connect(app, await app.tenant());
    send(message);
    expect(await closed).toBe(CLOSED);
  });

  test('may contain a long operation', async () => {
    const app = await startApp();
    const { socket, send } = await connect(app, await app.tenant());
    const query = 'query ($source: String!) { checkDefinition(source: $source) { valid } }';
    const source = '#\n'.repeat(100_000);
    send({ id: '1', type: 'subscribe', payload: { query, variables: { source } } });
    expect(JSON.parse(String((await once(socket, 'message'))[0]))).toMatchObject({
      type: 'next',
      payload: { data: { checkDefinition: { valid: false } } },
    });
  });

  test('is parsed in little time before the connection is acknowledged', async () => {
    const app = await startApp();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open(app)));
    const message = `{"type": "ping", "payload": [${'0,'.repeat(500_000)}0]}`;
    const cpuTimeOf = async (work: () => unknown) => {
      const before = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const slow = await cpuTimeOf(() => JSON.parse(message, (_name, value) => value));
    const spent = await cpuTimeOf(() => {
      for (const { socket } of sockets) socket.send(message);
      return Promise.all(sockets.map(({ closed }) => closed));
    });
    // Each number would be parsed through a reviver function.
    expect(spent).toBeLessThan((sockets.length * slow) / 2);
  });

  test('whose responses the client does not read closes the connection', async () => {
    const app = await startApp();
    const { socket, send } = await connect(app, await app.tenant());
    socket.pause();
    const payload = { text: 'x'.repeat(15 * 1024) };
    const tick = setInterval(() => {
      for (let sent = 0; sent < 100; sent += 1) send({ type: 'ping', payload });
    }, 1);
    onTestFinished(() => clearInterval(tick));
    await expect.poll(() => app.openSockets()).toBe(0);
  });
});

describe('a message in frames of one byte', () => {
  const message = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(500) } });

  test('is answered', async () => {
    const { socket } = await open(await startApp());
    for (const letter of message) socket.send(letter, { fin: false });
    socket.send('', { fin: true });
    expect(JSON.parse(String((await once(socket, 'message'))[0]))).toMatchObject({ type: 'pong' });
  });

  test('has at most 1,024 frames', async () => {
    const { socket, closed } = await open(await startApp());
    for (let count = 0; count < 1_025; count += 1) socket.send('x', { fin: false });
    expect(await closed).toMatch(/^closed with 1008/);
  });
});
