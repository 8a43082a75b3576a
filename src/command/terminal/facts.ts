import type { Style } from './style.ts';
import { printable } from './text-table.ts';

/** Names and values, one pair on each line. */
export function facts(rows: readonly (readonly [name: string, value: string])[], style: Style) {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(([name, value]) => `${style.dim(name.padEnd(width))}  ${printable(value)}`)
    .join('\n');
}
