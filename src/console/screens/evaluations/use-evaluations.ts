import { useMemo } from 'react';
import {
  type DeploymentToTestFragment,
  type Environment,
  Evaluations,
  type EvaluationsQuery,
  type GateSettingsFragment,
  type ListedEvaluationFragment,
} from '../../../generated/operations/console.ts';
import { isActiveEvaluation } from '../../../vocabulary/evaluations.ts';
import { useEvaluationChanges } from '../../evaluations/use-evaluation-changes.ts';
import { type Pages, usePages } from '../../server/use-pages.ts';

/** Evaluations of one page. */
const PAGE = 30;

export type ListedEvaluation = ListedEvaluationFragment;
/** What runs in each environment and can be tested, and the gate of production. */
export type Testable = {
  gate: GateSettingsFragment | null;
  production: DeploymentToTestFragment | null;
  staging: DeploymentToTestFragment | null;
};

/**
 * The evaluations of a bot, newest first, page by page. It follows the oldest one that has not ended: one evaluation of an
 * account runs at a time, and the others begin after it.
 *
 * @param environment of the evaluations. Absent: both.
 */
export function useEvaluations(
  botId: string,
  environment: Environment | undefined,
): Pages<ListedEvaluation, Testable> {
  const variables = useMemo(() => ({ botId, environment }), [botId, environment]);
  const pages = usePages(Evaluations, { size: PAGE, variables }, toPage);
  const active = pages.rows.findLast(isActiveEvaluation);
  useEvaluationChanges(active && { botId, id: active.id }, (change) => {
    const changed = change?.evaluation;
    if (!changed) return pages.readAgain();
    return pages.change((rows) => rows.map((row) => (row.id === changed.id ? changed : row)));
  });
  return pages;
}

function toPage({ bot }: EvaluationsQuery) {
  if (!bot) return undefined;
  const { production, staging, gate, evaluations } = bot;
  const rows = evaluations.edges.map(({ node }): ListedEvaluation => node);
  return { rows, head: { production, staging, gate }, pageInfo: evaluations.pageInfo };
}
