import type { Case, Result } from './measure.ts';

/** The results of all servers in one case. */
export type CaseResults = { case: Case; results: Result[] };

/**
 * One case as aligned columns.
 *
 * @param base the name of the server whose CPU time is the base of the last column.
 */
export function caseTable({ case: { connections, mode }, results }: CaseResults, base: string) {
  const streamed = mode === 'streamed';
  const header = ['', 'chats/s', 'p50 ms', 'p99 ms', 'first delta ms', 'CPU ms/chat', 'CPU ratio'];
  const rows = results.map((result) => [
    result.target,
    result.chatsPerSecond.toFixed(0),
    result.p50.toFixed(1),
    result.p99.toFixed(1),
    streamed ? result.firstByte.toFixed(1) : '',
    result.cpu?.toFixed(2) ?? '-',
    ratio(result.cpu, find(results, base)?.cpu),
  ]);
  const title = `${count(connections)}, ${mode}`;
  const kept = (row: string[]) => row.filter((_, column) => streamed || column !== 4);
  return `${title}\n${align([header, ...rows].map(kept))}\n`;
}

/** All cases as a Markdown table: CPU per chat and time to first delta, with ratios to `base`. */
export function markdownTable(all: CaseResults[], base: string): string {
  const targets = all[0]?.results.map(({ target }) => target) ?? [];
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const line = (name: string, { case: { connections }, results }: CaseResults, figure: Figure) => {
    const basis = find(results, base);
    const cells = results.map((result) => {
      const value = figure(result);
      if (value === undefined) return '-';
      const text = `${value.toFixed(2)} ms`;
      return result === basis ? text : `${text} (${ratio(value, basis && figure(basis))})`;
    });
    return row([name, String(connections), ...cells]);
  };
  const streamed = all.filter((results) => results.case.mode === 'streamed');
  return [
    row(['', 'connections', ...targets]),
    row(['---', '--:', ...targets.map(() => '--:')]),
    ...all.map((results) => line(`CPU per chat, ${results.case.mode}`, results, ({ cpu }) => cpu)),
    ...streamed.map((results) => line('first delta', results, ({ firstByte }) => firstByte)),
  ].join('\n');
}

type Figure = (result: Result) => number | undefined;

function find(results: Result[], name: string): Result | undefined {
  return results.find(({ target }) => target === name);
}

function ratio(value: number | undefined, basis: number | undefined): string {
  return value === undefined || basis === undefined ? '-' : `${(value / basis).toFixed(2)}x`;
}

function count(connections: number): string {
  return connections === 1 ? '1 connection' : `${connections} connections`;
}

/** Aligns the first column to the left, the others to the right. */
export function align(rows: string[][]): string {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(width(column)) : cell.padStart(width(column) + 2),
        )
        .join(''),
    )
    .join('\n');
}
