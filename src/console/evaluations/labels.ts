import type {
  Environment,
  EvaluationStatus,
  EvaluationVerdict,
} from '../../generated/operations/console.ts';
import { withEnvironment } from '../frame/environments.ts';
import type { IconName } from '../parts/icon.tsx';
import type { Tone } from '../parts/tone.ts';

type Label = { word: string; icon: IconName; tone: Tone };

/** The verdicts of cases. Each has a word and an icon, because colour alone is not enough. */
export const VERDICTS: Record<EvaluationVerdict, Label> = {
  PASSED: { word: 'passed', icon: 'check', tone: 'good' },
  FAILED: { word: 'failed', icon: 'warning', tone: 'bad' },
  DIVERGED: { word: 'diverged', icon: 'question', tone: 'bad' },
  SKIPPED: { word: 'skipped', icon: 'barred', tone: 'off' },
};

/** How a new reply compares with the recorded one. */
export const OUTCOMES: Record<'EQUAL' | 'BETTER' | 'SAME' | 'WORSE', Label> = {
  EQUAL: { word: 'equal', icon: 'check', tone: 'off' },
  BETTER: { word: 'better', icon: 'up', tone: 'good' },
  SAME: { word: 'as good', icon: 'check', tone: 'good' },
  WORSE: { word: 'worse', icon: 'down', tone: 'bad' },
};

const STATUSES: Record<EvaluationStatus, Label> = {
  QUEUED: { word: 'queued', icon: 'clock', tone: 'warn' },
  RUNNING: { word: 'running', icon: 'dashed', tone: 'live' },
  // Its verdict says more.
  COMPLETED: { word: 'completed', icon: 'check', tone: 'good' },
  CANCELLED: { word: 'cancelled', icon: 'barred', tone: 'off' },
  FAILED: { word: 'could not run', icon: 'warning', tone: 'bad' },
};

/** The state of an evaluation: its verdict once it is completed. */
export function labelOf({
  status,
  verdict,
}: {
  status: EvaluationStatus;
  verdict: EvaluationVerdict | null;
}): Label {
  return verdict ? VERDICTS[verdict] : STATUSES[status];
}

/** The counts of an evaluation, such as `1 failed, 3 passed of 4`. */
export function countsOf({
  cases,
  passed,
  failed,
  diverged,
  skipped,
}: {
  cases: number;
  passed: number;
  failed: number;
  diverged: number;
  skipped: number;
}): string {
  if (cases === 0) return 'no cases';
  const counts = Object.entries({ failed, diverged, skipped, passed })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  return `${counts.join(', ') || '0'} of ${cases}`;
}

/** The address of the evaluations of a bot, or of one of them. */
export function evaluationsAddress(botId: string, id?: string): string {
  return `/bots/${botId}/evaluations${id ? `/${id}` : ''}`;
}

/** The address of the tests of a definition, in the Studio. @param environment of the definition. Absent: production. */
export function testsAddress(botId: string, environment: Environment | undefined): string {
  const search = withEnvironment(new URLSearchParams({ panel: 'tests' }), environment);
  return `/bots/${botId}/studio?${search}`;
}
