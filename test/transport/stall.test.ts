import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { watchStall } from '../../src/transport/graphql/stall.ts';

/** A WebSocket with a queue of unsent messages. */
function stalling() {
  const socket = Object.assign(new EventEmitter(), { bufferedAmount: 0, terminate: vi.fn() });
  const stall = watchStall(socket as unknown as Parameters<typeof watchStall>[0], 30_000);
  return {
    socket,
    queue() {
      socket.bufferedAmount += 1;
      stall.queued();
    },
    send() {
      socket.bufferedAmount -= 1;
      stall.sent();
    },
  };
}

describe('a WebSocket', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is terminated if no queued message is sent for 30 s', () => {
    const { socket, queue, send } = stalling();
    queue();
    queue();
    vi.advanceTimersByTime(29_000);
    send();
    queue();
    vi.advanceTimersByTime(29_999);
    expect(socket.terminate).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(socket.terminate).toHaveBeenCalledOnce();
  });

  test('is not terminated if its queue is empty or it has closed', () => {
    const taken = stalling();
    taken.queue();
    taken.send();
    const closed = stalling();
    closed.queue();
    closed.socket.emit('close');
    vi.advanceTimersByTime(3_600_000);
    for (const { socket } of [taken, closed]) expect(socket.terminate).not.toHaveBeenCalled();
  });
});
