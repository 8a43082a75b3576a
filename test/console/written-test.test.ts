import { expect, test } from 'vitest';
import { writeTestOfRun } from '../../src/console/screens/run/written-test.ts';
import { readDefinition } from '../../src/language/read.ts';
import { withFreeName, withTest } from '../../src/language/test-block.ts';

const SOURCE = `agentlang 5

agent "Desk" {
  description "Answers about orders."
  prompt "Help."
  memory {
    name
  }
  tools time
  tools orders {
    capability lookup "Finds an order." {
      input {
        order_id string "Number of the order"
      }
      get "https://api.example/orders"
    }
    capability refund "Refunds an order." {
      input {
        order_id string "Number of the order"
      }
      approval
      post "https://api.example/refunds"
    }
  }
}
`;

type Call = Parameters<typeof writeTestOfRun>[1][number];

const run = (more: object = {}) => ({
  input: 'Where is A-1?',
  context: { plan: 'pro' },
  response: 'It is shipped.',
  ...more,
});

const call = (more: Partial<Call> = {}): Call => ({
  name: 'orders.lookup',
  arguments: { order_id: 'A-1' },
  status: 'COMPLETED',
  result: 'shipped',
  ...more,
});

/** Adds the test to a definition without mistakes. @returns the test as the language reads it. */
const added = (of: ReturnType<typeof run>, calls: Call[], source = SOURCE) => {
  const written = writeTestOfRun(of, calls);
  if ('problem' in written) throw new Error(written.problem);
  const text = withTest(source, withFreeName(source, written.test));
  const { tests, diagnostics } = readDefinition(text);
  expect(diagnostics).toEqual([]);
  const last = tests.at(-1);
  if (!last) throw new Error('The definition has no test.');
  return { ...last, text };
};

test('a run with tools becomes a test with its message, context, answers and calls', () => {
  const { name, context, turns, tools } = added(run(), [
    call(),
    call({ name: 'time.now', arguments: {}, result: '2026-01-01T00:00:00Z' }),
    call({ name: 'memory.save', arguments: { name: 'name', value: 'Ada' }, result: 'Saved.' }),
  ]);
  expect({ name, context }).toEqual({ name: 'Where is A-1?', context: { plan: 'pro' } });
  expect(tools).toEqual([
    { tool: 'orders.lookup', text: 'shipped', isError: false },
    { tool: 'time.now', text: '2026-01-01T00:00:00Z', isError: false },
    { tool: 'memory.save', text: 'Saved.', isError: false },
  ]);
  expect(turns).toHaveLength(1);
  expect(turns[0]?.message).toBe('Where is A-1?');
  expect(turns[0]?.expectations).toHaveLength(4);
});

test('the answer of a failed call has one "Error: " for the model', () => {
  const { tools } = added(run(), [
    call({ status: 'FAILED', result: 'Error: HTTP 404: No such order.' }),
    call({ status: 'UNKNOWN', result: 'The outcome of this call is unknown. Do not repeat it.' }),
    call({ result: 'Error: this is the text of the service' }),
  ]);
  expect(tools).toEqual([
    { tool: 'orders.lookup', text: 'HTTP 404: No such order.', isError: true },
    {
      tool: 'orders.lookup',
      text: 'The outcome of this call is unknown. Do not repeat it.',
      isError: false,
    },
    { tool: 'orders.lookup', text: 'Error: this is the text of the service', isError: false },
  ]);
});

test.each(['WAITING', 'DENIED', 'EXPIRED'] as const)(
  'a call with the status %s has the answer that the model had',
  (status) => {
    const { tools } = added(run(), [call({ name: 'orders.refund', status, result: null })]);
    expect(tools).toMatchObject([
      {
        tool: 'orders.refund',
        text: expect.stringContaining('waits for approval'),
        isError: false,
      },
    ]);
  },
);

test('calls beyond the limits of the run and of a test, and unknown tools, are left out', () => {
  const many = Array.from({ length: 120 }, () => call());
  const refused = call({ status: 'REFUSED', result: 'Error: No more tool calls are allowed.' });
  const { tools, turns } = added(run(), [refused, call({ name: 'nonsense' }), ...many]);
  expect(tools).toHaveLength(99);
  expect(turns[0]?.expectations).toHaveLength(100);
});

test('a run whose tool texts are deleted becomes no test', () => {
  for (const gone of [call({ result: null }), call({ arguments: null })])
    expect(writeTestOfRun(run(), [gone])).toEqual({
      problem: 'The results of the tools of this run are no longer stored.',
    });
});

test.each([
  ['quotes and backslashes', 'a "b" \\ \\" """ c'],
  ['templates', 'Hello {{ memory.name }} and {{{{ }}'],
  ['lines and tabs', 'a\nb\r\n\tc\u2028d\u2029e'],
  ['control and direction characters', '\u0007\u200b\u202e\ufeffx'],
  ['other scripts', '注文はどこですか 🙂 é'],
  ['the syntax of the language', '} test "x" { user "y" } # comment // comment'],
  ['a long text', 'x'.repeat(20_000)],
])('%s: the texts of a run are read back from its test', (_what, text) => {
  const { turns, tools, context } = added(
    run({ input: text, context: { note: text }, response: text }),
    [call({ arguments: { order_id: text }, result: text })],
  );
  expect(turns[0]?.message).toBe(text);
  expect(tools[0]?.text).toBe(text);
  expect(context).toEqual({ note: text });
});

test('the same run added twice has two names', () => {
  const first = added(run(), [call()]);
  const second = added(run(), [call()], first.text);
  const third = added(run(), [call()], second.text);
  expect([first, second, third].map(({ name }) => name)).toEqual([
    'Where is A-1?',
    'Where is A-1? (2)',
    'Where is A-1? (3)',
  ]);
});
