import type { CSSProperties } from 'react';
import { accentTokens } from '../../language/accent.ts';

/** The console's tokens with the colours of a bot, for an element that contains its chat page. */
export function accentStyle(accent: string | undefined): CSSProperties | undefined {
  return accent === undefined ? undefined : accentTokens(accent);
}
