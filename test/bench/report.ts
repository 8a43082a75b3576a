import type { Footprint } from './footprint.ts';
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
    result.cpu.toFixed(2),
    ratio(result.cpu, find(results, base)?.cpu),
  ]);
  const title = `${count(connections)}, ${mode}`;
  const kept = (row: string[]) => row.filter((_, column) => streamed || column !== 4);
  return `${title}\n${align([header, ...rows].map(kept))}\n`;
}

/** All figures as a Markdown table, with ratios to `base` and the goals of Parley on PostgreSQL. */
export function markdownTable(all: CaseResults[], footprints: Footprint[], base: string): string {
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const rows = all.flatMap(({ case: { connections, mode }, results }) => {
    const basis = find(results, base);
    const goals = GOALS[`${mode} ${connections}`];
    const line = (name: string, figure: (result: Result) => string, goal = '') =>
      row([name, `${connections}, ${mode}`, ...results.map(figure), goal]);
    const compared = (unit: string, figure: (result: Result) => number, digits = 2) => {
      return (result: Result) => {
        const text = `${figure(result).toFixed(digits)}${unit}`;
        return result === basis
          ? text
          : `${text} (${ratio(figure(result), basis && figure(basis))})`;
      };
    };
    return [
      line(
        'CPU per chat',
        compared(' ms', ({ cpu }) => cpu),
        goals?.cpu,
      ),
      line('chats a second', ({ chatsPerSecond }) => chatsPerSecond.toFixed(0)),
      line('garbage collection', ({ gcShare }) => `${(gcShare * 100).toFixed(1)} %`),
      line('event loop delay, p99', ({ lag }) => `${lag.toFixed(0)} ms`),
      ...(mode === 'streamed'
        ? [
            line(
              'first delta',
              compared(' ms', ({ firstByte }) => firstByte),
              goals?.firstDelta,
            ),
          ]
        : []),
    ];
  });
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  const line = (name: string, figure: (footprint: Footprint) => string) =>
    row([name, '', ...footprints.map(figure), '']);
  return [
    row(['', 'connections', ...footprints.map(({ target }) => target), 'goal on PostgreSQL']),
    row(['---', '---', ...footprints.map(() => '--:'), '--:']),
    ...rows,
    line('start, median', ({ startMs }) => `${startMs.toFixed(0)} ms`),
    line('memory, idle', ({ idle }) => megabytes(idle)),
    line('memory, after the last chat', ({ after }) => megabytes(after)),
    line('installed', ({ installed }) => (installed ? megabytes(installed) : '-')),
  ].join('\n');
}

/** The largest ratios to the reference. */
const GOALS: Record<string, { cpu?: string; firstDelta?: string }> = {
  'json 1': { cpu: '1.30x' },
  'json 32': { cpu: '1.00x' },
  'streamed 1': { cpu: '1.30x', firstDelta: '1.50x' },
  'streamed 32': { cpu: '0.80x', firstDelta: 'PGlite: 3.00x' },
};

function find(results: Result[], name: string): Result | undefined {
  return results.find(({ target }) => target === name);
}

function ratio(value: number, basis: number | undefined): string {
  return basis === undefined ? '-' : `${(value / basis).toFixed(2)}x`;
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
