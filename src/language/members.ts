import { reportInvalidName } from './arguments.ts';
import type { Braces } from './braces.ts';
import { type Cursor, reportExpected } from './cursor.ts';
import type { Report } from './diagnostic.ts';
import { BLOCKS, type BlockName, findRule, type Rule, wordsOf } from './grammar.ts';
import { createHeadParser, type Head } from './heads.ts';
import { stringValue } from './strings.ts';
import { suggest } from './suggest.ts';
import type { Block, Member } from './syntax.ts';
import { describe, quote, type Token } from './token.ts';
import { readUnknownWord } from './unknown-word.ts';

/** Unknown words of a source that are matched to the nearest known word. Further ones are skipped. */
const MAX_GUESSES = 500;

/** The parser of members and blocks, driven by the table in grammar.ts. */
export function createMemberParser(cursor: Cursor, braces: Braces, report: Report) {
  const parseHead = createHeadParser(cursor, report, { isKnown, guess });
  /** The enclosing blocks, innermost last. */
  const path: BlockName[] = [];
  /** Keywords in a block that does not allow them. */
  const misplaced = new Set<string>();
  let guesses = 0;

  function guess(word: string, words: readonly string[]): string | undefined {
    guesses += 1;
    return guesses > MAX_GUESSES ? undefined : suggest(word, words);
  }

  /** member = word { argument } [ block ] ; */
  function parseMember(word: string, rule: Rule): Member {
    const token = cursor.next();
    const head = parseHead(rule);
    const headEnd = cursor.previous();
    const block = parseTail(token, head);
    const lacksBlock = head.rule.block !== undefined && !head.rule.blockOptional && !block;
    const damaged = !head.complete || lacksBlock;
    return { word, token, arguments: head.arguments, form: head.form, block, headEnd, damaged };
  }

  /** Parses the block after a head, even if its opening brace is missing. */
  function parseTail(owner: Token, head: Head): Block | undefined {
    const { complete, rule } = head;
    const { blockOptional } = rule;
    const block = blockOf(head);
    if (block && cursor.at('{')) return parseBlock(block, owner, cursor.next());
    if (block && isBraceForgotten(block, blockOptional === true)) {
      reportExpected('"{"', cursor, report);
      braces.noteUnopened();
      return parseBlock(block, owner, cursor.peek());
    }
    if (block && !blockOptional && complete) {
      reportExpected('"{"', cursor, report);
      cursor.skipToMember(isKnown);
    }
    if (cursor.at('{') && (!complete || rule.blocks)) skipBlock();
    return undefined;
  }

  /** The block that may follow a head. Undefined if none may, or if it depends on an unknown name. */
  function blockOf({ rule, arguments: [name] }: Head): BlockName | undefined {
    if (!rule.blocks || name?.kind !== 'name') return rule.block;
    const { text } = name.token;
    const meant = Object.hasOwn(rule.blocks, text) ? text : guess(text, Object.keys(rule.blocks));
    return meant === undefined ? undefined : rule.blocks[meant];
  }

  /** Whether an opening brace is missing here: closing braces are left over, and the next token belongs into the block. */
  function isBraceForgotten(block: BlockName, isOptional: boolean): boolean {
    const { kind, text, startsLine } = cursor.peek();
    if (!braces.isUnopened()) return false;
    if (kind === '}') return !startsLine;
    if (kind !== 'name') return false;
    if (!isOptional) return true;
    return !isKnown(text) && (findRule(block, text) ?? guess(text, wordsOf(block))) !== undefined;
  }

  /**
   * block = "{" { member } "}" ;
   *
   * @param owner the word of the member that has the block.
   * @param open the opening brace, already consumed.
   */
  function parseBlock(name: BlockName, owner: Token, open: Token): Block {
    const members: Member[] = [];
    const unnamed: Token[] = [];
    let close: Token | undefined;
    path.push(name);
    while (!close && !endsWithoutBrace(owner)) {
      if (cursor.at('}')) {
        const brace = cursor.next();
        if (isStray(brace, owner)) braces.reportStray(brace);
        else close = brace;
      } else {
        const first = cursor.peek();
        const isFirst = first.startsLine || cursor.previous().kind === '{';
        const member = parseNext(name, isFirst);
        if (member) members.push(member);
        else if (isFirst) unnamed.push(first);
      }
    }
    path.pop();
    if (!close) braces.reportUnclosed(owner, cursor.peek());
    return { name, open, close: close ?? cursor.peek(), members, unnamed };
  }

  /** Whether the block's closing brace is missing before the next token. */
  function endsWithoutBrace(owner: Token): boolean {
    const token = cursor.peek();
    if (token.kind === 'end' || !braces.isUnclosed()) return token.kind === 'end';
    const isInner = path.length > 1;
    if (isInner && braces.isOutdented(owner, token)) return true;
    return token.kind === 'name' && isOfOuterBlock(token);
  }

  /** Whether a word belongs to an outer block. In a block of names, any word is a name unless the source is unindented. */
  function isOfOuterBlock({ text, startsLine }: Token): boolean {
    const [block, ...outer] = path.toReversed();
    if (block === undefined || isKnown(text)) return false;
    if (BLOCKS[block].names && (braces.isIndented || !startsLine)) return false;
    return outer.some((name) => findRule(name, text) !== undefined);
  }

  /** Whether a closing brace is superfluous: it is indented too far, or the next token belongs to the block. */
  function isStray(brace: Token, owner: Token): boolean {
    if (!braces.isUnopened()) return false;
    const next = cursor.peek();
    const offset = braces.offsetFrom(owner, next);
    if ((braces.offsetFrom(owner, brace) ?? 0) > 0) return true;
    return offset === undefined ? isKnown(next.text) && !isOfOuterBlock(next) : offset > 0;
  }

  /** Parses the next member of a block. @param isFirst whether it begins a line or the block. @returns undefined if it is invalid; the cursor moves in any case. */
  function parseNext(block: BlockName, isFirst: boolean): Member | undefined {
    const token = cursor.peek();
    const { names, member } = BLOCKS[block];
    const rule = names ?? findRule(block, token.text);
    if (rule && token.kind === 'name') {
      if (names) noteSwallowed(token.text);
      return parseMember(token.text, rule);
    }
    if (names && isWord(token) && /[\p{L}\p{N}_]/u.test(token.text)) {
      reportInvalidName(token, report);
      if (isFirst) return parseMember(validName(token.text), names);
      skipMember();
      return undefined;
    }
    if (!names && isWord(token)) return parseUnknown(token, block);
    if (!cursor.previous().broken)
      report('syntax', token, () => `expected ${member} or "}", found ${describe(token)}`);
    const quoted = isFirst && quotedWord(token, block);
    if (quoted) return parseMember(quoted.word, quoted.rule);
    if (!skipExtraBraces()) skipMember();
    return undefined;
  }

  /** The word that a string holds. */
  function quotedWord(token: Token, block: BlockName) {
    if (token.kind !== 'string' || token.broken) return undefined;
    const word = stringValue(token);
    const rule = BLOCKS[block].names ?? findRule(block, word);
    return rule && NAME.test(word) ? { word, rule } : undefined;
  }

  /** Notes a keyword that an unclosed block of names may have taken from an outer block. */
  function noteSwallowed(word: string): void {
    if (braces.isUnclosed() && path.some((outer) => findRule(outer, word))) misplaced.add(word);
  }

  /** Skips superfluous opening braces. */
  function skipExtraBraces(): boolean {
    const isExtra = () => cursor.at('{') && braces.isUnclosed();
    if (!isExtra()) return false;
    while (isExtra()) {
      cursor.next();
      braces.noteExtra();
    }
    return true;
  }

  /** Reports an unknown word, then parses it as the nearest known word or skips its member. */
  function parseUnknown(token: Token, block: BlockName): Member | undefined {
    const { text } = token;
    const { meant, isForeign, explain } = readUnknownWord(text, block, guess);
    report('unknown-setting', token, () => `unknown setting ${quote(text)}${explain()}`);
    const rule = meant === undefined ? undefined : findRule(block, meant);
    if (meant !== undefined && rule && (!isForeign || cursor.mayFollow(rule)))
      return parseMember(meant, rule);
    misplaced.add(meant ?? text);
    skipMember();
    return undefined;
  }

  function skipMember(): void {
    if (!cursor.at('{')) {
      cursor.next();
      cursor.skipToMember(isKnown);
    }
    if (cursor.at('{')) skipBlock();
  }

  function skipBlock(): void {
    if (!cursor.skipBlock()) braces.settle();
  }

  /** Whether the innermost block defines this keyword. A block of names defines none. */
  function isKnown(word: string): boolean {
    const block = path.at(-1);
    return block !== undefined && findRule(block, word) !== undefined;
  }

  return { parseMember, isMisplaced: (word: string) => misplaced.has(word) };
}

const NAME = /^[A-Za-z_]\w*$/;

/** The valid name that an invalid one resembles, so that templates which use it are no further mistakes. */
function validName(text: string): string {
  return text
    .replaceAll(/\W+/g, '_')
    .replace(/_$/, '')
    .replace(/^(?=\d)/, '_');
}

/** Whether the author may have meant a token as a word, even if it is not a valid name. */
function isWord({ kind }: Token): boolean {
  return kind === 'name' || kind === 'other';
}
