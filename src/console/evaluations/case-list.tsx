import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Status } from '../parts/status.tsx';
import { Attempts } from './attempt-details.tsx';
import { firstFindingOf } from './case-finding.ts';
import { CaseState } from './evaluation-state.tsx';
import { OUTCOMES } from './labels.ts';
import type { EvaluatedCase } from './use-cases.ts';
import type { RepeatCase } from './use-repeat-case.ts';
import './evaluations.css';

/** The cases of an evaluation, each with its verdict and its first finding. A click shows its attempts. */
export function CaseList({
  cases,
  repeat,
  repeatCase,
  onGoTo,
}: {
  cases: readonly EvaluatedCase[];
  repeat: number;
  /** Repeats one case. Without it, no case is offered to be repeated. */
  repeatCase?: RepeatCase | undefined;
  /** Goes to a place of the definition. Without it, places are text. */
  onGoTo?: ((place: { line: number; column: number }) => void) | undefined;
}) {
  // What failed is what a person came for.
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [isTouched, setTouched] = useState(false);
  const firstFailure = cases.find(({ verdict }) => verdict === 'FAILED' || verdict === 'DIVERGED');
  const isOpen = (id: string) => (isTouched ? opened.has(id) : id === firstFailure?.id);
  const toggle = (id: string) => {
    const before = isTouched ? opened : new Set(firstFailure ? [firstFailure.id] : []);
    setTouched(true);
    setOpened(
      before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
    );
  };
  return (
    <ul className="case-list" aria-label="Cases">
      {cases.map((one) => (
        <li key={one.id}>
          <CaseRow
            result={one}
            repeat={repeat}
            repeatCase={repeatCase}
            isOpen={isOpen(one.id)}
            onToggle={() => toggle(one.id)}
            onGoTo={onGoTo}
          />
        </li>
      ))}
    </ul>
  );
}

/** The message of a repeated run, if an attempt has ended. */
function messageOf(result: EvaluatedCase): string | undefined {
  return result.attempts[0]?.turns[0]?.message.slice(0, MAX_NAME);
}

/** Characters of a message that name its case. */
const MAX_NAME = 160;

/** How the last reply to the message of a recorded run compares with the recorded one. */
function Compared({ result }: { result: EvaluatedCase }) {
  const outcome = result.attempts.at(-1)?.comparison?.outcome;
  if (!outcome) return null;
  const { word, icon, tone } = OUTCOMES[outcome];
  return (
    <Status icon={icon} tone={tone}>
      {word}
    </Status>
  );
}

function CaseRow({
  result,
  repeat,
  repeatCase,
  isOpen,
  onToggle,
  onGoTo,
}: {
  result: EvaluatedCase;
  repeat: number;
  repeatCase: RepeatCase | undefined;
  isOpen: boolean;
  onToggle(): void;
  onGoTo?: ((place: { line: number; column: number }) => void) | undefined;
}) {
  const { id, name, runId, line, column, verdict, passedAttempts } = result;
  const finding = firstFindingOf(result);
  return (
    <>
      <div className="case-row">
        <button
          type="button"
          className="case-toggle"
          aria-expanded={isOpen}
          aria-controls={`${id}-attempts`}
          onClick={onToggle}
        >
          <span className="case-chevron">
            <Icon name="chevron" size={14} />
          </span>
          <span className="case-state">
            <CaseState verdict={verdict} />
          </span>
          <span className="case-name" dir="auto">
            {runId === null ? name : (messageOf(result) ?? name)}
          </span>
          <Compared result={result} />
          {repeat > 1 && verdict && (
            <span className="faint number">
              {passedAttempts} of {repeat}
            </span>
          )}
          {finding && !isOpen && (
            <span className="case-finding cut" dir="auto">
              {finding.message}
            </span>
          )}
        </button>
        {runId !== null ? (
          <Link className="case-place" href={`/runs/${runId}`}>
            Recorded run
          </Link>
        ) : onGoTo ? (
          <button
            type="button"
            className="case-place link number"
            onClick={() => onGoTo(finding ?? { line, column })}
          >
            line {finding?.line ?? line}
          </button>
        ) : (
          <span className="case-place faint number">line {finding?.line ?? line}</span>
        )}
      </div>
      <div id={`${id}-attempts`} className="case-attempts" hidden={!isOpen}>
        {isOpen && <Attempts attempts={result.attempts} />}
        {isOpen && repeatCase && verdict && (
          <div className="case-actions">
            <Button
              icon="repeat"
              isBusy={repeatCase.isBusy}
              unavailable={repeatCase.unavailable(result)}
              onClick={() => repeatCase.run(result)}
            >
              Repeat this case
            </Button>
          </div>
        )}
      </div>
    </>
  );
}
