import type { EvaluationReplayInput } from '../../generated/operations/console.ts';
import type { Environment } from '../../vocabulary/environments.ts';
import { environmentParameter } from '../frame/environments.ts';
import { isRecord } from '../server/record.ts';

/** Recorded runs that another screen gives to the Studio with the entry of the history, to repeat with its draft. */
export type ReplayedRuns = {
  replay: EvaluationReplayInput;
  /** What a person reads about them. */
  label: string;
};

/** The runs of the current entry of the history. A filter may have what a user wrote, so it is not in the address. */
export function chosenRuns(): ReplayedRuns | undefined {
  const state: unknown = history.state;
  if (!isRecord(state) || !isReplayedRuns(state.runs)) return undefined;
  return state.runs;
}

function isReplayedRuns(value: unknown): value is ReplayedRuns {
  return isRecord(value) && isRecord(value.replay) && typeof value.label === 'string';
}

/** The address of the Studio with its tests. */
export function draftAddress(botId: string, environment: Environment): string {
  const search = new URLSearchParams({ ...environmentParameter(environment), panel: 'tests' });
  return `/bots/${botId}/studio?${search}`;
}
