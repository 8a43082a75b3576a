import { useEffect, useState } from 'react';
import { BotExists } from '../../../generated/operations/console.ts';
import { ask } from '../../server/operations.ts';

/** The state of an id while it is typed. `absent`: no bot has this id. A deleted bot may have had it. */
export type IdCheck =
  | { state: 'unknown' }
  | { state: 'absent' }
  | { state: 'wrong'; reason: string };

const PAUSE_MS = 300;
const UNKNOWN: IdCheck = { state: 'unknown' };

/** An id that follows from a name: its letters and digits, joined by hyphens. */
export function idFrom(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replaceAll(/^-|-$/g, '');
}

/** The problem of an id, checked without a request. */
export function idFault(id: string): string | undefined {
  if (id.length > 64) return 'An id has at most 64 characters.';
  if (!/^[\w-]*$/.test(id)) return 'An id has only letters, digits, "_" and "-".';
  const prefix = /^(acc|key|dep|ses|msg|run)_/.exec(id)?.[0];
  return prefix && `An id must not begin with ${prefix}.`;
}

/** Checks an id at each pause in typing. Creating the bot is the final check. */
export function useIdCheck(id: string): IdCheck {
  const [checked, setChecked] = useState<{ id: string; check: IdCheck }>();
  const fault = idFault(id);
  useEffect(() => {
    if (id === '' || fault) return undefined;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const check = await askForId(id);
      if (isCurrent) setChecked({ id, check });
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [id, fault]);
  if (fault) return { state: 'wrong', reason: fault };
  return checked?.id === id ? checked.check : UNKNOWN;
}

async function askForId(id: string): Promise<IdCheck> {
  const { data, problem } = await ask(BotExists, { id });
  if (problem?.code === 'BOT_NOT_FOUND') return { state: 'absent' };
  const isTaken = data?.bot || problem?.code === 'BOT_ACCESS_DENIED';
  return isTaken ? { state: 'wrong', reason: `The id ${id} is taken.` } : UNKNOWN;
}
