import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { launch } from '../bench/child.ts';
import { align } from '../bench/report.ts';
import { MESSAGE } from '../bench/workload.ts';
import type { Target } from './attack.ts';
import type { AttackedServer } from './attacked-server.ts';
import type { Report } from './attacker.ts';

const ATTACKERS = 4;

/** Attacks a server from four processes for some seconds. @returns the sum of their reports. */
export async function attack(
  { parley, hostileUrl, accounts }: AttackedServer,
  { seconds, seed }: { seconds: number; seed: string },
  { signal, stack }: { signal: AbortSignal; stack: AsyncDisposableStack },
): Promise<Report> {
  const target = { url: parley.url, hostileUrl, accounts, canary: MESSAGE };
  const numbers = Array.from({ length: ATTACKERS }, (_, number) => number);
  const stopAttackers = await Promise.all(
    numbers.map((number) => startAttacker(target, [String(number), seed], signal, stack)),
  );
  await Promise.race([setTimeout(seconds * 1_000, undefined, { signal }), parley.closed]);
  return sum(await Promise.all(stopAttackers.map((stop) => stop())));
}

/** Starts an attacking process, and waits until it attacks. @returns a function that stops it. */
async function startAttacker(
  target: Target,
  more: string[],
  signal: AbortSignal,
  stack: AsyncDisposableStack,
): Promise<() => Promise<Report>> {
  const args = [JSON.stringify(target), ...more];
  const { child, output } = launch({ file: '../hostile/attacker.ts', args, signal, stack });
  // Without stderr, whose warnings may arrive between two pieces of the report.
  let printed = '';
  child.stdout?.on('data', (chunk: string) => {
    printed += chunk;
  });
  const closed = once(child, 'close');
  // A signal to stop that arrives before the process can receive it would end it without a report.
  await Promise.race([once(child, 'message'), closed]);
  return async () => {
    child.kill('SIGTERM');
    const [code] = await closed;
    if (code !== 0) throw new Error(`An attacking process failed:\n${output()}`);
    return JSON.parse(printed) as Report;
  };
}

/** Adds up the reports of all processes. */
function sum(reports: Report[]): Report {
  const total: Report = { outcomes: {}, leaks: reports.flatMap(({ leaks }) => leaks) };
  for (const { outcomes } of reports) {
    for (const [name, counts] of Object.entries(outcomes)) {
      const all = { ...total.outcomes[name] };
      for (const [outcome, count] of Object.entries(counts))
        all[outcome] = (all[outcome] ?? 0) + count;
      total.outcomes[name] = all;
    }
  }
  return total;
}

/** The outcomes of each attack, as aligned lines. */
export function attackTable({ outcomes }: Report): string {
  const rows = Object.entries(outcomes).sort(([one], [other]) => one.localeCompare(other));
  const cells = rows.map(([name, counts]) => [
    name,
    Object.entries(counts)
      .map(([outcome, count]) => `${count} x ${outcome}`)
      .join(', '),
  ]);
  return align(cells);
}

/** The failures that the attackers saw. */
export function attackProblems({ leaks, outcomes }: Report): string[] {
  const problems = [...new Set(leaks)].map((name) => `"${name}" read the honest tenant's text`);
  if (Object.keys(outcomes).length === 0) problems.push('no attack was performed');
  return problems;
}
