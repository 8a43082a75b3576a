import { AWAY, type Problem } from '../server/problem.ts';

/** Why something failed, for a visitor, who knows nothing of the server. */
export function reasonOf({ code, message, requestId }: Problem): string {
  if (code === AWAY.code) return 'The chat cannot be reached. Check your connection.';
  if (code === 'INTERRUPTED') return 'The reply was interrupted.';
  if (code !== 'INTERNAL_ERROR' && !code.startsWith('MODEL_')) return message;
  return `The reply failed.${requestId ? ` Its number is ${requestId}.` : ''}`;
}
