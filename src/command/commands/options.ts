import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { UsageError } from '../errors.ts';
import type { Option } from '../line/definition.ts';

/** The argument of a command that reads one definition. */
export const DEFINITION = {
  placeholder: 'FILE',
  required: true,
  isFile: true,
  description: 'The definition; - is stdin.',
} as const;

/** Options that several commands share. */
export const BOT = {
  value: 'ID',
  short: 'b',
  description: 'The bot. By default, the one of parley use.',
} as const satisfies Option;

export const ENV = {
  value: 'NAME',
  short: 'e',
  choices: ENVIRONMENT_NAMES,
  description: 'The environment of the bot.',
} as const satisfies Option;

export const YES = {
  short: 'y',
  description: 'Do not ask. Without a terminal it is required.',
} as const satisfies Option;

export const MESSAGE = {
  value: 'TEXT',
  short: 'm',
  description: 'A note for the list of deployments.',
} as const satisfies Option;

export const VAR = {
  value: 'NAME[=VALUE]',
  multiple: true,
  description:
    'A variable of the definition. NAME alone reads the environment, or asks without showing the value.',
} as const satisfies Option;

export const VARS = {
  value: 'FILE',
  isFile: true,
  description: 'A file with lines NAME=VALUE, as .env files have.',
} as const satisfies Option;

export const WHOLE = {
  description: 'Print the reply when it is whole. With --json, it is one value.',
} as const satisfies Option;

export const LIMIT = {
  value: 'NUMBER',
  short: 'n',
  description: 'The number of entries, 1 to 1000. Defaults to 20.',
} as const satisfies Option;

/** The value of `--limit`. */
export function limitOf(text: string | undefined): number {
  return numberOf('limit', text ?? '20', 1, 1_000);
}

/** @throws UsageError if the text is no whole number within the bounds. */
export function numberOf(option: string, text: string, least: number, largest: number): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= largest))
    throw new UsageError(`--${option} must be a whole number from ${least} to ${largest}.`);
  return number;
}

export const SKIP_GATE = {
  description:
    'Deploy without the gate of the bot. It needs --message, and a key with the scope admin.',
} as const satisfies Option;
