import type {
  Channel,
  ErrorCode,
  FeedbackRating,
  RunKind,
  RunStatus,
} from '../../generated/operations/console.ts';
import type { Tone } from '../parts/tone.ts';

export const STATUSES: Record<RunStatus, { word: string; tone: Tone }> = {
  QUEUED: { word: 'queued', tone: 'warn' },
  RUNNING: { word: 'running', tone: 'live' },
  COMPLETED: { word: 'completed', tone: 'good' },
  FAILED: { word: 'failed', tone: 'bad' },
  CANCELLED: { word: 'cancelled', tone: 'off' },
};

export const CHANNELS: Record<Channel, string> = {
  API: 'API',
  WEB: 'web',
  TELEGRAM: 'Telegram',
};

export const KINDS: Record<RunKind, string> = { CHAT: 'chat', DRAFT: 'draft', EXECUTE: 'prompt' };

export const RATINGS: Record<FeedbackRating, string> = { UP: 'good', DOWN: 'bad' };

/** The codes that the error of a run has. */
export const RUN_ERRORS = [
  'MODEL_ERROR',
  'MODEL_TIMEOUT',
  'CONTENT_FILTERED',
  'SESSION_BUSY',
  'INTERRUPTED',
  'INTERNAL_ERROR',
] as const satisfies ErrorCode[];

/** Whether a run may still change. */
export function isActive(status: RunStatus): boolean {
  return status === 'QUEUED' || status === 'RUNNING';
}
