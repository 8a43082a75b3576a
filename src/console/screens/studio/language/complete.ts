import {
  BODY_FORMATS,
  BUILT_IN_GROUPS,
  CHANNELS,
  REASONING_EFFORTS,
  SCALARS,
} from '../../../../language/definition.ts';
import { BLOCKS, type BlockName, type Shape } from '../../../../language/grammar.ts';
import type { Member } from '../../../../language/syntax.ts';
import type { Token } from '../../../../language/token.ts';
import { inTest, partsAt } from './complete-tests.ts';
import type { Option } from './option.ts';
import {
  envNamesOf,
  factsOf,
  inputsOf,
  REQUESTS,
  takesTemplates,
  templatePathsOf,
} from './references.ts';
import { snippetOf } from './snippet.ts';
import { blockAt, indexBefore, isInComment, ruleOf, type Syntax, stringAt } from './syntax.ts';

/** What may stand at an offset. `from` is where the typed beginning of it starts. */
export type Completion = { from: number; options: Option[] };

/** @param deployed the names of the variables that have a value. */
export function completionsAt(
  syntax: Syntax,
  offset: number,
  deployed: readonly string[] = [],
): Completion | undefined {
  if (isInComment(syntax, offset)) return undefined;
  const text = stringAt(syntax, offset);
  if (text) return inTemplate(syntax, text, offset, deployed);
  const index = indexBefore(syntax, offset);
  const typed = syntax.tokens[index];
  const isTyping = typed?.kind === 'name' && typed.end >= offset;
  const from = isTyping ? typed.start : offset;
  const previous = syntax.tokens[isTyping ? index - 1 : index];
  const options = optionsAt(syntax, from, previous, deployed);
  return options.length > 0 ? { from, options } : undefined;
}

function optionsAt(
  syntax: Syntax,
  from: number,
  previous: Token | undefined,
  deployed: readonly string[],
): Option[] {
  const found = blockAt(syntax, from);
  if (!found) return atTop(syntax, from, previous);
  const { block, owners } = found;
  const member = block.members.findLast(({ token }) => token.start < from);
  const goesOn = previous?.kind === ',' || previous?.kind === '|';
  const isSameLine = previous && !syntax.source.text.slice(previous.end, from).includes('\n');
  const isAfterHead = member && previous && previous.start >= member.token.start;
  const isAfterBlock = member?.block && from > member.block.close.start;
  if (isAfterHead && !isAfterBlock && (isSameLine || goesOn))
    return argumentsAt(syntax, member, block.name, previous, { owners, deployed });
  const isFree = !isSameLine || previous?.kind === '{' || previous?.kind === '}';
  if (!isFree) return [];
  if (block.name === 'remembered') return names(factsOf(syntax), 'name');
  const words = wordsIn(block.name, block.members, from);
  return block.name === 'test' ? partsAt(words, block.members, from) : words;
}

/** The words that a block still allows. A capability has one request, and its input before it. */
function wordsIn(name: BlockName, members: readonly Member[], from: number): Option[] {
  const others = members.filter(({ token }) => token.start !== from);
  const present = new Set(others.map(({ word }) => word));
  const request = others.find(({ word }) => REQUESTS.includes(word));
  const isLate = request !== undefined && request.token.start < from;
  return Object.entries(BLOCKS[name].words ?? {})
    .filter(([word, { repeats }]) => repeats || !present.has(word))
    .filter(([word]) => !request || !REQUESTS.includes(word))
    .filter(([word]) => !(isLate && word === 'input'))
    .filter(([word]) => !(request?.word === 'get' && CHANGE_MARKS.includes(word)))
    .map(([label, rule]) => ({ label, kind: 'keyword', snippet: snippetOf(label, rule) }));
}

/** Settings of a capability without an effect on a request that only reads. */
const CHANGE_MARKS = ['reads', 'repeatable'];

const HEADER: Option = { label: 'agentlang 5', kind: 'keyword' };
const AGENT: Option = {
  label: 'agent',
  kind: 'keyword',
  snippet: 'agent "#{name}" {\n\tprompt """\n\t\t#{You are a helpful agent.}\n\t\t"""\n}',
};

function atTop({ document, tokens }: Syntax, from: number, previous: Token | undefined): Option[] {
  if (!previous) return [HEADER];
  const hasAgent = document && document.agent.token.start < from;
  return hasAgent || tokens[0]?.text !== 'agentlang' || previous === tokens[0] ? [] : [AGENT];
}

type Around = { owners: readonly Member[]; deployed: readonly string[] };

/** What may follow a member's word and the arguments that stand before the offset. */
function argumentsAt(
  syntax: Syntax,
  member: Member,
  block: BlockName,
  previous: Token,
  { owners, deployed }: Around,
): Option[] {
  const { tokens } = syntax;
  if (previous.kind === '.' && tokens[previous.index - 1]?.text === 'env')
    return variables(syntax, deployed);
  if (block === 'test') return inTest(member, previous, syntax);
  if (previous.kind === '.') return [];
  const rule = ruleOf(member, block);
  // Only the first argument and the items of a list have options.
  const shape =
    previous.kind === ',' ? rule?.shapes.find((one) => LISTS.has(one)) : rule?.shapes[0];
  if (shape && (previous === member.token || previous.kind === ','))
    return ofShape(shape, member, syntax, { owners, deployed }, previous);
  if (shape === 'window' && previous.kind === 'integer') return names(['messages'], 'constant');
  const isNamed = previous === member.arguments[0]?.token;
  return rule?.form && isNamed ? [{ label: rule.form.word, kind: 'keyword' }] : [];
}

const LISTS: ReadonlySet<Shape> = new Set(['strings', 'tools', 'approved', 'names']);

const names = (labels: readonly string[], kind: Option['kind']): Option[] =>
  labels.map((label) => ({ label, kind }));

function ofShape(
  shape: Shape,
  { word }: Member,
  syntax: Syntax,
  { owners, deployed }: Around,
  previous: Token,
): Option[] {
  switch (shape) {
    case 'name':
      if (word === 'channel') return names(CHANNELS, 'constant');
      return word === 'tools' ? names(Object.keys(BUILT_IN_GROUPS), 'constant') : [];
    case 'tools':
      return word === 'only' ? [] : names(toolsIn(owners.at(-1)), 'name');
    case 'approved': {
      const all = previous.kind === ',' ? [] : names(['all'], 'constant');
      return [...all, ...names(toolsIn(owners.at(-1)), 'name')];
    }
    case 'address':
    case 'chats':
    case 'env':
      return variables(syntax, deployed).map(({ label, ...rest }) => ({
        ...rest,
        label: `env.${label}`,
      }));
    case 'type':
      return names(SCALARS, 'type');
    case 'body':
      return names(owners.at(-1)?.word === 'get' ? ['none'] : BODY_FORMATS, 'constant');
    case 'effort':
      return names(REASONING_EFFORTS, 'constant');
    case 'window':
      return names(['none', 'last 20 messages'], 'constant');
    case 'names':
      return names(inputsOf(capabilityIn(owners)), 'name');
    default:
      return [];
  }
}

function variables(syntax: Syntax, deployed: readonly string[]): Option[] {
  const all = [...new Set([...deployed, ...envNamesOf(syntax)])].sort();
  return all.map((label) => ({
    label,
    kind: 'variable',
    detail: deployed.includes(label) ? 'has a value' : 'no value yet',
  }));
}

/** The tools that a server's `only` names, as they are written. */
function toolsIn(server: Member | undefined): string[] {
  const only = server?.block?.members.find(({ word }) => word === 'only');
  return only?.arguments.map(({ token }) => token.text) ?? [];
}

function capabilityIn(owners: readonly Member[]): Member | undefined {
  return owners.findLast(({ word }) => word === 'capability');
}

/** The beginning of a template that is open at the end of a text. */
const OPEN_TEMPLATE = /\{\{[ \t]*([\w.]*)$/;

/** The paths that a template may have in a string. */
function inTemplate(
  syntax: Syntax,
  { start }: Token,
  offset: number,
  deployed: readonly string[],
): Completion | undefined {
  const [, path] = OPEN_TEMPLATE.exec(syntax.source.text.slice(start, offset)) ?? [];
  const found = path === undefined ? undefined : blockAt(syntax, start);
  const member = found?.block.members.findLast(({ token }) => token.start < start);
  if (path === undefined || !found || !member) return undefined;
  if (!takesTemplates(member, found.block.name)) return undefined;
  const paths = pathsFor(syntax, found.block.name, [...found.owners, member], deployed);
  return { from: offset - path.length, options: names(paths, 'variable') };
}

function pathsFor(
  syntax: Syntax,
  block: BlockName,
  owners: readonly Member[],
  deployed: readonly string[],
): string[] {
  const used = templatePathsOf(syntax).map(({ path }) => path.join('.'));
  const context = [...new Set(used)].filter((path) => path.startsWith('context.'));
  const capability = capabilityIn(owners);
  return [
    ...inputsOf(capability).map((name) => `input.${name}`),
    ...factsOf(syntax).map((name) => `memory.${name}`),
    ...(block === 'agent' ? [] : variables(syntax, deployed).map(({ label }) => `env.${label}`)),
    ...context,
    'context.',
    'session.id',
    'now',
  ];
}
