import { SCALARS } from '../../../../language/definition.ts';
import { BLOCKS, type BlockName } from '../../../../language/grammar.ts';
import type { Token } from '../../../../language/token.ts';
import { blockAt, indexBefore, type Syntax, stringAt } from './syntax.ts';

/** A sentence of the language's manual. Code has marks of its own. */
export type Sentence = readonly (string | { code: string })[];

/** The sentences of the manual by chapter, which `build/language-help.ts` takes from its Markdown. */
export type Help = { readonly [chapter: string]: readonly Sentence[] };

/** A word in the definition that has an entry in the manual, and the manual's chapter. */
export type Topic = { from: number; to: number; word: string; chapter: string };

const CHAPTERS: { readonly [block in BlockName]: string } = {
  agent: 'The agent',
  model: 'The agent',
  memory: 'The agent',
  output: 'The agent',
  limits: 'The agent',
  web: 'Channels',
  telegram: 'Channels',
  tools: 'Tools',
  mcp: 'Tools',
  capability: 'Tools',
  input: 'Tools',
  request: 'Tools',
};

/** Arguments that have the help of another word. */
const ARGUMENT_WORDS: { readonly [word: string]: { word: string; chapter: string } } = {
  env: { word: 'env', chapter: 'Values' },
  mcp: { word: 'mcp', chapter: 'Tools' },
  none: { word: 'history', chapter: 'The agent' },
  last: { word: 'history', chapter: 'The agent' },
  messages: { word: 'history', chapter: 'The agent' },
};

const ROOTS = ['context', 'memory', 'input', 'session', 'now', 'env'];

/** The largest number of sentences that the help shows. */
const SHOWN = 4;

/** The word at an offset that the manual explains. */
export function topicAt(syntax: Syntax, offset: number): Topic | undefined {
  const text = stringAt(syntax, offset);
  if (text) return rootAt(syntax.source.text, text, offset);
  const token = syntax.tokens[indexBefore(syntax, offset + 1)];
  if (token?.kind !== 'name' || token.end < offset) return undefined;
  const topic = topicOf(syntax, token);
  return topic && { from: token.start, to: token.end, ...topic };
}

/** Finds the manual's sentences on a topic. Sentences that begin with the topic come first. */
export function sentencesOn({ word, chapter }: Pick<Topic, 'word' | 'chapter'>, help: Help) {
  const all = help[chapter] ?? [];
  const named = all.filter((sentence) => codeOf(sentence).some((code) => hasWord(code, word)));
  const plain = new RegExp(`\\b${word}s?\\b`, 'i');
  const found = named.length > 0 ? named : all.filter((sentence) => plain.test(textOf(sentence)));
  const begins = new RegExp(`^(?:(?:An?|The|In its block) )?${word}\\b`, 'i');
  const isFirst = (sentence: Sentence) => Number(begins.test(textOf(sentence)));
  return found.toSorted((one, other) => isFirst(other) - isFirst(one)).slice(0, SHOWN);
}

/** The topic of a keyword that completion offers in a block, or of a root of a template's path. */
export function topicOfOption(
  { label, kind }: { label: string; kind: string },
  block: BlockName | undefined,
): Pick<Topic, 'word' | 'chapter'> | undefined {
  if (kind === 'type') return { word: label, chapter: 'Tools' };
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
    return SCALARS.some((name) => name === word) ? { word, chapter: 'Tools' } : undefined;
  if (member.word === 'channel') return { word, chapter: 'Channels' };
  if (member.word === 'body') return { word: 'body', chapter: 'Tools' };
  return argument ? undefined : ARGUMENT_WORDS[word];
}

function ofWord(word: string, block: BlockName): Pick<Topic, 'word' | 'chapter'> | undefined {
  if (!BLOCKS[block].words) return undefined;
  if (word === 'channel') return { word, chapter: 'Channels' };
  return { word, chapter: word === 'tools' ? 'Tools' : CHAPTERS[block] };
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
