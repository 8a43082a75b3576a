import type {
  Channel,
  Entrance,
  ErrorCode,
  FeedbackRating,
  RunKind,
  RunStatus,
} from '../../generated/operations/console.ts';
import type { IconName } from '../parts/icon.tsx';
import type { Tone } from '../parts/tone.ts';

/** The states of runs. Each has a word and an icon, because colour alone is not enough. */
export const STATUSES: Record<RunStatus, { word: string; icon: IconName; tone: Tone }> = {
  QUEUED: { word: 'queued', icon: 'clock', tone: 'warn' },
  RUNNING: { word: 'running', icon: 'dashed', tone: 'live' },
  COMPLETED: { word: 'completed', icon: 'check', tone: 'good' },
  FAILED: { word: 'failed', icon: 'warning', tone: 'bad' },
  CANCELLED: { word: 'cancelled', icon: 'barred', tone: 'off' },
};

export const CHANNELS: Record<Channel, string> = {
  API: 'API',
  WEB: 'web',
  TELEGRAM: 'Telegram',
};

export const ENTRANCES: Record<Entrance, string> = {
  REST: 'REST',
  GRAPHQL: 'GraphQL',
  OPENAI: 'OpenAI API',
  MCP: 'MCP',
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

/** The code of an error as the beginning of a sentence, such as `Model timeout`. */
export function errorText(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
