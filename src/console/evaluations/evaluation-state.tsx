import type { EvaluationStatus, EvaluationVerdict } from '../../generated/operations/console.ts';
import { Status } from '../parts/status.tsx';
import { labelOf, VERDICTS } from './labels.ts';

/** The state of an evaluation. */
export function EvaluationState({
  evaluation,
}: {
  evaluation: { status: EvaluationStatus; verdict: EvaluationVerdict | null };
}) {
  const { word, icon, tone } = labelOf(evaluation);
  return (
    <Status icon={icon} tone={tone}>
      {word}
    </Status>
  );
}

/** The verdict of a case; `waiting` before all of its attempts have ended. */
export function CaseState({ verdict }: { verdict: EvaluationVerdict | null }) {
  if (!verdict)
    return (
      <Status icon="clock" tone="off">
        waiting
      </Status>
    );
  const { word, icon, tone } = VERDICTS[verdict];
  return (
    <Status icon={icon} tone={tone}>
      {word}
    </Status>
  );
}
