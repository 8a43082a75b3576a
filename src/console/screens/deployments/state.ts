import type { DeploymentStatus } from '../../../generated/operations/console.ts';
import type { IconName } from '../../parts/icon.tsx';
import type { Tone } from '../../parts/tone.ts';

/** The state of a deployment, which a word and an icon name. */
export type DeploymentState = { word: string; icon: IconName; tone: Tone };

const STATES: Record<DeploymentStatus, DeploymentState> = {
  DEPLOYED: { word: 'superseded', icon: 'clock', tone: 'off' },
  PENDING: { word: 'pending', icon: 'dashed', tone: 'live' },
  FAILED: { word: 'failed', icon: 'warning', tone: 'bad' },
};

const CURRENT: DeploymentState = { word: 'current', icon: 'check', tone: 'good' };

/** The state of a deployment in its environment. */
export function stateOf(status: DeploymentStatus, isRunning: boolean): DeploymentState {
  return isRunning && status === 'DEPLOYED' ? CURRENT : STATES[status];
}
