import { type Arguments, parseArguments, reportInvalidName } from './arguments.ts';
import type { Braces } from './braces.ts';
import { type Cursor, reportExpected } from './cursor.ts';
import type { Report } from './diagnostic.ts';
import {
  BLOCKS,
  type BlockName,
  type Form,
  findHomes,
  findRule,
  type Rule,
  wordsOf,
} from './grammar.ts';
import { hint, suggest } from './suggest.ts';
import type { Block, Member } from './syntax.ts';
import { describe, quote, type Token } from './token.ts';

/** The names of the blocks around a place, the innermost last. */
type Path = readonly BlockName[];

/** What stands between a member's word and its block. */
type Head = Arguments & {
  form: string | undefined;
  /** The rule that says which block may follow. */
  rule: Rule;
};

/** Says nothing: for what follows from a mistake that is already reported. */
const quietly: Report = () => {};

/** The parser of members and blocks: the part of the language that the table in grammar.ts drives. */
export function createMemberParser(cursor: Cursor, braces: Braces, report: Report) {
  /**
   * member = word { argument } [ block ] ;
   *
   * @param say where mistakes before its block are reported.
   */
  function parseMember(word: string, rule: Rule, path: Path, say: Report): Member {
    const token = cursor.next();
    const head = parseHead(rule, path, say);
    const headEnd = cursor.previous();
    const block = parseTail(token, head, path, say);
    const lacksBlock = head.rule.block !== undefined && !head.rule.blockOptional && !block;
    const damaged = !head.complete || lacksBlock;
    return { word, token, arguments: head.arguments, form: head.form, block, headEnd, damaged };
  }

  function parseHead(rule: Rule, path: Path, say: Report): Head {
    const head = parseArguments(rule.shapes, cursor, say);
    const { form } = rule;
    const isKnown = isKnownIn(path);
    if (!head.complete) cursor.skipToMember((word) => word === form?.word || isKnown(word));
    if (form && cursor.atWord(form.word)) return parseForm(head, form, path, say);
    const token = cursor.peek();
    const isStrayWord = (cursor.at('name') || cursor.at('other')) && !token.startsLine;
    if (!form || !head.complete || !isStrayWord || isKnown(token.text))
      return { ...head, form: undefined, rule };
    reportExpected(`"{" or "${form.word}"`, cursor, say);
    const isMeant = suggest(token.text, [form.word]) !== undefined;
    if (isMeant) return parseForm({ ...head, complete: false }, form, path, quietly);
    cursor.skipToMember(isKnown);
    return { ...head, complete: false, form: undefined, rule: { shapes: [] } };
  }

  /** The word that leads on to another rule, and what that one wants. */
  function parseForm(head: Arguments, form: Form, path: Path, say: Report): Head {
    cursor.next();
    const rest = parseHead(form.rule, path, say);
    return {
      arguments: [...head.arguments, ...rest.arguments],
      complete: head.complete && rest.complete,
      form: form.word,
      rule: rest.rule,
    };
  }

  /** The block after a head, also where its opening brace was forgotten. */
  function parseTail(owner: Token, head: Head, path: Path, say: Report): Block | undefined {
    const { block, blockOptional } = head.rule;
    if (block && cursor.at('{')) return parseBlock(block, owner, path, cursor.next());
    if (block && isBraceForgotten(head.rule, path)) {
      reportExpected('"{"', cursor, say);
      braces.noteUnopened();
      return parseBlock(block, owner, path, cursor.peek());
    }
    if (block && !blockOptional && head.complete) {
      reportExpected('"{"', cursor, say);
      cursor.skipToMember(isKnownIn(path));
    }
    if (cursor.at('{') && (!head.complete || say === quietly)) cursor.skipBlock();
    return undefined;
  }

  /** Whether closing braces are left over, and the next word is one for the block that should open here. */
  function isBraceForgotten({ block, blockOptional }: Rule, path: Path): boolean {
    const { kind, text } = cursor.peek();
    if (!block || !braces.isUnopened() || kind !== 'name') return false;
    return !blockOptional || (findRule(block, text) !== undefined && !isKnownIn(path)(text));
  }

  /**
   * block = "{" { member } "}" ;
   *
   * @param owner the word that the block belongs to.
   * @param open its brace, which is passed.
   */
  function parseBlock(name: BlockName, owner: Token, outer: Path, open: Token): Block {
    const path = [...outer, name];
    const members: Member[] = [];
    let damaged = false;
    while (!endsWithoutBrace(owner, path)) {
      if (cursor.at('}')) {
        const close = cursor.next();
        if (!isStray(close, owner, outer)) return { name, open, close, members, damaged };
        braces.reportStray(close);
      } else {
        const member = parseNext(name, path);
        if (member) members.push(member);
        damaged ||= BLOCKS[name].names !== undefined && (!member || member.damaged);
      }
    }
    braces.reportUnclosed(owner, cursor.peek());
    return { name, open, close: cursor.peek(), members, damaged: true };
  }

  /** Whether the next token shows that the block's closing brace was forgotten before it. */
  function endsWithoutBrace(owner: Token, path: Path): boolean {
    const token = cursor.peek();
    if (token.kind === 'end' || braces.isOutdented(owner, token)) return true;
    const isOuterWord =
      token.kind === 'name' && !isKnownIn(path)(token.text) && isOuter(token.text, path);
    return isOuterWord && braces.isUnclosed();
  }

  /** Whether a closing brace is one too many: too far right, or the agent's own with more settings after it. */
  function isStray(brace: Token, owner: Token, outer: Path): boolean {
    if (braces.isIndentedBrace(owner, brace)) return true;
    const isEarly = outer.length === 0 && isKnownIn(['agent'])(cursor.peek().text);
    return isEarly && braces.isUnopened();
  }

  /** The next member of a block, if it can be read. Whatever stands there, the cursor moves on. */
  function parseNext(block: BlockName, path: Path): Member | undefined {
    const token = cursor.peek();
    const { names, member } = BLOCKS[block];
    if (token.kind === 'other' && names) {
      reportInvalidName(token, report);
      parseMember(token.text, names, path, quietly);
      return undefined;
    }
    if (token.kind === 'name' || token.kind === 'other') {
      const rule = names ?? findRule(block, token.text);
      return rule ? parseMember(token.text, rule, path, report) : parseUnknown(token, block, path);
    }
    report('syntax', token.start, `expected ${member} or "}", found ${describe(token)}`);
    skipMember(path);
    return undefined;
  }

  /** A word that the block does not know: read as the one that was meant, or skipped with all that follows it. */
  function parseUnknown(token: Token, block: BlockName, path: Path): Member | undefined {
    const homes = findHomes(token.text);
    const words = wordsOf(block);
    const end =
      homes.length > 0 ? `, it belongs in ${homes.join(' or ')}` : hint(token.text, words);
    report('unknown-setting', token.start, `unknown setting ${quote(token.text)}${end}`);
    const meant = homes.length > 0 ? undefined : suggest(token.text, words);
    const rule = meant === undefined ? undefined : findRule(block, meant);
    if (meant !== undefined && rule) return parseMember(meant, rule, path, quietly);
    skipMember(path);
    return undefined;
  }

  function skipMember(path: Path): void {
    if (!cursor.at('{')) {
      cursor.next();
      cursor.skipToMember(isKnownIn(path));
    }
    if (cursor.at('{')) cursor.skipBlock();
  }

  return { parseMember };
}

/** Whether the innermost block takes a word; a block of names takes none. */
function isKnownIn(path: Path) {
  const block = path.at(-1);
  return (word: string): boolean => block !== undefined && findRule(block, word) !== undefined;
}

/** Whether a block of words is inside a block that takes a word. */
function isOuter(word: string, path: Path): boolean {
  const [block] = path.slice(-1);
  const isOfWords = block !== undefined && BLOCKS[block].names === undefined;
  return isOfWords && path.slice(0, -1).some((outer) => findRule(outer, word) !== undefined);
}
