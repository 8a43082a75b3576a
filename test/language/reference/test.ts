import { expect } from 'vitest';
import type { Expectation } from '../../../src/language/agent-test.ts';
import { readDefinition } from '../../../src/language/read.ts';
import { agentWith, codesOf, many, problemsOf } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

const GROUPS = `tools time
  tools open mcp env.U
  tools closed mcp env.U { only get_issue, "search-issues" }
  tools orders { capability lookup "d" { get "https://a.example/" } }`;

const withTest = (parts: string, settings = '') =>
  agentWith(`${settings}\n${GROUPS}\ntest "t" { ${parts} }`);

/** The only test of a correct source. */
function testOf(parts: string, settings = '') {
  const [test, ...others] = readDefinition(withTest(parts, settings)).tests;
  expect(others).toEqual([]);
  return test ?? expect.fail(problemsOf(withTest(parts, settings)).join('\n'));
}

/** An expectation of the only turn, without its place. */
function expectationOf(text: string, settings = ''): Omit<Expectation, 'line' | 'column'> {
  const [turn] = testOf(`user "a" expect ${text}`, settings).turns;
  const { line, column, ...expectation } = turn?.expectations[0] ?? expect.fail();
  expect([line, column]).not.toContain(0);
  return expectation;
}

export const TEST: Sentences = {
  'Each `user` begins a turn, and the expectations after it are about this turn.': () => {
    const { turns } = testOf('user "a" expect no call user "b" user "c" expect reply is "d"');
    expect(turns.map(({ message }) => message)).toEqual(['a', 'b', 'c']);
    expect(turns.map(({ expectations }) => expectations.length)).toEqual([1, 0, 1]);
    expect(codesOf(withTest('expect no call user "a"'))).toEqual(['wrong-order']);
    expect(codesOf(withTest('expect no call'))).toEqual(['missing-turn']);
    expect(codesOf(withTest(''))).toEqual(['missing-turn']);
  },
  "`context` is the caller's object in every turn, and `memory` the facts that are saved before the first turn; both precede the first `user`.":
    () => {
      const facts = 'memory { name city }';
      const { context, memory } = testOf(
        'memory { name "Ada" } context "{\\"a\\": [1]}" user "a"',
        facts,
      );
      expect({ context, memory }).toEqual({ context: { a: [1] }, memory: { name: 'Ada' } });
      expect(testOf('user "a"')).toMatchObject({ context: {}, memory: {} });
      for (const late of ['context "{}"', 'memory { name "Ada" }'])
        expect(codesOf(withTest(`user "a" ${late}`, facts))).toEqual(['wrong-order']);
      expect(codesOf(withTest('memory { nmae "Ada" } user "a"', facts))).toEqual(['unknown-fact']);
    },
  '`tool` with `returns` or `fails` is the answer to a call of a tool in this test; several of one tool are used one after the other.':
    () => {
      const { tools } = testOf(
        'tool orders.lookup returns "" user "a" tool orders.lookup fails "b" tool time.now returns """c"""',
      );
      expect(tools).toEqual([
        { tool: 'orders.lookup', text: '', isError: false },
        { tool: 'orders.lookup', text: 'b', isError: true },
        { tool: 'time.now', text: 'c', isError: false },
      ]);
      for (const wrong of [
        'tool orders.lookup "b"',
        'tool lookup returns "b"',
        'tool "a" fails ""',
      ])
        expect(codesOf(withTest(`user "a" ${wrong}`))).toEqual(['syntax']);
    },
  '`expect call` with JSON asks for a call whose input has these members; without JSON, any call of the tool is right.':
    () => {
      expect(expectationOf('call orders.lookup "{\\"id\\": 1}"')).toEqual({
        type: 'call',
        tool: 'orders.lookup',
        input: { id: 1 },
      });
      expect(expectationOf('call orders.lookup')).toMatchObject({ input: {} });
    },
  '`expect no call` allows no call of the tool, or no call at all if it names none.': () => {
    expect(expectationOf('no call orders.lookup')).toEqual({
      type: 'no-call',
      tool: 'orders.lookup',
    });
    expect(expectationOf('no call')).toEqual({ type: 'no-call' });
    const { turns } = testOf(
      'user "a"\nexpect no call\nuser "b"\nexpect no call tool time.now fails ""',
    );
    expect(turns.flatMap(({ expectations }) => expectations)).toHaveLength(2);
    expect(codesOf(withTest('user "a" expect no call orders'))).toEqual(['syntax']);
  },
  '`expect reply` with `contains` or `omits` compares without case, `is` compares the whole reply, and `judged` asks a model whether the sentence is true of the reply.':
    () => {
      for (const test of ['contains', 'omits', 'is', 'judged'])
        expect(expectationOf(`reply ${test} "b"`)).toEqual({ type: 'reply', test, text: 'b' });
      expect(codesOf(withTest('user "a" expect reply "b"'))).toEqual(['syntax']);
      expect(codesOf(withTest('user "a" expect reply contains " "'))).toEqual(['empty-text']);
    },
  '`expect output` asks for members of the structured reply, so the agent needs an `output`.':
    () => {
      expect(expectationOf('output "{\\"a\\": null}"', 'output { a string }')).toEqual({
        type: 'output',
        members: { a: null },
      });
      expect(codesOf(withTest('user "a" expect output "{}"'))).toEqual(['missing-output']);
    },
  '`expect tokens below` limits the tokens of the turn: 1 to 100000000.': () => {
    expect(expectationOf('tokens below 1')).toEqual({ type: 'tokens', below: 1 });
    expect(expectationOf('tokens below 100000000')).toMatchObject({ below: 100_000_000 });
    for (const count of ['0', '100000001'])
      expect(codesOf(withTest(`user "a" expect tokens below ${count}`))).toEqual(['out-of-range']);
  },
  'JSON in a test is an object with at most 32 levels.': () => {
    const nested = (levels: number) =>
      `context "${'{\\"a\\":'.repeat(levels)}1${'}'.repeat(levels)}" user "a"`;
    expect(codesOf(withTest(nested(32)))).toEqual([]);
    expect(codesOf(withTest(nested(33)))).toEqual(['invalid-json']);
    for (const json of ['{', '[]', '1', 'null', '\\"a\\"', 'plan'])
      for (const parts of [`context "${json}" user "a"`, `user "a" expect call time.now "${json}"`])
        expect(codesOf(withTest(parts))).toEqual(['invalid-json']);
  },
  'A test may name each tool of the agent, with `memory.save` and `memory.forget` if the agent has `memory`, and any tool of a server without `only`.':
    () => {
      for (const tool of [
        'time.now',
        'open.any',
        'open."get-one"',
        'closed.get_issue',
        'closed."search-issues"',
        'orders.lookup',
      ])
        expect(codesOf(withTest(`user "a" expect call ${tool}`))).toEqual([]);
      for (const tool of ['save', 'forget']) {
        const parts = `user "a" expect call memory.${tool}`;
        expect(codesOf(withTest(parts, 'memory { name }'))).toEqual([]);
        expect(codesOf(withTest(parts))).toEqual(['unknown-tool']);
      }
      for (const tool of ['orders.lokup', 'closed.merge', 'tyme.now', 'time.later'])
        for (const part of ['expect call', 'expect no call', 'tool'])
          expect(
            codesOf(withTest(`user "a" ${part} ${tool} ${part === 'tool' ? 'fails ""' : ''}`)),
          ).toEqual(['unknown-tool']);
    },
  'The texts of a test hold no templates.': () => {
    const { turns } = testOf('user "{{ env.KEY }} {{ oops"');
    expect(turns[0]?.message).toBe('{{ env.KEY }} {{ oops');
  },
  'A definition has at most 100 tests.': () => {
    const tests = (count: number) =>
      agentWith(many(count, (index) => `test "t${index}" { user "a" }`));
    expect(readDefinition(tests(100)).tests).toHaveLength(100);
    expect(codesOf(tests(101))).toEqual(['too-many']);
  },
  'The name of a test has at most 200 characters.': () => {
    const named = (length: number) => agentWith(`test "${'t'.repeat(length)}" { user "a" }`);
    expect(codesOf(named(200))).toEqual([]);
    expect(codesOf(named(201))).toEqual(['too-long']);
    const two = agentWith('test "t" { user "a" } test "t" { user "a" }');
    expect(codesOf(two)).toEqual(['duplicate-name']);
  },
  'A test has 1 to 20 turns, at most 100 answers of tools and 100 expectations.': () => {
    expect(testOf(many(20, () => 'user "a"')).turns).toHaveLength(20);
    expect(codesOf(withTest(many(21, () => 'user "a"')))).toEqual(['too-many']);
    for (const part of ['tool time.now fails "x"', 'expect no call']) {
      expect(codesOf(withTest(`user "a" ${many(100, () => part)}`))).toEqual([]);
      expect(codesOf(withTest(`user "a" ${many(101, () => part)}`))).toEqual(['too-many']);
    }
  },
};
