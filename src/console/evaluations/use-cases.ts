import { useEffect, useMemo, useRef } from 'react';
import {
  EvaluationCases,
  type EvaluationCasesQuery,
  type EvaluationVerdict,
} from '../../generated/operations/console.ts';
import { useDebounced } from '../server/use-debounced.ts';
import { type Pages, usePages } from '../server/use-pages.ts';

/** Cases of one page. Each has its texts. */
const PAGE = 50;

export type EvaluatedCase = NonNullable<EvaluationCasesQuery['evaluation']>['results'][number];

/**
 * The cases of an evaluation, page by page.
 *
 * @param state of the evaluation, as text. The cases are read again when it changes.
 */
export function useCases(
  of: { botId: string; id: string },
  verdict: EvaluationVerdict | undefined,
  state: string,
): Pages<EvaluatedCase> {
  const { botId, id } = of;
  const variables = useMemo(() => ({ botId, id, verdict: verdict ?? null }), [botId, id, verdict]);
  const pages = usePages(EvaluationCases, { size: PAGE, variables }, toPage);
  // Many cases can end at the same time.
  const settled = useDebounced(state);
  const read = useRef(settled);
  const { readAgain } = pages;
  useEffect(() => {
    if (read.current === settled) return;
    read.current = settled;
    readAgain();
  }, [settled, readAgain]);
  return pages;
}

function toPage({ evaluation }: EvaluationCasesQuery) {
  if (!evaluation) return undefined;
  const rows = evaluation.results;
  const hasNextPage = rows.length === PAGE;
  const pageInfo = { hasNextPage, endCursor: rows.at(-1)?.id ?? null };
  return { rows, head: undefined, pageInfo };
}
