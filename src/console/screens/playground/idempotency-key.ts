import type { Environment } from '../../../vocabulary/environments.ts';

/** Characters of a key. Source: the API document, "Idempotency". */
const MAX_LENGTH = 255;

const ENDINGS: Record<Environment, string> = {
  PRODUCTION: '-production',
  STAGING: '-staging',
};

/** Characters that may be typed. A comparison adds an ending. */
export function maxTyped(isCompared: boolean): number {
  return isCompared ? MAX_LENGTH - ENDINGS.PRODUCTION.length : MAX_LENGTH;
}

/** The key for one environment. A comparison sends two different requests, and a key belongs to one. */
export function keyOf(
  typed: string,
  environment: Environment,
  isCompared: boolean,
): string | undefined {
  if (typed === '') return undefined;
  return isCompared ? typed + ENDINGS[environment] : typed;
}

/** The problem of a typed key. */
export function keyFault(typed: string, isCompared: boolean): string | undefined {
  if (!/^[\x21-\x7e]*$/.test(typed)) return 'A key has only visible ASCII characters.';
  const most = maxTyped(isCompared);
  if (typed.length <= most) return undefined;
  return `A key has at most ${most} characters${isCompared ? ' in a comparison' : ''}.`;
}
