import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Caller } from '../../src/accounts/caller.ts';
import { createEventReader } from '../../src/transport/event-writer.ts';
import { createReserved, type EventStream } from '../../src/transport/graphql/single-connection.ts';

const TOKEN = 'token';
const caller = { account: { id: 'acc_1' } } as Caller;

/** A stream without events, and how it ended. */
function quietStream() {
  const ended = Promise.withResolvers<string>();
  const stream: EventStream = (async function* () {})();
  stream.return = async () => {
    ended.resolve('ended');
    return { done: true, value: undefined };
  };
  return { stream, ended: ended.promise };
}

/** The response of a real HTTP request, as a reader. */
async function reader(): Promise<ServerResponse> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const requested = once(server, 'request') as unknown as Promise<[unknown, ServerResponse]>;
  fetch(`http://127.0.0.1:${port}`).catch(() => {});
  const [, response] = await requested;
  onTestFinished(() => {
    response.destroy();
    server.close();
  });
  return response;
}

function reserve() {
  let endKey = () => {};
  let isWatched = false;
  const keys = {
    watch(_caller: Caller, ended: () => void) {
      endKey = ended;
      isWatched = true;
      return () => {
        isWatched = false;
      };
    },
  };
  const reserved = createReserved({ keys });
  const { stream, ended } = quietStream();
  reserved.add(TOKEN, caller, stream);
  const connection = reserved.find(TOKEN);
  if (!connection) throw new Error('The connection was not added.');
  return {
    connection,
    ended,
    reserved,
    endKey: () => endKey(),
    isRegistered: () => reserved.find(TOKEN) !== undefined || isWatched,
  };
}

describe('a reserved connection', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('that is not opened within a minute ends, with its operations, and is removed', async () => {
    const { connection, ended, isRegistered } = reserve();
    const operation = connection.operations.begin('one');
    vi.advanceTimersByTime(59_000);
    expect(operation.aborted).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(await ended).toBe('ended');
    expect(operation.aborted).toBe(true);
    expect(await connection.opened).toBeUndefined();
    expect(isRegistered()).toBe(false);
  });

  test('with a reader has no time limit, and ends with its reader', async () => {
    const { connection, ended, isRegistered } = reserve();
    const response = await reader();
    const stream = createEventReader(response);
    connection.open(stream);
    expect(await connection.opened).toBe(stream);
    const operation = connection.operations.begin('one');
    vi.advanceTimersByTime(3_600_000);
    expect(operation.aborted).toBe(false);
    response.destroy();
    expect(await ended).toBe('ended');
    expect(operation.aborted).toBe(true);
    expect(isRegistered()).toBe(false);
  });

  test('ends at once if its reader has already disconnected', async () => {
    const { connection, ended, isRegistered } = reserve();
    const response = await reader();
    const closed = once(response, 'close');
    response.destroy();
    await closed;
    connection.open(createEventReader(response));
    expect(await ended).toBe('ended');
    expect(isRegistered()).toBe(false);
  });

  test.each([
    ['without a reader', false],
    ['with its reader', true],
  ])('%s ends when its key ends', async (_which, isOpen) => {
    const { connection, ended, endKey, isRegistered } = reserve();
    const response = await reader();
    if (isOpen) connection.open(createEventReader(response));
    endKey();
    expect(await ended).toBe('ended');
    expect(response.destroyed).toBe(isOpen);
    expect(isRegistered()).toBe(false);
  });

  test('over the account’s limit of unopened ones is refused until another is opened', async () => {
    const { reserved, connection } = reserve();
    for (let count = 1; count < 100; count += 1) {
      reserved.add(`other ${count}`, caller, quietStream().stream);
    }
    const refused = quietStream();
    expect(() => reserved.add('late', caller, refused.stream)).toThrow(
      'unopened reserved connections',
    );
    expect(await refused.ended).toBe('ended');
    const otherCaller = { account: { id: 'acc_2' } } as Caller;
    reserved.add('of another account', otherCaller, quietStream().stream);
    connection.open(createEventReader(await reader()));
    const granted = quietStream();
    reserved.add('late', caller, granted.stream);
    reserved.endAll();
    expect(await granted.ended).toBe('ended');
    expect(reserved.find(TOKEN)).toBeUndefined();
  });
});
