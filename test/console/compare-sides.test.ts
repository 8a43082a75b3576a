import { describe, expect, test } from 'vitest';
import type { Tool, Turn } from '../../src/console/chat/turn.ts';
import {
  alignTools,
  differenceOf,
} from '../../src/console/screens/playground/compare/align-tools.ts';
import { markTexts } from '../../src/console/screens/playground/compare/marked-texts.ts';
import { pairTurns } from '../../src/console/screens/playground/compare/pair-turns.ts';
import { choiceOf, nameOf, sidesIn } from '../../src/console/screens/playground/sides.ts';

const namesOf = (query: string) => {
  const { left, right, faults } = sidesIn(new URLSearchParams(query));
  return { sides: [nameOf(left), nameOf(right)], faults: Object.keys(faults) };
};

describe('the sides of an address', () => {
  test('are production and staging by default, and always two different ones', () => {
    expect(namesOf('')).toEqual({ sides: ['production', 'staging'], faults: [] });
    expect(namesOf('right=production').sides).toEqual(['staging', 'production']);
    expect(namesOf('left=staging').sides).toEqual(['staging', 'production']);
    expect(namesOf('left=draft&right=dep_01ab')).toEqual({
      sides: ['draft', 'dep_01ab'],
      faults: [],
    });
    expect(namesOf('left=dep_1&right=dep_1')).toEqual({
      sides: ['dep_1', 'staging'],
      faults: ['right'],
    });
    expect(namesOf('left=staging&right=staging')).toEqual({
      sides: ['staging', 'production'],
      faults: ['right'],
    });
  });

  test('that are none count as absent, and are named', () => {
    for (const name of ['mars', 'Draft', 'dep_', 'run_01ab', `dep_${'a'.repeat(65)}`])
      expect(namesOf(`left=${name}`), name).toEqual({
        sides: ['production', 'staging'],
        faults: ['left'],
      });
  });

  test('have names that lead back to them', () => {
    for (const name of ['production', 'staging', 'draft', 'staging-draft', 'dep_01ab']) {
      const choice = choiceOf(name);
      expect(choice && nameOf(choice)).toBe(name);
    }
  });
});

const tool = (name: string, input: object, rest: Partial<Tool> = {}): Tool => ({
  type: 'tool',
  callId: JSON.stringify([name, input]),
  name,
  from: 0,
  status: 'COMPLETED',
  result: 'ok',
  input,
  ...rest,
});
const turnOf = (message: string, ...pieces: Tool[]): Turn => ({
  id: message,
  message,
  pieces,
  state: 'done',
});

const wordsOf = (left: Tool[], right: Tool[]) =>
  alignTools(turnOf('', ...left), turnOf('', ...right)).map((pair) => differenceOf(pair).words);

describe('the tool calls of two sides', () => {
  test('share a row if they are equal, in any order of calls and members', () => {
    expect(
      wordsOf(
        [tool('a', { x: 1, y: [{ p: 1, q: 2 }] }), tool('b', {})],
        [tool('b', {}), tool('a', { y: [{ q: 2, p: 1 }], x: 1 })],
      ),
    ).toEqual(['same call, same answer', 'same call, same answer']);
  });

  test('say how they differ', () => {
    expect(wordsOf([tool('a', { x: 1 })], [tool('a', { x: 2 })])).toEqual(['other arguments']);
    expect(wordsOf([tool('a', {})], [tool('b', {})])).toEqual(['only left', 'only right']);
    expect(wordsOf([tool('a', {})], [tool('a', {}, { result: 'no' })])).toEqual([
      'same call, other answer',
    ]);
    expect(wordsOf([tool('a', {})], [tool('a', {}, { status: 'WAITING' })])).toEqual([
      'same call, not sent right',
    ]);
    expect(wordsOf([tool('a', {}, { status: 'FAILED' })], [tool('a', {})])).toEqual([
      'same call, other outcome',
    ]);
  });
});

test('turns are paired by their messages, also beside turns of one side alone', () => {
  const of = (...messages: string[]) => messages.map((message) => turnOf(message));
  const pairs = pairTurns(of('earlier', 'a', 'b'), of('a', 'b'));
  expect(pairs.map(({ left, right }) => [left?.message, right?.message])).toEqual([
    ['earlier', undefined],
    ['a', 'a'],
    ['b', 'b'],
  ]);
  expect(pairTurns([], [])).toEqual([]);
});

test('replies have their different words marked, and long ones are compared as a whole', () => {
  expect(markTexts('It is Monday.', 'It is Friday.')).toMatchObject({ words: '1 of 3 words' });
  expect(markTexts('Hello', 'Hello').words).toBe('same reply');
  expect(markTexts('a b', 'a  b').words).toBe('other white space');
  const long = 'word '.repeat(5_000);
  expect(markTexts(long, `${long}more`)).toEqual({
    left: [{ text: long, isChanged: false }],
    right: [{ text: `${long}more`, isChanged: false }],
    words: 'other reply',
  });
});
