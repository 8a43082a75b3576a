import { createBraces } from './braces.ts';
import { createCursor } from './cursor.ts';
import type { Report } from './diagnostic.ts';
import { AGENT_RULE, VERSION_RULE } from './grammar.ts';
import { type Tokens, tokenize, withoutInvalidCharacters } from './lexer.ts';
import { createMemberParser } from './members.ts';
import type { Source } from './source.ts';
import { suggest } from './suggest.ts';
import type { Document, Member } from './syntax.ts';
import { describe, shorten, type Token } from './token.ts';

/** The supported version of the language. */
const LANGUAGE_VERSION = 5;

export type Parsed = Tokens & {
  /** Without invalid characters. */
  readonly source: Source;
  readonly document: Document;
};

/**
 * Parses the syntax of a source.
 *
 * @returns undefined if the source has no agent of this version. What follows is then not reported.
 */
export function parseSource(input: Source, report: Report): Parsed | undefined {
  const source = withoutInvalidCharacters(input, report);
  const held: Parameters<Report>[] = [];
  const tokens = tokenize(source, (...problem) => held.push(problem));
  const document = parse(source, tokens, report);
  if (!document) return undefined;
  for (const problem of held) report(...problem);
  return { ...tokens, source, document };
}

/**
 * Parses tokens into words with arguments and blocks, by the table in grammar.ts. It reports each mistake once and
 * continues at the next member. The checker validates the values.
 *
 * We use no parser generator: the language is one form repeated (a word, arguments, a block), so one table and a few
 * functions are the whole grammar. The recovery from a missing brace can then use words, lines and indentation. The table
 * bounds the nesting of blocks, so no source can exhaust the stack.
 */
function parse(source: Source, { tokens }: Tokens, report: Report): Document | undefined {
  const cursor = createCursor(tokens);
  const last = tokens.at(-2);
  /** Whether a text without closing quotes takes the rest of the file. */
  const isCutOff = last?.kind === 'triple' && last.broken;
  const braces = createBraces(source, tokens, report, isCutOff);
  const { parseMember, isMisplaced } = createMemberParser(cursor, braces, report);

  /** definition = "agentlang" INT agent ; */
  function parseDocument(): Document | undefined {
    const header = parseHeader();
    if (header && !isSupported(header)) return undefined;
    const found = cursor.peek();
    const isNamed = cursor.atWord('agent');
    if (header && !isNamed) report('syntax', found, `expected "agent", found ${describe(found)}`);
    if (isNamed || !header || !isAgent(found))
      while (!cursor.atWord('agent') && !cursor.at('end')) cursor.next();
    if (cursor.at('end')) return undefined;
    const agent = parseMember('agent', AGENT_RULE);
    parseEnd();
    return { header, agent, mayHide: (word) => isCutOff || isMisplaced(word) };
  }

  /** Whether a word replaces "agent": a string and a block follow. */
  function isAgent({ kind, index }: Token): boolean {
    return (
      kind === 'name' && tokens[index + 1]?.kind === 'string' && tokens[index + 2]?.kind === '{'
    );
  }

  function parseHeader(): Member | undefined {
    if (cursor.atWord('agentlang')) return parseMember('agentlang', VERSION_RULE);
    const found = cursor.peek();
    const message = `expected "agentlang ${LANGUAGE_VERSION}", found ${describe(found)}`;
    report('missing-header', found, message);
    const isMisspelled = suggest(found.text, ['agentlang']) !== undefined;
    return isMisspelled ? parseMember('agentlang', VERSION_RULE) : undefined;
  }

  function isSupported({ arguments: [version] }: Member): boolean {
    if (version?.kind !== 'number' || version.value === LANGUAGE_VERSION) return true;
    const text = shorten(version.token.text);
    const message = `version ${text} is not supported, expected ${LANGUAGE_VERSION}`;
    report('unsupported-version', version.token, message);
    return false;
  }

  function parseEnd(): void {
    const found = cursor.peek();
    if (found.kind === 'end') return;
    if (found.kind === '}') {
      braces.reportStray(found);
      return;
    }
    const one = cursor.atWord('agent') ? ', a file defines one agent' : '';
    report('syntax', found, `expected the end of the file, found ${describe(found)}${one}`);
  }

  return parseDocument();
}
