import { BUILT_IN_GROUPS, MEMORY_GROUP } from '../../../../language/definition.ts';
import type { Member } from '../../../../language/syntax.ts';
import type { Token } from '../../../../language/token.ts';
import type { Option } from './option.ts';
import type { Syntax } from './syntax.ts';

/** The words after each word of an expectation. */
const NEXT: { readonly [word: string]: readonly string[] } = {
  expect: ['reply', 'output', 'call', 'no call', 'tokens below'],
  reply: ['contains', 'omits', 'is', 'judged'],
  no: ['call'],
  tokens: ['below'],
};

/** The parts of a test that may stand at an offset: an expectation follows a turn, and what holds for the whole test precedes it. */
export function partsAt(options: Option[], members: readonly Member[], from: number): Option[] {
  const first = members.find(({ word, token }) => word === 'user' && token.start !== from);
  const isAfter = first !== undefined && first.token.start < from;
  const others = isAfter ? ['context', 'memory'] : ['expect'];
  return options.filter(({ label }) => !others.includes(label));
}

/** What may follow a token in the arguments of `tool` and `expect`. */
export function inTest(member: Member, previous: Token, syntax: Syntax): Option[] {
  const before = syntax.tokens[previous.index - 1];
  if (previous.kind === '.') return inGroup(before?.text, syntax);
  const isKeyword = previous.kind === 'name' && before?.kind !== '.';
  const next = member.word === 'expect' && isKeyword ? NEXT[previous.text] : undefined;
  if (next) return next.map((label) => ({ label, kind: 'keyword' }));
  const takesTool =
    member.word === 'tool' ? previous === member.token : isKeyword && previous.text === 'call';
  if (takesTool) return toolsOf(syntax).map((label) => ({ label, kind: 'name' }));
  const isNamed = member.word === 'tool' && member.arguments.at(-1)?.token === previous;
  return isNamed ? ['returns', 'fails'].map((label) => ({ label, kind: 'keyword' })) : [];
}

/** The tools of a group, without its name. */
function inGroup(group: string | undefined, syntax: Syntax): Option[] {
  const start = `${group}.`;
  return toolsOf(syntax)
    .filter((name) => name.startsWith(start))
    .map((name) => ({ label: name.slice(start.length), kind: 'name' }));
}

/** The tools that a definition names, as a test writes them. */
function toolsOf({ document }: Syntax): string[] {
  const members = document?.agent.block?.members ?? [];
  const remembers = members.some(({ word }) => word === 'memory');
  return [
    ...members.filter(({ word }) => word === 'tools').flatMap(toolsIn),
    ...(remembers ? ['save', 'forget'].map((tool) => `${MEMORY_GROUP}.${tool}`) : []),
  ];
}

function toolsIn({ arguments: [name], block, form }: Member): string[] {
  const group = name?.token.text ?? '';
  const [, builtIn] = Object.entries(BUILT_IN_GROUPS).find(([known]) => known === group) ?? [];
  if (!block && !form) return builtIn?.map((tool) => `${group}.${tool}`) ?? [];
  const word = form ? 'only' : 'capability';
  const members = block?.members.filter((member) => member.word === word) ?? [];
  const tools = form
    ? members.flatMap((only) => only.arguments)
    : members.flatMap(({ arguments: all }) => all.slice(0, 1));
  return tools.map(({ token }) => `${group}.${token.text}`);
}
