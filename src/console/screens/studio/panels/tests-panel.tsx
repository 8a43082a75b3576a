import { useState } from 'react';
import { Link } from 'wouter';
import { BeginEvaluation, StopEvaluation } from '../../../../generated/operations/console.ts';
import type { Environment } from '../../../../vocabulary/environments.ts';
import { isActiveEvaluation } from '../../../../vocabulary/evaluations.ts';
import { CasePages } from '../../../evaluations/case-pages.tsx';
import { EvaluationState } from '../../../evaluations/evaluation-state.tsx';
import { countsOf, evaluationsAddress } from '../../../evaluations/labels.ts';
import { useEvaluation } from '../../../evaluations/use-evaluation.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty, Failed, Refused, Skeleton } from '../../../parts/state.tsx';
import { useMutate } from '../../../server/operations.ts';
import { lacks, useScope } from '../../../server/viewer.ts';

type Place = { line: number; column: number };

/** How many recorded runs the Studio repeats. */
const REPLAYED = 50;

/**
 * Runs the tests of the definition in the editor, or repeats recorded runs with it, and shows each case. A click on a line
 * leads to it.
 */
export function TestsPanel({
  botId,
  environment,
  definition,
  tests,
  hasErrors,
  onGoTo,
}: {
  botId: string;
  environment: Environment;
  /** The text of the editor. */
  definition(): string;
  /** The number of tests in the definition. */
  tests: number;
  hasErrors: boolean;
  onGoTo(place: Place): void;
}) {
  const mayRun = useScope('DEPLOY');
  const [id, setId] = useState<string>();
  const begin = useMutate(BeginEvaluation);
  const mayReplay = useScope('RUNS');
  const run = async (cases: { tests?: boolean; replay?: { last: number } }) => {
    const input = { source: definition(), environment, ...cases };
    const { data } = await begin.run({ botId, input });
    if (data?.startEvaluation) setId(data.startEvaluation.id);
  };
  return (
    <div className="studio-tests">
      <div className="studio-tests-bar">
        <Button
          icon="tests"
          isBusy={begin.isBusy}
          unavailable={
            (!mayRun && lacks('DEPLOY')) ||
            (hasErrors && 'Correct the errors first.') ||
            (tests === 0 && 'The definition has no tests.')
          }
          onClick={() => void run({})}
        >
          Run {tests === 1 ? '1 test' : `${tests} tests`}
        </Button>
        <Button
          icon="repeat"
          isBusy={begin.isBusy}
          unavailable={
            (!mayRun && lacks('DEPLOY')) ||
            (!mayReplay && lacks('RUNS')) ||
            (hasErrors && 'Correct the errors first.')
          }
          onClick={() => void run({ tests: false, replay: { last: REPLAYED } })}
        >
          Replay the last {REPLAYED}
        </Button>
        <Link href={evaluationsAddress(botId)}>All evaluations</Link>
      </div>
      <Refused problem={begin.problem} />
      {id !== undefined ? (
        <Results key={id} botId={botId} id={id} onGoTo={onGoTo} />
      ) : (
        <Empty title={tests === 0 ? 'No tests yet' : 'Try the definition before you deploy it'}>
          <p>
            A test says what a user writes, what the tools answer, and what must be true of the
            reply. A replay repeats recorded runs and compares the replies. No tool is called, and
            nothing changes.
          </p>
          <a href="/guide/test-an-agent">How to write a test</a>
        </Empty>
      )}
    </div>
  );
}

function Results({ botId, id, onGoTo }: { botId: string; id: string; onGoTo(place: Place): void }) {
  const { evaluation, problem, retry } = useEvaluation(botId, id);
  const stop = useMutate(StopEvaluation);
  const isActive = evaluation !== undefined && isActiveEvaluation(evaluation);
  if (!evaluation && problem) return <Failed problem={problem} onRetry={retry} />;
  if (!evaluation) return <Skeleton height={80} />;
  return (
    <section aria-label="Results of the tests">
      <p className="studio-tests-state" role="status">
        <EvaluationState evaluation={evaluation} />
        <span className="soft">{countsOf(evaluation)}</span>
        {isActive && (
          <Button look="quiet" isBusy={stop.isBusy} onClick={() => void stop.run({ id })}>
            Cancel
          </Button>
        )}
      </p>
      {evaluation.note && <p className="studio-note">{evaluation.note}</p>}
      <Refused problem={stop.problem} />
      <CasePages botId={botId} evaluation={evaluation} onGoTo={onGoTo} />
    </section>
  );
}
