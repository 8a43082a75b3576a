import { useState } from 'react';
import { Link } from 'wouter';
import { StopEvaluation } from '../../../../generated/operations/console.ts';
import { isActiveEvaluation } from '../../../../vocabulary/evaluations.ts';
import { CasePages } from '../../../evaluations/case-pages.tsx';
import { EvaluationState } from '../../../evaluations/evaluation-state.tsx';
import { countsOf, evaluationsAddress } from '../../../evaluations/labels.ts';
import { chosenRuns } from '../../../evaluations/replayed-runs.ts';
import { useEvaluation } from '../../../evaluations/use-evaluation.ts';
import { quantity } from '../../../numbers.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty, Failed, Refused, Skeleton } from '../../../parts/state.tsx';
import { useMutate } from '../../../server/operations.ts';
import { lacks, useScope } from '../../../server/viewer.ts';
import type { OpenEditor } from '../editor/commands.ts';
import { type Tests, useTestMarks } from '../use-tests.ts';

type Place = { line: number; column: number };

/** How many recorded runs the Studio repeats. */
const REPLAYED = 50;

/**
 * Runs the tests of the definition in the editor, or repeats recorded runs with it, and shows each case. A click on a line
 * leads to it.
 */
export function TestsPanel({
  botId,
  editor,
  tests: { latest, run, isBusy, problem },
  count,
  hasErrors,
  onAdd,
  onGoTo,
}: {
  botId: string;
  editor: OpenEditor;
  tests: Tests;
  /** The number of tests in the definition. */
  count: number;
  hasErrors: boolean;
  /** Adds a first test to the definition. */
  onAdd(): void;
  onGoTo(place: Place): void;
}) {
  const mayRun = useScope('DEPLOY');
  const mayReplay = useScope('RUNS');
  const [chosen, setChosen] = useState(chosenRuns);
  const refused = (!mayRun && lacks('DEPLOY')) || (hasErrors && 'Correct the errors first.');
  return (
    <div className="studio-tests">
      <div className="studio-tests-bar">
        <Button
          icon="tests"
          isBusy={isBusy}
          unavailable={refused || (count === 0 && 'The definition has no tests.')}
          onClick={() => run({})}
        >
          Run {quantity(count, 'test')}
        </Button>
        <Button
          icon="repeat"
          isBusy={isBusy}
          unavailable={refused || (!mayReplay && lacks('RUNS'))}
          onClick={() => run({ tests: false, replay: chosen?.replay ?? { last: REPLAYED } })}
        >
          {chosen ? 'Replay these runs' : `Replay the last ${REPLAYED}`}
        </Button>
        <Link href={evaluationsAddress(botId)}>Evaluations and gate</Link>
      </div>
      {chosen && (
        <p className="studio-tests-chosen" role="status">
          <span dir="auto">{chosen.label}</span>
          <Button look="quiet" onClick={() => setChosen(undefined)}>
            All runs
          </Button>
        </p>
      )}
      <Refused problem={problem} />
      {latest ? (
        <Results key={latest.id} botId={botId} latest={latest} editor={editor} onGoTo={onGoTo} />
      ) : (
        <Empty title={count === 0 ? 'No tests yet' : 'Try the definition before you deploy it'}>
          <p>
            A test says what a user writes, what the tools answer, and what must be true of the
            reply. A replay repeats recorded runs and compares the replies. No tool is called, and
            nothing changes.
          </p>
          {count === 0 && (
            <p>
              <Button unavailable={hasErrors && 'Correct the errors first.'} onClick={onAdd}>
                Add a test
              </Button>
            </p>
          )}
          <a href="/guide/test-an-agent">How to write a test</a>
        </Empty>
      )}
    </div>
  );
}

function Results({
  botId,
  latest,
  editor,
  onGoTo,
}: {
  botId: string;
  latest: NonNullable<Tests['latest']>;
  editor: OpenEditor;
  onGoTo(place: Place): void;
}) {
  const { id } = latest;
  const { evaluation, problem, retry } = useEvaluation(botId, id);
  useTestMarks(botId, latest, evaluation, editor);
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
