import { describe, expect, test } from 'vitest';
import { createLifetime } from '../../src/async/lifetime.ts';

/** A lifetime whose resources and tasks record their calls. */
function recorded() {
  const events: string[] = [];
  const lifetime = createLifetime();
  const task = (name: string) => () => {
    events.push(`start ${name}`);
    return {
      async [Symbol.asyncDispose]() {
        events.push(`stop ${name}`);
      },
    };
  };
  const close = (name: string) => async () => void events.push(`close ${name}`);
  return { events, lifetime, task, close };
}

describe('a lifetime', () => {
  test('starts its tasks in order, and closes everything in reverse order', async () => {
    const { events, lifetime, task, close } = recorded();
    lifetime.defer(close('database'));
    lifetime.onStart(task('heartbeat'));
    lifetime.defer(close('server'));
    lifetime.onStart(task('consumer'));
    expect(events).toEqual([]);
    lifetime.start();
    expect(events).toEqual(['start heartbeat', 'start consumer']);
    await lifetime[Symbol.asyncDispose]();
    expect(events.slice(2)).toEqual([
      'stop consumer',
      'close server',
      'stop heartbeat',
      'close database',
    ]);
  });

  test('that never starts closes its resources and stops no task', async () => {
    const { events, lifetime, task, close } = recorded();
    lifetime.defer(close('database'));
    lifetime.onStart(task('heartbeat'));
    await lifetime[Symbol.asyncDispose]();
    expect(events).toEqual(['close database']);
  });

  test('stops a task early on request', async () => {
    const { events, lifetime, task } = recorded();
    const stop = lifetime.onStart(task('consumer'));
    lifetime.start();
    await stop();
    expect(events).toEqual(['start consumer', 'stop consumer']);
  });

  test('closes the other resources if closing one fails, and then reports the failure', async () => {
    const { events, lifetime, close } = recorded();
    const failure = new Error('It cannot be closed.');
    lifetime.defer(close('database'));
    lifetime.defer(() => Promise.reject(failure));
    await expect(lifetime[Symbol.asyncDispose]()).rejects.toBe(failure);
    expect(events).toEqual(['close database']);
  });
});
