import type { ApprovalStatus, Environment } from '../../../generated/operations/console.ts';
import { environmentParameter } from '../../frame/environments.ts';
import { readName } from '../../frame/parameter.ts';

/** The lists of approvals by the names that addresses have. The first one is the default. */
export const LISTS = {
  WAITING: 'Waiting',
  APPROVED: 'Approved',
  DENIED: 'Denied',
  EXPIRED: 'Expired',
  ALL: 'All',
} satisfies Record<ApprovalStatus | 'ALL', string>;

export type ListName = keyof typeof LISTS;

/** Reads the list that the address selects. */
export function listIn(search: URLSearchParams): { list: ListName; fault?: string } {
  const text = search.get('status');
  if (!text) return { list: 'WAITING' };
  const reading = readName(text, LISTS);
  return 'fault' in reading ? { list: 'WAITING', fault: reading.fault } : { list: reading.name };
}

/** The list that a person reads. */
export type Place = {
  list: ListName;
  /** Absent: both. */
  environment: Environment | undefined;
};

/** The parameters of the address of a list. */
export function searchOf({ list, environment }: Place): URLSearchParams {
  return new URLSearchParams({
    ...(list !== 'WAITING' && { status: list.toLowerCase() }),
    ...environmentParameter(environment),
  });
}
