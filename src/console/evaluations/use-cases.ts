import { useMemo } from 'react';
import {
  EvaluationCases,
  type EvaluationCasesQuery,
  type EvaluationVerdict,
  type ListedEvaluationFragment,
} from '../../generated/operations/console.ts';
import { type Pages, usePages } from '../server/use-pages.ts';
import { useProgress } from './use-progress.ts';

/** Cases of one page. Each has its texts. */
const PAGE = 50;

export type EvaluatedCase = NonNullable<EvaluationCasesQuery['evaluation']>['results'][number];

/** The cases of an evaluation, page by page, of one verdict or all. They are read again as cases end. */
export function useCases(
  botId: string,
  evaluation: ListedEvaluationFragment,
  verdict: EvaluationVerdict | undefined,
): Pages<EvaluatedCase> {
  const { id } = evaluation;
  const variables = useMemo(() => ({ botId, id, verdict: verdict ?? null }), [botId, id, verdict]);
  const pages = usePages(EvaluationCases, { size: PAGE, variables }, toPage);
  useProgress(evaluation, pages.readAgain);
  return pages;
}

function toPage({ evaluation }: EvaluationCasesQuery) {
  if (!evaluation) return undefined;
  const rows = evaluation.results;
  const hasNextPage = rows.length === PAGE;
  const pageInfo = { hasNextPage, endCursor: rows.at(-1)?.id ?? null };
  return { rows, head: undefined, pageInfo };
}
