import { useSearchParams } from 'wouter';
import {
  type EvaluationVerdict,
  type ListedEvaluationFragment,
  StopEvaluation,
} from '../../../generated/operations/console.ts';
import { EVALUATION_VERDICTS, isActiveEvaluation } from '../../../vocabulary/evaluations.ts';
import { toLowerCase, valuesOf } from '../../../vocabulary/names.ts';
import { CasePages } from '../../evaluations/case-pages.tsx';
import { EvaluationState } from '../../evaluations/evaluation-state.tsx';
import { countsOf, evaluationsAddress, testsAddress, VERDICTS } from '../../evaluations/labels.ts';
import { useEvaluation } from '../../evaluations/use-evaluation.ts';
import { useRepeatCase } from '../../evaluations/use-repeat-case.ts';
import { environmentQuery, useLinkedEnvironment } from '../../frame/environments.ts';
import { readName } from '../../frame/parameter.ts';
import { Screen } from '../../frame/screen.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Faults } from '../../parts/faults.tsx';
import { Pair, Pairs } from '../../parts/pairs.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Empty, Failed, Refused, Skeleton } from '../../parts/state.tsx';
import { duration, LocalTime } from '../../parts/time.tsx';
import { SCREENS } from '../../screens.ts';
import { useMutate } from '../../server/operations.ts';

type Shown = ListedEvaluationFragment;

/** An evaluation: its facts, and its cases by verdict. It is live until the evaluation has ended. */
export function OpenEvaluation({ botId, id }: { botId: string; id: string }) {
  const [search] = useSearchParams();
  const { verdict, fault } = verdictIn(search);
  const { evaluation, problem, retry } = useEvaluation(botId, id);
  const environment = useLinkedEnvironment();
  const isActive = evaluation !== undefined && isActiveEvaluation(evaluation);
  return (
    <Screen
      title={SCREENS.evaluation.title}
      actions={
        <>
          {isActive && <CancelButton id={id} onCancelled={retry} />}
          <ButtonLink href={evaluationsAddress(botId) + environmentQuery(environment)} look="quiet">
            All evaluations
          </ButtonLink>
          {!isActive && (
            <ButtonLink href={testsAddress(botId, evaluation?.environment)} icon="edit">
              Edit
            </ButtonLink>
          )}
        </>
      }
    >
      <Faults faults={{ verdict: fault }} effect="All cases are listed." />
      {evaluation ? (
        <Body botId={botId} evaluation={evaluation} verdict={verdict} />
      ) : problem?.code === 'EVALUATION_NOT_FOUND' ? (
        <Missing botId={botId} />
      ) : problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : (
        <div className="evaluation-loading" aria-busy="true">
          <Skeleton height={64} />
          <Skeleton height={40} />
          <Skeleton height={40} />
        </div>
      )}
    </Screen>
  );
}

const ALL = '';

function Body({
  botId,
  evaluation,
  verdict,
}: {
  botId: string;
  evaluation: Shown;
  verdict: EvaluationVerdict | undefined;
}) {
  const [, setSearch] = useSearchParams();
  const { id, note, environment, model, judgeModel, repeat } = evaluation;
  const { promptTokens, completionTokens, createdAt, startedAt, finishedAt } = evaluation;
  const repeatCase = useRepeatCase(botId, evaluation);
  const choose = (name: EvaluationVerdict | typeof ALL) =>
    setSearch(name === ALL ? {} : { verdict: toLowerCase(name) }, { replace: true });
  const options = [
    { name: ALL, label: `All ${evaluation.cases}` } as const,
    ...valuesOf(EVALUATION_VERDICTS)
      .map((name) => ({ name, label: `${VERDICTS[name].word} ${countOf(evaluation, name)}` }))
      .filter(({ name }) => countOf(evaluation, name) > 0 || name === verdict),
  ];
  return (
    <div className="evaluation">
      <header className="evaluation-head">
        <p className="evaluation-state" role="status">
          <EvaluationState evaluation={evaluation} />
          <span className="soft">{countsOf(evaluation)}</span>
        </p>
        {note && (
          <p className="evaluation-note" dir="auto">
            {note}
          </p>
        )}
        <Pairs>
          <Pair name="Environment">{toLowerCase(environment)}</Pair>
          {model && (
            <Pair name="Model">
              <span className="mono">{model}</span>
            </Pair>
          )}
          {judgeModel && (
            <Pair name="Judge model">
              <span className="mono">{judgeModel}</span>
            </Pair>
          )}
          {repeat > 1 && <Pair name="Attempts at each case">{repeat}</Pair>}
          <Pair name="Tokens">
            {promptTokens.toLocaleString('en')} in, {completionTokens.toLocaleString('en')} out
          </Pair>
          <Pair name="Requested">
            <LocalTime at={createdAt} />
          </Pair>
          {startedAt && finishedAt && (
            <Pair name="Duration">{duration(Date.parse(finishedAt) - Date.parse(startedAt))}</Pair>
          )}
          <Pair name="Evaluation">
            <Id>{id}</Id>
          </Pair>
        </Pairs>
        <Segments label="Verdict" options={options} current={verdict ?? ALL} onChange={choose} />
      </header>
      <Refused problem={repeatCase.problem} />
      <CasePages
        key={verdict}
        botId={botId}
        evaluation={evaluation}
        verdict={verdict}
        repeatCase={repeatCase}
      />
    </div>
  );
}

function countOf(evaluation: Shown, verdict: EvaluationVerdict): number {
  const { passed, failed, diverged, skipped } = evaluation;
  return { PASSED: passed, FAILED: failed, DIVERGED: diverged, SKIPPED: skipped }[verdict];
}

function verdictIn(search: URLSearchParams): { verdict?: EvaluationVerdict; fault?: string } {
  const text = search.get('verdict');
  if (!text) return {};
  const reading = readName(text, EVALUATION_VERDICTS);
  return 'fault' in reading ? reading : { verdict: reading.name };
}

function CancelButton({ id, onCancelled }: { id: string; onCancelled(): void }) {
  const { isBusy, problem, run } = useMutate(StopEvaluation);
  const cancel = async () => {
    const answer = await run({ id });
    if (!answer.problem) onCancelled();
  };
  return (
    <>
      <Refused problem={problem} />
      <Button icon="stop" isBusy={isBusy} onClick={() => void cancel()}>
        Cancel
      </Button>
    </>
  );
}

function Missing({ botId }: { botId: string }) {
  return (
    <Empty title="There is no such evaluation">
      <p>Its retention is over, or it belongs to another bot.</p>
      <ButtonLink href={evaluationsAddress(botId)}>All evaluations</ButtonLink>
    </Empty>
  );
}
