import { execFile } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { align } from './report.ts';

const run = promisify(execFile);
const COMMAND = new URL('../../src/generated/command/parley.mjs', import.meta.url).pathname;
const DEFINITION = new URL('../../prisma/examples/support.agent', import.meta.url).pathname;

type Start = { name: string; words: string[]; maxMs?: number; maxRatio?: number };

/** The starts to compare, the base first. The command's specification gives the bounds. */
const STARTS: Start[] = [
  { name: 'node -e 0', words: ['-e', '0'] },
  { name: 'parley --help', words: [COMMAND, '--help'], maxMs: 150, maxRatio: 3 },
  { name: 'parley check FILE', words: [COMMAND, 'check', DEFINITION], maxMs: 250, maxRatio: 5 },
];

/** Measures how long the command takes to start, next to an empty Node.js, in interleaved rounds. */
export async function benchCommand({ rounds }: { rounds: number }, signal: AbortSignal) {
  const times = STARTS.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, { words }] of STARTS.entries()) {
      const start = performance.now();
      await run(process.execPath, words, { signal });
      times[index]?.push(performance.now() - start);
    }
  const base = median(times[0] ?? []);
  const rows = STARTS.map(({ name, maxMs, maxRatio }, index) => {
    const all = times[index] ?? [];
    const middle = median(all);
    return [
      name,
      middle.toFixed(0),
      Math.min(...all).toFixed(0),
      maxMs ? `${maxMs}` : '-',
      `${(middle / base).toFixed(2)}x`,
      maxRatio ? `${maxRatio}x` : '-',
    ];
  });
  const title = `Node.js ${process.versions.node}, ${rounds} rounds`;
  console.log(align([[title, 'median ms', 'fastest ms', 'bound', 'ratio', 'bound'], ...rows]));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
