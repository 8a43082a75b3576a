import { describe, expect, test, vi } from 'vitest';
import { createRunClock } from '../../../src/runs/life/run-clock.ts';
import { createEventLog, type EventLog, type RunEvent } from '../../../src/runs/record/events.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';

const forever = new AbortController().signal;
const append = (log: EventLog, delta: string) => log.append({ type: 'TextDelta', delta });
const collect = (events: AsyncIterable<RunEvent>) =>
  Array.fromAsync(events, (event) => (event.type === 'TextDelta' ? event.delta : event.type));

describe('the events of a run', () => {
  test('are numbered from 1 without gaps', async () => {
    const log = createEventLog(Date.now, () => {});
    for (const delta of ['a', 'b', 'c']) append(log, delta);
    log.end();
    const numbers = await Array.fromAsync(log.read(forever), ({ seq }) => seq);
    expect(numbers).toEqual([1, 2, 3]);
  });

  test('have times that never decrease, even if the clock or a given time does', async () => {
    const times = [5, 3, 8];
    const log = createEventLog(
      () => times.shift() ?? 0,
      () => {},
    );
    for (const delta of ['a', 'b', 'c']) append(log, delta);
    log.append({ type: 'TextDelta', delta: 'd', at: 7 });
    log.end();
    const read = await Array.fromAsync(log.read(forever), ({ at }) => at);
    expect(read).toEqual([5, 5, 8, 8]);
  });

  test('have times that follow the clock of the database, not the clock of the machine', () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] });
    atTheEnd(() => vi.useRealTimers());
    const { createdAt, startedAt, now } = createRunClock({
      createdAt: 1_000,
      startedAt: 1_500,
      answeredAt: 1_502.7,
    });
    expect({ createdAt, startedAt, now: now() }).toEqual({
      createdAt: 1_000,
      startedAt: 1_500,
      now: 1_502,
    });
    vi.advanceTimersByTime(10);
    vi.setSystemTime(0);
    expect(now()).toBe(1_512);
  });

  test('are read completely by every reader, early or late', async () => {
    const log = createEventLog(Date.now, () => {});
    const early = collect(log.read(forever));
    append(log, 'a');
    const late = collect(log.read(forever));
    append(log, 'b');
    log.end();
    expect(await early).toEqual(['a', 'b']);
    expect(await late).toEqual(['a', 'b']);
    expect(await collect(log.read(forever))).toEqual(['a', 'b']);
  });

  test('are read after any position, and a position beyond the end yields only the last event', async () => {
    const log = createEventLog(Date.now, () => {});
    const behind = collect(log.read(forever, 9));
    for (const delta of ['a', 'b', 'c']) append(log, delta);
    expect((await log.read(forever, 1).next()).value).toMatchObject({ seq: 2, delta: 'b' });
    log.end();
    expect(await collect(log.read(forever, 2))).toEqual(['c']);
    expect(await collect(log.read(forever, 3))).toEqual([]);
    expect(await behind).toEqual(['c']);
  });

  test('are abandoned when the last reader leaves, not earlier', async () => {
    const abandoned = vi.fn();
    const log = createEventLog(Date.now, abandoned);
    const leaving = new AbortController();
    const first = collect(log.read(leaving.signal));
    const second = log.read(forever);
    leaving.abort();
    expect(await first).toEqual([]);
    expect(abandoned).not.toHaveBeenCalled();
    const pending = second.next();
    expect(await second.return?.()).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(abandoned).toHaveBeenCalledOnce();
  });

  test('are not abandoned by a reader that has read them to the end', async () => {
    const abandoned = vi.fn();
    const log = createEventLog(Date.now, abandoned);
    const read = collect(log.read(forever));
    log.end();
    await read;
    expect(abandoned).not.toHaveBeenCalled();
  });

  test('are abandoned at once by a reader whose signal is already aborted', async () => {
    const abandoned = vi.fn();
    const log = createEventLog(Date.now, abandoned);
    expect(await collect(log.read(AbortSignal.abort()))).toEqual([]);
    expect(abandoned).toHaveBeenCalledOnce();
  });
});
