import { createBraces } from './braces.ts';
import { createCursor } from './cursor.ts';
import type { Report } from './diagnostic.ts';
import { AGENT_RULE, VERSION_RULE } from './grammar.ts';
import { checkIsText, type Tokens, tokenize } from './lexer.ts';
import { createMemberParser } from './members.ts';
import type { Source } from './source.ts';
import type { Document, Member } from './syntax.ts';
import { describe, shorten } from './token.ts';

/** The version of the language that is understood here. */
export const LANGUAGE_VERSION = 5;

export type Parsed = Tokens & { readonly document: Document };

/**
 * Reads a source as far as its syntax goes.
 *
 * @returns nothing where it is no text or no agent of this version was found; then only this is reported.
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
 * Reads tokens into words, their arguments and blocks, as the table in grammar.ts allows them. It reports every
 * mistake once and goes on where the next member begins; which values make sense is the checker's business.
 *
 * Written by hand, and not with a parser generator: a definition is one form repeated (a word, arguments, a
 * block), so that one table and a few functions are the whole grammar, and the recovery from a missing brace can
 * look at what an author looks at: the words, the lines and their indentation. Blocks nest as deep as the table
 * does, never as deep as the source does, so that no source can exhaust the stack.
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
      report('syntax', found.start, `expected "agent", found ${describe(found)}`);
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
    report('missing-header', found.start, message);
    return undefined;
  }

  function isSupported({ arguments: [version] }: Member): boolean {
    if (version?.kind !== 'number' || version.value === LANGUAGE_VERSION) return true;
    const text = shorten(version.token.text);
    const message = `version ${text} is not supported, expected ${LANGUAGE_VERSION}`;
    report('unsupported-version', version.token.start, message);
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
    report('syntax', found.start, `expected the end of the file, found ${describe(found)}${one}`);
  }

  return parseDocument();
}
