import { type Arguments, createArgumentParser } from './arguments.ts';
import { type Cursor, reportExpected } from './cursor.ts';
import type { Report } from './diagnostic.ts';
import type { Form, Rule } from './grammar.ts';
import type { Token } from './token.ts';

/** The part of a member between its word and its block. */
export type Head = Arguments & {
  form: string | undefined;
  /** The rule that determines the block. */
  rule: Rule;
};

/** The words that may follow a damaged head. */
type Words = {
  /** Whether the innermost block defines this keyword. */
  isKnown(word: string): boolean;
  /** The known word that an unknown one resembles. */
  guess(word: string, words: readonly string[]): string | undefined;
};

/** The parser of heads: arguments, and an optional form with its own arguments. */
export function createHeadParser(cursor: Cursor, report: Report, { isKnown, guess }: Words) {
  const parseArguments = createArgumentParser(cursor, report);

  function parseHead(rule: Rule): Head {
    const head = parseArguments(rule.shapes);
    const { form } = rule;
    if (!head.complete) cursor.skipToMember((word) => word === form?.word || isKnown(word));
    if (form && cursor.atWord(form.word)) return parseForm(head, form);
    const token = cursor.peek();
    const isOther = !token.startsLine && !isBoundary(token) && !isKnown(token.text);
    if (!form || !head.complete || !isOther) return { ...head, form: undefined, rule };
    reportExpected(`"{" or "${form.word}"`, cursor, report);
    if (guess(token.text, [form.word]) !== undefined) return parseForm(head, form);
    cursor.skipToMember(isKnown);
    return { ...head, complete: false, form: undefined, rule: { shapes: [] } };
  }

  /** Parses a form's word and the arguments of the form's rule. */
  function parseForm(head: Arguments, form: Form): Head {
    cursor.next();
    const rest = parseHead(form.rule);
    return {
      arguments: [...head.arguments, ...rest.arguments],
      complete: head.complete && rest.complete,
      form: form.word,
      rule: rest.rule,
    };
  }

  return parseHead;
}

/** Whether a token ends the head of a member. */
function isBoundary({ kind }: Token): boolean {
  return kind === '{' || kind === '}' || kind === 'end';
}
