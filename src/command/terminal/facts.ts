import type { Style } from './style.ts';
import { oneLine } from './text-table.ts';

/** Names and values, one pair on each line. Values may have styles. */
export function facts(rows: readonly (readonly [name: string, value: string])[], style: Style) {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(([name, value]) => `${style.dim(name.padEnd(width))}  ${oneLine(value)}`)
    .join('\n');
}
