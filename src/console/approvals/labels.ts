import type { ApprovalStatus } from '../../generated/operations/console.ts';
import type { IconName } from '../parts/icon.tsx';
import type { Tone } from '../parts/tone.ts';

export const APPROVAL_STATES: Record<ApprovalStatus, { word: string; icon: IconName; tone: Tone }> =
  {
    WAITING: { word: 'waiting', icon: 'clock', tone: 'warn' },
    APPROVED: { word: 'approved', icon: 'check', tone: 'good' },
    DENIED: { word: 'denied', icon: 'barred', tone: 'off' },
    EXPIRED: { word: 'expired', icon: 'hourglass', tone: 'off' },
  };

/** Characters of the arguments that a line shows. */
const MAX_LINE = 160;

/** Arguments in one line, such as `order_id A-1 · amount 120`. */
export function argumentsLine(given: unknown): string {
  if (typeof given !== 'object' || given === null) return 'The arguments are no longer stored.';
  const line = Object.entries(given)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ');
  return line.slice(0, MAX_LINE) || 'no arguments';
}

/** The address of the approvals of a bot, or of one of them. */
export function approvalsAddress(botId: string, id?: string, search?: URLSearchParams): string {
  const query = search && search.size > 0 ? `?${search}` : '';
  return `/bots/${botId}/approvals${id ? `/${id}` : ''}${query}`;
}
