import type { ToolCallStatus } from '../../generated/operations/console.ts';
import type { IconName } from '../parts/icon.tsx';
import type { Tone } from '../parts/tone.ts';

/** Whether a tool call ended with an error. */
export function isFailedCall(status: ToolCallStatus | undefined): boolean {
  return status === 'FAILED' || status === 'REFUSED';
}

/** The states of tool calls. Each has a word and an icon, because colour alone is not enough. */
export const TOOL_STATUSES: Record<
  ToolCallStatus,
  { word: string; icon: IconName; tone: Tone; explanation?: string }
> = {
  RUNNING: { word: 'running', icon: 'dashed', tone: 'live' },
  COMPLETED: { word: 'completed', icon: 'check', tone: 'good' },
  FAILED: { word: 'failed', icon: 'warning', tone: 'bad' },
  UNKNOWN: {
    word: 'outcome unknown',
    icon: 'question',
    tone: 'warn',
    explanation:
      'The request was sent, and no response arrived before the server stopped or lost the connection. It is not sent again. Look at the service itself.',
  },
  WAITING: {
    word: 'waiting for approval',
    icon: 'clock',
    tone: 'warn',
    explanation: 'The call has not been sent. It is sent once a person approves it.',
  },
  DENIED: {
    word: 'denied',
    icon: 'barred',
    tone: 'off',
    explanation: 'A person denied the call. It was not sent.',
  },
  EXPIRED: {
    word: 'expired',
    icon: 'hourglass',
    tone: 'off',
    explanation: 'Nobody decided in time. The call was not sent.',
  },
  REFUSED: {
    word: 'refused',
    icon: 'barred',
    tone: 'bad',
    explanation: 'The call exceeds a limit of calls. It was not sent.',
  },
};
