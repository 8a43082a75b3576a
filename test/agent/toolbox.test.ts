import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createToolbox } from '../../src/agent/toolbox.ts';
import { OWN_TOOL } from '../../src/agent/tools/tool.ts';
import { UNOBSERVED } from '../../src/observability/observer.ts';
import { createRedactor } from '../../src/redaction/redact.ts';
import type { Span } from '../../src/runs/trace/trace.ts';
import { createTestLedger } from '../helpers/tools.ts';

const options = {
  approvers: [],
  deploymentId: 'dep_1',
  ledger: createTestLedger(),
  redactor: createRedactor({}),
  observer: UNOBSERVED,
  log: pino({ level: 'silent' }),
};

test('the model sees names of 1 to 64 letters, digits, _ and -, each once', () => {
  const names = [
    'shop.find',
    'shop_find',
    'shop.größe €',
    `a.${'n'.repeat(90)}`,
    `a.${'n'.repeat(91)}`,
  ];
  const tools = names.map((name) => ({
    name,
    description: '',
    inputSchema: { type: 'object' },
    ...OWN_TOOL,
    prepare: () => ({ send: async () => ({ text: '' }) }),
  }));
  const toolbox = createToolbox(tools, options);
  const wireNames = toolbox.tools.map(({ name }) => name);
  for (const name of wireNames) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(new Set(wireNames).size).toBe(names.length);
  expect(wireNames.map(toolbox.nameOf)).toEqual(names);
});

test('a run makes at most 16 tool calls at the same time, and the others after them', async () => {
  let active = 0;
  let most = 0;
  const released = Promise.withResolvers<void>();
  const tool = {
    name: 'far.call',
    description: 'Waits.',
    inputSchema: { type: 'object' },
    ...OWN_TOOL,
    prepare: () => ({
      async send() {
        active += 1;
        most = Math.max(most, active);
        await released.promise;
        active -= 1;
        return { text: 'Done.' };
      },
    }),
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
