import type { EnvReference } from '../definition.ts';
import type { Report } from '../diagnostic.ts';
import type { Source } from '../source.ts';
import { stringValue } from '../strings.ts';
import type { Member } from '../syntax.ts';
import { shorten, type Token } from '../token.ts';

/** What every check needs. */
export type Check = {
  readonly source: Source;
  readonly report: Report;
  /** Notes where the value of an environment variable is used. */
  readonly useEnv: (name: string, offset: number) => void;
};

/** Whether a member and its block are read without a mistake that may hide something. */
export function isWhole({ damaged, block }: Member): boolean {
  return !damaged && !block?.damaged;
}

/** The strings after a word, but for those that were not read whole. */
export function stringsOf(member: Member | undefined): Token[] {
  return tokensOf(member, 'string');
}

/** The names after a word, a form such as `mcp` not among them. */
export function namesOf(member: Member | undefined): Token[] {
  return tokensOf(member, 'name');
}

function tokensOf(member: Member | undefined, kind: 'string' | 'name'): Token[] {
  if (!member || member.damaged) return [];
  return member.arguments.flatMap((argument) =>
    argument.kind === kind && !argument.token.broken ? [argument.token] : [],
  );
}

/** The text of the first string after a word. Text that is only white space is reported. */
export function textOf(member: Member | undefined, check: Check): string | undefined {
  const [token] = stringsOf(member);
  return token && checkText(token, check);
}

/** The text of a string, or of a name without quotes, that may not be empty. */
export function checkText(token: Token, { report }: Check): string {
  const text = nameOf(token);
  if (text.trim() === '')
    report('empty-text', token.start, 'expected some text, found an empty string');
  return text;
}

/** What a number may be, as values and as messages say it. */
export type Range = { min: number; max: number; text: string };

/** Durations of any kind, in milliseconds. */
export const DURATION: Range = { min: 1, max: 900_000, text: '1ms to 15m' };

/** The number after a word. */
export function numberOf(
  member: Member | undefined,
  { min, max, text }: Range,
  { report }: Check,
): number | undefined {
  const number = member?.arguments.find((argument) => argument.kind === 'number');
  if (!member || member.damaged || !number) return undefined;
  const { token, value } = number;
  if (value < min || value > max)
    report('out-of-range', token.start, () => {
      return `"${member.word}" is ${shorten(token.text)}, expected ${text}`;
    });
  return value;
}

/** The `env.NAME` after a word. */
export function envOf(member: Member | undefined, check: Check): EnvReference | undefined {
  const reference = member?.arguments.find((argument) => argument.kind === 'env');
  if (!member || member.damaged || !reference) return undefined;
  check.useEnv(reference.token.text, reference.token.start);
  return { env: reference.token.text };
}

/** What a name or a string means. */
export function nameOf(token: Token): string {
  return token.kind === 'name' ? token.text : stringValue(token);
}
