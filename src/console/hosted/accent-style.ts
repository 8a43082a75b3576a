import type { CSSProperties } from 'react';
import { accentColors } from '../../language/accent.ts';

/** The console's tokens with the colours of a bot, for an element that contains its chat page. */
export function accentStyle(accent: string | undefined): CSSProperties | undefined {
  if (accent === undefined) return undefined;
  const { light, dark } = accentColors(accent);
  const both = (name: keyof typeof light) => `light-dark(${light[name]}, ${dark[name]})`;
  return {
    '--accent': both('accent'),
    '--accent-hover': both('hover'),
    '--accent-ink': both('ink'),
    '--accent-wash': both('wash'),
  } as CSSProperties;
}
