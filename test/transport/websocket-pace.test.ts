import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createWebSocketPace } from '../../src/transport/graphql/websocket-pace.ts';

const PER_SECOND = 1_000;

/** Sockets of a name each, and which of them are read. */
function sockets() {
  const pace = createWebSocketPace(PER_SECOND, () => vi.getMockedSystemTime()?.getTime() ?? 0);
  const read = new Set<string>();
  const join = (owner: string, name: string) => {
    read.add(name);
    return pace.join(owner, {
      pause: () => void read.delete(name),
      resume: () => void read.add(name),
    });
  };
  return { join, read: () => [...read].sort() };
}

describe('the WebSockets of an account', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'Date'], now: 0 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('are all read while they send few frames', () => {
    const { join, read } = sockets();
    const [one, other] = [join('a', '1'), join('a', '2')];
    for (let second = 0; second < 5; second += 1) {
      one.count(PER_SECOND / 2);
      other.count(PER_SECOND / 2);
      vi.advanceTimersByTime(1_000);
    }
    expect(read()).toEqual(['1', '2']);
  });

  test('are not read beyond the bound, and the WebSockets of another account are', () => {
    const { join, read } = sockets();
    const one = join('a', '1');
    join('a', '2');
    join('b', '3').count(PER_SECOND);
    one.count(PER_SECOND + 1);
    expect(read()).toEqual(['3']);
  });

  test('are read in turns after it, and all together when they send no more', () => {
    const { join, read } = sockets();
    const names = Array.from({ length: 10 }, (_, index) => `${index}`);
    const [first] = names.map((name) => join('a', name));
    first?.count(PER_SECOND + 100);
    vi.advanceTimersByTime(100);
    expect(read()).toEqual([]);
    vi.advanceTimersByTime(50);
    expect(read()).toEqual(['0']);
    vi.advanceTimersByTime(50);
    expect(read()).toEqual(['0', '1']);
    vi.advanceTimersByTime(1_000);
    expect(read()).toEqual(names);
  });

  test('send the bound on average, however much each read has', () => {
    const { join, read } = sockets();
    const all = Array.from({ length: 20 }, (_, index) => join('a', `${index}`));
    let sent = 0;
    for (let tick = 0; tick < 10 * 20; tick += 1) {
      for (const name of read()) {
        // A socket is not read once another one has used up the frames.
        if (!read().includes(name)) continue;
        all[Number(name)]?.count(300);
        sent += 300;
      }
      vi.advanceTimersByTime(50);
    }
    expect(sent).toBeGreaterThan(9 * PER_SECOND);
    expect(sent).toBeLessThanOrEqual(11 * PER_SECOND + 300);
  });

  test('are not read again after they close', () => {
    const { join, read } = sockets();
    const one = join('a', '1');
    one.count(PER_SECOND + 1);
    one.leave();
    vi.advanceTimersByTime(5_000);
    expect(read()).toEqual([]);
  });
});
