import { useLocation } from 'wouter';
import {
  BeginEvaluation,
  type ListedEvaluationFragment,
} from '../../generated/operations/console.ts';
import { useMutate } from '../server/operations.ts';
import type { Problem } from '../server/problem.ts';
import { lacks, useScope } from '../server/viewer.ts';
import { evaluationsAddress } from './labels.ts';
import type { EvaluatedCase } from './use-cases.ts';

/** Repeats one case of an evaluation. */
export type RepeatCase = {
  /** Starts an evaluation with only this case, and opens it. */
  run(result: EvaluatedCase): void;
  /** Why a case cannot be repeated, if so. */
  unavailable(result: EvaluatedCase): string | false;
  isBusy: boolean;
  problem: Problem | undefined;
};

export function useRepeatCase(botId: string, evaluation: ListedEvaluationFragment): RepeatCase {
  const [, navigate] = useLocation();
  const mayReplay = useScope('RUNS');
  const { run: begin, isBusy, problem } = useMutate(BeginEvaluation);
  const { id, environment, model, judgeModel, repeat } = evaluation;
  const start = async ({ name, runId }: EvaluatedCase) => {
    const only =
      runId === null ? { testNames: [name] } : { tests: false, replay: { runIds: [runId] } };
    const input = { evaluationId: id, environment, model, judgeModel, repeat, ...only };
    const { data } = await begin({ botId, input });
    if (data?.startEvaluation) navigate(evaluationsAddress(botId, data.startEvaluation.id));
  };
  return {
    run: (result) => void start(result),
    unavailable: ({ runId }) => runId !== null && !mayReplay && lacks('RUNS'),
    isBusy,
    problem,
  };
}
