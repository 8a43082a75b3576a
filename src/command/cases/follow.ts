import { setTimeout } from 'node:timers/promises';
import { EvaluationResults, FollowEvaluation } from '../../generated/operations/command.ts';
import { isActiveEvaluation } from '../../vocabulary/evaluations.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import type { Connection } from '../server/connection.ts';
import type { CaseResult, Evaluation } from './result.ts';

/** Results of one read. Each has its texts. */
const PAGE = 50;
/** How long the command waits for an event before it reads the results itself. */
const QUIET_MS = 10_000;
/** The pause between two reads, for each case: all results are read each time. */
const PAUSE_PER_CASE_MS = 10;

/**
 * Follows an evaluation until it has ended.
 *
 * @param show receives each case once, when it has ended.
 * @returns the evaluation when it has ended.
 */
export async function followEvaluation(
  { botId, id }: { botId: string; id: string },
  { graphql }: Pick<Connection, 'graphql'>,
  { signal }: Pick<Context, 'signal'>,
  show: (result: CaseResult, evaluation: Evaluation) => Promise<void>,
): Promise<Evaluation> {
  const shown = new Set<string>();
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  let changed = Promise.withResolvers<void>();

  const listen = async () => {
    const changes = await graphql.subscribe(FollowEvaluation, { botId, id }, either);
    for await (const _ of changes ?? []) changed.resolve();
  };

  const readPage = async (after: string | null): Promise<Evaluation> => {
    const { evaluation } = await graphql.run(EvaluationResults, { id, first: PAGE, after }, signal);
    if (!evaluation) throw new Refusal('The evaluation no longer exists.');
    return evaluation;
  };

  const read = async (): Promise<Evaluation> => {
    const evaluation = await readPage(null);
    for (let page = evaluation.results; page.length === PAGE; ) {
      page = (await readPage(page.at(-1)?.id ?? null)).results;
      evaluation.results.push(...page);
    }
    for (const result of evaluation.results) {
      const key = result.runId ?? `test ${result.name}`;
      if (result.verdict === null || shown.has(key)) continue;
      shown.add(key);
      await show(result, evaluation);
    }
    return evaluation;
  };

  // Without a stream, the results are read every `QUIET_MS`.
  const listening = listen().catch(() => {});
  try {
    for (;;) {
      changed = Promise.withResolvers();
      const evaluation = await read();
      if (!isActiveEvaluation(evaluation)) return evaluation;
      await setTimeout(evaluation.cases * PAUSE_PER_CASE_MS, undefined, { signal });
      const quiet = new AbortController();
      const wait = AbortSignal.any([signal, quiet.signal]);
      await Promise.race([
        changed.promise,
        setTimeout(QUIET_MS, undefined, { signal: wait }).catch(() => {}),
      ]).finally(() => quiet.abort());
      signal.throwIfAborted();
    }
  } finally {
    done.abort();
    await listening;
  }
}
