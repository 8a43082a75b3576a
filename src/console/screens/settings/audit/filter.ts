import type { AuditAction, AuditFilter } from '../../../../generated/operations/console.ts';

/** The text of each action. */
export const ACTIONS: Record<AuditAction, string> = {
  CREATE_ACCOUNT: 'created the account',
  UPDATE_ACCOUNT: 'changed the account',
  SUSPEND_ACCOUNT: 'suspended the account',
  RESUME_ACCOUNT: 'resumed the account',
  DELETE_ACCOUNT: 'deleted an account',
  CREATE_API_KEY: 'created a key',
  UPDATE_API_KEY: 'changed a key',
  ROTATE_API_KEY: 'rotated a key',
  REVOKE_API_KEY: 'revoked a key',
  CREATE_BOT: 'created a bot',
  UPDATE_BOT: 'changed a bot',
  DELETE_BOT: 'deleted a bot',
  DEPLOY: 'deployed',
  DEPLOY_FAILED: 'failed to deploy',
  SKIP_GATE: 'skipped the gate',
  ROLLBACK: 'rolled back',
  PROMOTE: 'promoted',
  SET_MEMORY: 'changed a memory',
  FORGET_SESSION: 'forgot a conversation',
  ASK_APPROVAL: 'asked for approval of a call',
  APPROVE_CALL: 'approved a call',
  DENY_CALL: 'denied a call',
  EXPIRE_APPROVAL: 'let an approval expire',
};

/** The authors of actions that need no key. Besides them, operators of other accounts have none. */
export const KEYLESS: Partial<Record<AuditAction, string>> = {
  FORGET_SESSION: 'a user of the bot',
};

/** The filters in the URL. Days are in the reader's time zone. */
export type AuditAddress = {
  action: string;
  key: string;
  bot: string;
  from: string;
  to: string;
};

export function readAddress(search: URLSearchParams): AuditAddress {
  const read = (name: string) => search.get(name) ?? '';
  return {
    action: read('action').toUpperCase() in ACTIONS ? read('action').toLowerCase() : '',
    key: read('key'),
    bot: read('bot'),
    from: isDay(read('from')) ? read('from') : '',
    to: isDay(read('to')) ? read('to') : '',
  };
}

/** The filter of the request. `to` is a whole day, so the filter ends with the next one. */
export function filterOf({ action, key, bot, from, to }: AuditAddress): AuditFilter {
  return {
    ...(action && { action: [action.toUpperCase() as AuditAction] }),
    ...(key && { keyId: key }),
    ...(bot && { botId: bot }),
    ...(from && { from: startOf(from) }),
    ...(to && { to: startOf(to, 1) }),
  };
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** The first moment of a day in the reader's time zone. */
function startOf(day: string, later = 0): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later).toISOString();
}
