import { BOUNDS } from '../bounds.ts';
import type { EnvReference } from '../definition.ts';
import type { Report } from '../diagnostic.ts';
import type { Source, SourceRange } from '../source.ts';
import { stringValue } from '../strings.ts';
import type { Member } from '../syntax.ts';
import { shorten, type Token } from '../token.ts';

/** The shared dependencies of all checks. */
export type Check = {
  readonly source: Source;
  readonly report: Report;
  /** Whether a reported mistake may hide the members with a word. */
  readonly mayHide: (word: string) => boolean;
  /** Private hosts that tools may call: `host:port`, in lower case. Absent: unknown. */
  readonly isBlocked: ((url: URL) => boolean) | undefined;
  /** Whether the source was deployed before, so that texts and lists of the chat page beyond their bounds are cut. */
  readonly isDeployed: boolean;
  /** Records a use of an environment variable. */
  readonly useEnv: (name: string, range: SourceRange) => void;
};

/** The strings after a word, without unterminated ones. */
export function stringsOf(member: Member | undefined): Token[] {
  return tokensOf(member, 'string');
}

/** The names of tools after a word, without unterminated strings. */
export function toolsOf(member: Member | undefined): Token[] {
  return tokensOf(member, 'tool');
}

/** The names after a word, without a form such as `mcp`. */
export function namesOf(member: Member | undefined): Token[] {
  return tokensOf(member, 'name');
}

function tokensOf(member: Member | undefined, kind: 'string' | 'name' | 'tool'): Token[] {
  return (member?.arguments ?? []).flatMap((argument) =>
    argument.kind === kind && !argument.token.broken ? [argument.token] : [],
  );
}

/** The text of the first string after a word. Reports text that is only white space. */
export function textOf(member: Member | undefined, check: Check): string | undefined {
  const [token] = stringsOf(member);
  return token && checkText(token, check);
}

/** The text of a string or an unquoted name. Reports an empty string. */
export function checkText(token: Token, { report }: Check): string {
  const text = nameOf(token);
  if (text.trim() === '') report('empty-text', token, 'expected some text, found an empty string');
  return text;
}

/** A text that people read, within its bound in characters. */
export function checkShortText(
  token: Token,
  { max, what }: { max: number; what: string },
  check: Check,
): string {
  const text = checkText(token, check);
  if (text.length <= max) return text;
  if (!check.isDeployed) {
    const message = `the ${what} has ${text.length} characters, expected at most ${max}`;
    check.report('too-long', token, message);
  }
  // Without the first half of a character that the cut divides.
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** "label" [ tool ] STRING */
export function checkLabel(member: Member, check: Check): string | undefined {
  const [token] = stringsOf(member);
  return token && checkShortText(token, { max: BOUNDS.labelLength, what: 'label' }, check);
}

/** The range of a number, as values and as text for messages. */
export type Range = { min: number; max: number; text: string };

/** Durations of requests and runs, in milliseconds. */
export const DURATION: Range = { min: 1, max: 900_000, text: '1ms to 15m' };

/** The number after a word. */
export function numberOf(
  member: Member,
  { min, max, text }: Range,
  { report }: Check,
): number | undefined {
  const number = member.arguments.find((argument) => argument.kind === 'number');
  if (!number) return undefined;
  const { token, value } = number;
  if (value < min || value > max)
    report('out-of-range', token, () => {
      return `"${member.word}" is ${shorten(token.text)}, expected ${text}`;
    });
  return value;
}

/** The `env.NAME` after a word. */
export function envOf(member: Member, check: Check): EnvReference | undefined {
  const reference = member.arguments.find((argument) => argument.kind === 'env');
  if (!reference) return undefined;
  check.useEnv(reference.token.text, reference.token);
  return { env: reference.token.text };
}

/** The text of a name or a string. */
export function nameOf(token: Token): string {
  return token.kind === 'string' || token.kind === 'triple' ? stringValue(token) : token.text;
}
