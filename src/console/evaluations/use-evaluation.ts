import { Evaluation, type ListedEvaluationFragment } from '../../generated/operations/console.ts';
import { isActiveEvaluation } from '../../vocabulary/evaluations.ts';
import { type Query, useServerQuery } from '../server/operations.ts';
import { useEvaluationChanges } from './use-evaluation-changes.ts';

/** An evaluation without its cases, live until it has ended. */
export function useEvaluation(
  botId: string,
  id: string,
): Pick<Query<unknown>, 'problem' | 'retry'> & {
  /** Absent while it is read. */
  evaluation: ListedEvaluationFragment | undefined;
} {
  const { data, problem, retry } = useServerQuery(Evaluation, { botId, id });
  const evaluation = data?.evaluation ?? undefined;
  useEvaluationChanges(
    evaluation && isActiveEvaluation(evaluation) ? { botId, id } : undefined,
    retry,
  );
  return { evaluation, problem, retry };
}
