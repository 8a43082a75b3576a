import type { Report } from '../diagnostic.ts';
import type { Parsed } from '../parser.ts';
import { looksLikeSecret } from '../secrets.ts';
import type { Member } from '../syntax.ts';
import { METHODS } from './requests.ts';

/** The words whose values may be, or hold, `env.NAME`. */
const TAKES_ENV: ReadonlySet<string> = new Set([
  ...METHODS.keys(),
  'header',
  'base_url',
  'api_key',
  'token',
  'approvers',
]);

/** Warns of text that looks like a secret, and names the place for secrets. */
export function checkSecrets({ tokens, document }: Parsed, report: Report): void {
  const secrets = tokens.filter(({ text }) => looksLikeSecret(text));
  if (secrets.length === 0) return;
  const places = new Set(placesOf(document.agent));
  for (const token of secrets) {
    const end = places.has(token.index)
      ? 'expected env.NAME in its place'
      : 'remove it, no variable is allowed in its place';
    report('secret-literal', token, `this looks like a secret, ${end}`);
  }
}

/** The indexes of the tokens after words that take variables. */
function placesOf({ word, form, token, headEnd, block }: Member): number[] {
  const takesEnv = TAKES_ENV.has(word) || form === 'mcp';
  const length = takesEnv ? headEnd.index - token.index + 1 : 0;
  const head = Array.from({ length }, (_, index) => token.index + index);
  return [...head, ...(block?.members.flatMap(placesOf) ?? [])];
}
