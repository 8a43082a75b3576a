import type { RunStatusName } from '../../vocabulary/runs.ts';
import type { Style } from '../terminal/style.ts';
import { type Column, cut, oneLine, textTable, widthOf } from '../terminal/text-table.ts';
import { duration, localTime } from '../terminal/units.ts';

/** A run in a list. */
export type ListedRun = {
  runId: string;
  status: RunStatusName;
  kind: string;
  channel: string;
  /** Null for older runs of the API. */
  entrance: string | null;
  sessionId: string | null;
  input: string;
  createdAt: string;
  latencyMs: number | null;
  tokensUsed: number;
};

type TableOptions = { style: Style; width: number | undefined };

export function runTable(runs: readonly ListedRun[], options: TableOptions): string {
  const columns: Column[] = [
    { title: 'ID', paint: options.style.bold },
    { title: 'STATUS', paint: (cell) => paintStatus(cell, options.style) },
    { title: 'KIND' },
    { title: 'ENTRANCE' },
    { title: 'CREATED' },
    { title: 'LATENCY', isNumber: true },
    { title: 'TOKENS', isNumber: true },
    { title: 'USER' },
    { title: 'INPUT' },
  ];
  return textTable(columns, runs.map(cellsOf), options);
}

function cellsOf(run: ListedRun): string[] {
  return [
    run.runId,
    run.status,
    run.kind,
    run.entrance ?? run.channel,
    localTime(run.createdAt),
    duration(run.latencyMs),
    `${run.tokensUsed}`,
    cut(oneLine(run.sessionId ?? '-'), MAX_USER),
    cut(oneLine(run.input), MAX_INPUT),
  ];
}

const MAX_USER = 24;
const MAX_INPUT = 200;

/** One run as a line whose columns match the columns of the next lines. */
export function runLine(run: ListedRun, { style, width }: TableOptions): string {
  const time = new Date(run.createdAt).toTimeString().slice(0, 8);
  const facts = `${duration(run.latencyMs).padStart(8)} ${`${run.tokensUsed}`.padStart(6)}`;
  const start = `${time}  ${run.runId}  `;
  const status = run.status.padEnd(9);
  const end = `  ${run.kind.padEnd(7)} ${facts}  ${oneLine(run.input)}`;
  const room = width === undefined ? MAX_INPUT : Math.max(10, width - widthOf(start + status));
  return start + paintStatus(status, style) + cut(end, room);
}

export function paintStatus(text: string, style: Style): string {
  switch (text.trim()) {
    case 'completed':
      return style.green(text);
    case 'failed':
      return style.red(text);
    case 'cancelled':
      return style.yellow(text);
    default:
      return style.cyan(text);
  }
}
