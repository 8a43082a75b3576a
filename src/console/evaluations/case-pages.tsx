import type {
  EvaluationVerdict,
  ListedEvaluationFragment,
} from '../../generated/operations/console.ts';
import { More } from '../parts/more.tsx';
import { Failed, Skeleton } from '../parts/state.tsx';
import { CaseList } from './case-list.tsx';
import { useCases } from './use-cases.ts';
import type { RepeatCase } from './use-repeat-case.ts';

/** The cases of an evaluation, of one verdict or all, with a button for the next page. */
export function CasePages({
  botId,
  evaluation,
  verdict,
  repeatCase,
  onGoTo,
}: {
  botId: string;
  evaluation: ListedEvaluationFragment;
  verdict?: EvaluationVerdict | undefined;
  /** Repeats one case. Without it, no case is offered to be repeated. */
  repeatCase?: RepeatCase | undefined;
  /** Goes to a place of the definition. Without it, places are text. */
  onGoTo?: ((place: { line: number; column: number }) => void) | undefined;
}) {
  const pages = useCases(botId, evaluation, verdict);
  const { rows, isFirst, problem, readAgain } = pages;
  if (isFirst && problem) return <Failed problem={problem} onRetry={readAgain} />;
  if (isFirst)
    return (
      <div className="case-loading" aria-busy="true">
        <Skeleton height={32} />
        <Skeleton height={32} />
      </div>
    );
  if (rows.length === 0)
    return (
      <p className="case-none faint">
        {verdict ? 'No case has this verdict.' : 'The evaluation has no cases.'}
      </p>
    );
  return (
    <>
      <CaseList cases={rows} repeat={evaluation.repeat} repeatCase={repeatCase} onGoTo={onGoTo} />
      <More pages={pages} />
    </>
  );
}
