import {
  type AgentTest,
  type Expectation,
  type JsonObject,
  REPLY_TESTS,
  type TestPlace,
  type ToolAnswer,
} from '../agent-test.ts';
import { BOUNDS } from '../bounds.ts';
import type { Definition } from '../definition.ts';
import { positionAt } from '../source.ts';
import type { Member } from '../syntax.ts';
import type { Token } from '../token.ts';
import { isDeeper, parseJson } from './json.ts';
import { checkCount, checkNames, declaredIn, lacks, settingsOf } from './names.ts';
import { checkDeclared } from './templates.ts';
import { callOf, createKnownTools, type KnownTools } from './test-tools.ts';
import {
  type Check,
  checkShortText,
  checkText,
  nameOf,
  numberOf,
  type Range,
  stringsOf,
} from './values.ts';

/** What the tests of an agent may name. */
type Scope = { facts: ReadonlySet<string> | 'unknown'; tools: KnownTools; hasOutput: boolean };

const TOKENS: Range = { min: 1, max: 100_000_000, text: '1 to 100000000' };

/** Checks the tests of an agent. They are valid only if there are no errors. */
export function checkTests(agent: Member, definition: Definition, check: Check): AgentTest[] {
  const { block } = agent;
  const members = block?.members.filter(({ word }) => word === 'test') ?? [];
  if (!block || members.length === 0) return [];
  const names = members.flatMap((member) => stringsOf(member));
  checkNames(names, check, { maxLength: Number.POSITIVE_INFINITY });
  const tokens = members.map(({ token }) => token);
  checkCount(tokens, { count: BOUNDS.tests, what: 'tests' }, check);
  const scope = {
    facts: declaredIn(block, 'memory', check),
    tools: createKnownTools(block, definition, check),
    hasOutput: definition.output !== undefined || !lacks(block, ['output'], check),
  };
  return members.map((member) => checkTest(member, scope, check));
}

/** "test" STRING "{" { test_part } "}" */
function checkTest(member: Member, scope: Scope, check: Check): AgentTest {
  const { block, token } = member;
  const settings = settingsOf(block, check);
  const [first, ...more] = settings.all('user').map((turn) => turn.token);
  if (block && lacks(block, ['user'], check))
    check.report('missing-turn', token, 'the test has no turn, expected "user" with a message');
  if (first) checkOrder(block?.members ?? [], first, check);
  checkCount([...(first ? [first] : []), ...more], { count: BOUNDS.turns, what: 'turns' }, check);
  countOf(settings.all('tool'), { count: BOUNDS.testTools, what: 'answers of tools' }, check);
  countOf(settings.all('expect'), { count: BOUNDS.expectations, what: 'expectations' }, check);
  return {
    name: checkTestName(member, check),
    ...placeOf(member, check),
    context: settings.read('context', (setting) => checkJson(setting, check)) ?? {},
    memory: settings.read('memory', (setting) => checkMemory(setting, scope, check)) ?? {},
    tools: settings.all('tool').flatMap((setting) => checkAnswer(setting, scope) ?? []),
    turns: checkTurns(block?.members ?? [], scope, check),
  };
}

function countOf(
  members: readonly Member[],
  max: { count: number; what: string },
  check: Check,
): void {
  checkCount(
    members.map(({ token }) => token),
    max,
    check,
  );
}

function checkTestName(member: Member, check: Check): string {
  const [token] = stringsOf(member);
  const bound = { max: BOUNDS.testNameLength, what: 'name of a test' };
  return token ? checkShortText(token, bound, check) : '';
}

function placeOf({ token }: Member, { source }: Check): TestPlace {
  const { line, column } = positionAt(source, token.start);
  return { line, column };
}

/** Reports expectations before the first turn, and what holds for the whole test after it. */
function checkOrder(members: readonly Member[], first: Token, { report }: Check): void {
  for (const { word, token } of members) {
    const isBefore = token.start < first.start;
    if (word === 'expect' && isBefore)
      report('wrong-order', token, 'an expectation belongs to a turn, write "user" before it');
    if ((word === 'context' || word === 'memory') && !isBefore)
      report('wrong-order', token, () => {
        return `"${word}" holds for the whole test, write it before the first "user"`;
      });
  }
}

/** { "user" TEXT { "expect" … } } */
function checkTurns(members: readonly Member[], scope: Scope, check: Check): AgentTest['turns'] {
  const turns: AgentTest['turns'] = [];
  for (const member of members) {
    if (member.word === 'user')
      turns.push({ message: checkFirstText(member, check), expectations: [] });
    if (member.word !== 'expect') continue;
    const expectation = checkExpectation(member, scope, check);
    if (expectation) turns.at(-1)?.expectations.push(expectation);
  }
  return turns;
}

function checkFirstText(member: Member, check: Check): string {
  const [token] = stringsOf(member);
  return token ? checkText(token, check) : '';
}

/** "memory" "{" { NAME TEXT } "}" */
function checkMemory({ block }: Member, { facts }: Scope, check: Check): AgentTest['memory'] {
  const members = block?.members ?? [];
  const names = members.map(({ token }) => token);
  checkNames(names, check, { max: { count: BOUNDS.facts, what: 'facts' } });
  for (const { word, token } of members) checkDeclared('fact', word, token, facts, check);
  return Object.fromEntries(members.map((fact) => [fact.word, checkFirstText(fact, check)]));
}

/** "tool" call ( "returns" | "fails" ) TEXT */
function checkAnswer(member: Member, { tools }: Scope): ToolAnswer | undefined {
  const tool = tools.check(member);
  const [token] = stringsOf(member);
  if (tool === undefined || !token) return undefined;
  return { tool, text: nameOf(token), isError: wordsOf(member)[0] === 'fails' };
}

/** The keywords among the arguments of a member. */
function wordsOf(member: Member): string[] {
  return member.arguments.flatMap(({ kind, token }) => (kind === 'word' ? [token.text] : []));
}

/** "expect" expected */
function checkExpectation(member: Member, scope: Scope, check: Check): Expectation | undefined {
  const [kind, second] = wordsOf(member);
  const place = placeOf(member, check);
  switch (kind) {
    case 'reply': {
      const test = REPLY_TESTS.find((name) => name === second);
      return test && { type: 'reply', test, text: checkFirstText(member, check), ...place };
    }
    case 'output':
      if (!scope.hasOutput)
        check.report(
          'missing-output',
          member.token,
          'the agent has no "output", its reply is text',
        );
      return { type: 'output', members: checkJson(member, check), ...place };
    case 'call': {
      const tool = scope.tools.check(member);
      if (tool === undefined) return undefined;
      return { type: 'call', tool, input: checkJson(member, check), ...place };
    }
    case 'no': {
      const tool = callOf(member) && scope.tools.check(member);
      return { type: 'no-call', ...(tool !== undefined && { tool }), ...place };
    }
    case 'tokens': {
      const below = numberOf(member, TOKENS, check);
      return below === undefined ? undefined : { type: 'tokens', below, ...place };
    }
    default:
      return undefined;
  }
}

/** The JSON object in the text of a member; without a text, an empty object. */
function checkJson(member: Member, { report }: Check): JsonObject {
  const [token] = stringsOf(member).filter(({ broken }) => !broken);
  if (!token) return {};
  const value = parseJson(nameOf(token));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (value === undefined) report('invalid-json', token, 'this text is not valid JSON');
  else if (!isObject) report('invalid-json', token, 'expected a JSON object, such as {"id": 1}');
  else if (isDeeper(value, BOUNDS.jsonLevels))
    report('invalid-json', token, `this JSON has over ${BOUNDS.jsonLevels} levels`);
  return isObject ? Object.fromEntries(Object.entries(value)) : {};
}
