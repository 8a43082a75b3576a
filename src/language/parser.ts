import { createBraces } from './braces.ts';
import { createCursor } from './cursor.ts';
import type { Report } from './diagnostic.ts';
import { AGENT_RULE, VERSION_RULE } from './grammar.ts';
import { checkIsText, type Tokens, tokenize } from './lexer.ts';
import { createMemberParser } from './members.ts';
import type { Source } from './source.ts';
import type { Document, Member } from './syntax.ts';
import { describe, shorten } from './token.ts';

/** The supported version of the language. */
export const LANGUAGE_VERSION = 5;

export type Parsed = Tokens & { readonly document: Document };

/**
 * Parses the syntax of a source.
 *
 * @returns undefined if the source is not text or has no agent of this version. Only that problem is then reported.
 */
export function parseSource(source: Source, report: Report): Parsed | undefined {
  if (!checkIsText(source, report)) return undefined;
  const held: Parameters<Report>[] = [];
  const tokens = tokenize(source, (...problem) => held.push(problem));
  const document = parse(source, tokens, report);
  if (!document) return undefined;
  for (const problem of held) report(...problem);
  return { ...tokens, document };
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
  const braces = createBraces(source, tokens, report);
  const { parseMember } = createMemberParser(cursor, braces, report);

  /** definition = "agentlang" INT agent ; */
  function parseDocument(): Document | undefined {
    const header = parseHeader();
    if (header && !isSupported(header)) return undefined;
    const found = cursor.peek();
    if (header && !cursor.atWord('agent'))
      report('syntax', found, `expected "agent", found ${describe(found)}`);
    while (!cursor.atWord('agent') && !cursor.at('end')) cursor.next();
    if (cursor.at('end')) return undefined;
    const agent = parseMember('agent', AGENT_RULE, report);
    parseEnd();
    return { header, agent };
  }

  function parseHeader(): Member | undefined {
    if (cursor.atWord('agentlang')) return parseMember('agentlang', VERSION_RULE, report);
    const found = cursor.peek();
    const message = `expected "agentlang ${LANGUAGE_VERSION}", found ${describe(found)}`;
    report('missing-header', found, message);
    return undefined;
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
