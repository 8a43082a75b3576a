import { SCALARS } from '../../../../language/definition.ts';
import { BLOCKS, type BlockName, findRule } from '../../../../language/grammar.ts';
import type { Token } from '../../../../language/token.ts';
import { blockAt, indexBefore, type Syntax, stringAt } from './syntax.ts';

/** A sentence of the language's reference. Code is marked. */
export type Sentence = readonly (string | { code: string })[];

/** The sentences of the reference by chapter, which is a section of the page, which `build/language-help.ts` takes from its Markdown. */
export type Help = { readonly [chapter: string]: readonly Sentence[] };

/** A word in the definition that has an entry in the reference, and its chapter there. */
export type Topic = { from: number; to: number; word: string; chapter: string };

/** The section of the reference on each block. */
export const CHAPTERS: { readonly [block in BlockName]: string } = {
  agent: 'agent',
  model: 'model',
  memory: 'memory',
  output: 'output',
  limits: 'limits',
  web: 'channel',
  telegram: 'channel',
  tools: 'tools',
  mcp: 'mcp',
  capability: 'capability',
  approval: 'approval',
  input: 'input',
  request: 'request',
  test: 'test',
  remembered: 'test',
};

/** Arguments that have the help of another word. */
const ARGUMENT_WORDS: { readonly [word: string]: { word: string; chapter: string } } = {
  env: { word: 'env', chapter: 'Values' },
  mcp: { word: 'mcp', chapter: 'mcp' },
  none: { word: 'history', chapter: 'agent' },
  last: { word: 'history', chapter: 'agent' },
  messages: { word: 'history', chapter: 'agent' },
};

const ROOTS = ['context', 'memory', 'input', 'session', 'now', 'env'];

/** The largest number of sentences that the help shows. */
const SHOWN = 4;

/** The word at an offset that the reference explains. */
export function topicAt(syntax: Syntax, offset: number): Topic | undefined {
  const text = stringAt(syntax, offset);
  if (text) return rootAt(syntax.source.text, text, offset);
  const token = syntax.tokens[indexBefore(syntax, offset + 1)];
  if (token?.kind !== 'name' || token.end < offset) return undefined;
  const topic = topicOf(syntax, token);
  return topic && { from: token.start, to: token.end, ...topic };
}

/** Finds the reference's sentences on a topic. Sentences that begin with the topic come first. */
export function sentencesOn({ word, chapter }: Pick<Topic, 'word' | 'chapter'>, help: Help) {
  const all = help[chapter] ?? [];
  const named = all.filter((sentence) => codeOf(sentence).some((code) => hasWord(code, word)));
  const plain = new RegExp(`\\b${word}s?\\b`, 'i');
  const found = named.length > 0 ? named : all.filter((sentence) => plain.test(textOf(sentence)));
  const begins = new RegExp(`^(?:(?:An?|The) )?${word}\\b`, 'i');
  const isFirst = (sentence: Sentence) => Number(begins.test(textOf(sentence)));
  return found.toSorted((one, other) => isFirst(other) - isFirst(one)).slice(0, SHOWN);
}

/** The topic of a keyword that completion offers in a block, or of a root of a template's path. */
export function topicOfOption(
  { label, kind }: { label: string; kind: string },
  block: BlockName | undefined,
): Pick<Topic, 'word' | 'chapter'> | undefined {
  if (kind === 'type') return { word: label, chapter: 'input' };
  if (kind !== 'keyword') return undefined;
  return block ? ofWord(label, block) : { word: label.split(' ')[0] ?? label, chapter: 'Files' };
}

function codeOf(sentence: Sentence): string[] {
  return sentence.flatMap((part) => (typeof part === 'string' ? [] : [part.code]));
}

function textOf(sentence: Sentence): string {
  return sentence.map((part) => (typeof part === 'string' ? part : part.code)).join('');
}

/** Whether code names a word other than as a placeholder, such as `<group>`. */
function hasWord(code: string, word: string): boolean {
  return code.replaceAll(/<\w+>/g, '').split(/\W+/).includes(word);
}

function topicOf(syntax: Syntax, token: Token): Pick<Topic, 'word' | 'chapter'> | undefined {
  const { text: word } = token;
  const found = blockAt(syntax, token.start);
  if (!found) return token.startsLine ? { word, chapter: 'Files' } : undefined;
  const { block } = found;
  const member = block.members.findLast(({ token: first }) => first.start <= token.start);
  if (!member) return undefined;
  if (member.token === token) return ofWord(member.word, block.name);
  const argument = member.arguments.find((one) => one.token === token);
  if (argument?.kind === 'type')
    return SCALARS.some((name) => name === word) ? { word, chapter: 'input' } : undefined;
  if (member.word === 'channel') return { word, chapter: 'channel' };
  if (member.word === 'approval' && word === 'all') return { word, chapter: 'approval' };
  if (argument?.kind === 'word') return { word, chapter: 'test' };
  if (member.word === 'body') return { word: 'body', chapter: 'request' };
  return argument ? undefined : ARGUMENT_WORDS[word];
}

function ofWord(word: string, block: BlockName): Pick<Topic, 'word' | 'chapter'> | undefined {
  if (!BLOCKS[block].words) return undefined;
  const rule = findRule(block, word);
  const opened = rule?.block ?? Object.values(rule?.blocks ?? {})[0];
  return { word, chapter: CHAPTERS[opened ?? block] };
}

const TEMPLATE = /\{\{[ \t]*([A-Za-z_]\w*)/g;

/** The first name of a template's path. */
function rootAt(source: string, { start, end }: Token, offset: number): Topic | undefined {
  const lineStart = Math.max(start, source.lastIndexOf('\n', offset - 1) + 1);
  const lineEnd = source.indexOf('\n', offset);
  const line = source.slice(lineStart, Math.min(end, lineEnd === -1 ? end : lineEnd));
  for (const { 0: found, 1: word = '', index } of line.matchAll(TEMPLATE)) {
    const to = lineStart + index + found.length;
    const from = to - word.length;
    if (ROOTS.includes(word) && from <= offset && offset <= to)
      return { from, to, word, chapter: 'Templates' };
  }
  return undefined;
}
