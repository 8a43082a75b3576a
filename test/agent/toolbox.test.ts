import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createToolbox } from '../../src/agent/toolbox.ts';
import { createRedactor } from '../../src/deployments/redact.ts';
import { UNOBSERVED } from '../../src/observer.ts';
import type { Span } from '../../src/runs/trace.ts';

test('a run makes at most 16 tool calls at the same time, and the others after them', async () => {
  let active = 0;
  let most = 0;
  const released = Promise.withResolvers<void>();
  const tool = {
    name: 'far.call',
    description: 'Waits.',
    inputSchema: { type: 'object' },
    call: async () => {
      active += 1;
      most = Math.max(most, active);
      await released.promise;
      active -= 1;
      return 'Done.';
    },
  };
  const options = {
    redactor: createRedactor({}),
    observer: UNOBSERVED,
    log: pino({ level: 'silent' }),
  };
  const toolbox = createToolbox([tool], options);
  const calls = Array.from({ length: 40 }, (_, index) => ({
    id: `call_${index}`,
    name: 'far_call',
    arguments: '{}',
  }));
  const span: Span = {
    begin: () => span,
    step: async (_name, work) => work(span),
    set: () => {},
    end: () => {},
  };
  const context = { signal: new AbortController().signal, values: {}, span };
  const answers = toolbox.callAll(calls, 40, context, () => {});
  await expect.poll(() => active).toBe(16);
  released.resolve();
  expect(await answers).toEqual(calls.map(() => 'Done.'));
  expect(most).toBe(16);
});
