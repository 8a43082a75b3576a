import { readFileSync } from 'node:fs';

const PAGE = new URL('../../docs/security.md', import.meta.url);

/** A row of a table of `docs/security.md`. */
export type Row = {
  /** The heading above the table. */
  section: string;
  /** The cells by the headings of their columns. */
  cells: Record<string, string>;
};

/** The rows of all tables of `docs/security.md`, in their order. */
export function securityRows(): Row[] {
  let section = '';
  let columns: string[] | undefined;
  return readFileSync(PAGE, 'utf8')
    .split('\n')
    .flatMap((line) => {
      section = /^#+ (.*)/.exec(line)?.[1] ?? section;
      if (!line.startsWith('|')) columns = undefined;
      const cells = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      if (cells.length === 0 || /^-+$/.test(cells[0] ?? '')) return [];
      if (!columns) {
        columns = cells;
        return [];
      }
      return [
        { section, cells: Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? ''])) },
      ];
    });
}

/** The texts in backticks of a cell. */
export const codesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
