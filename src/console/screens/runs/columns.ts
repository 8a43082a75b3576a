import { readItem, writeItem } from '../../frame/storage.ts';
import { createStore } from '../../server/store.ts';

/** The columns of the list in their order. */
export const COLUMNS = [
  { name: 'status', label: 'Status' },
  { name: 'time', label: 'Created' },
  { name: 'user', label: 'User' },
  { name: 'input', label: 'Asked, replied' },
  { name: 'tools', label: 'Tools' },
  { name: 'model', label: 'Model' },
  { name: 'channel', label: 'Channel' },
  { name: 'entrance', label: 'Entrance' },
  { name: 'environment', label: 'Environment' },
  { name: 'kind', label: 'Kind' },
  { name: 'error', label: 'Error' },
  { name: 'deployment', label: 'Deployment' },
  { name: 'feedback', label: 'Feedback' },
  { name: 'latency', label: 'Latency', isNumber: true },
  { name: 'tokens', label: 'Tokens', isNumber: true },
] as const satisfies { name: string; label: string; isNumber?: true }[];

export type ColumnName = (typeof COLUMNS)[number]['name'];

const FIXED: ColumnName[] = ['status', 'time', 'input'];
const FIRST: ColumnName[] = [...FIXED, 'user', 'tools', 'feedback', 'latency', 'tokens'];

/** The columns that can be hidden. */
export const OPTIONAL = COLUMNS.filter(({ name }) => !FIXED.includes(name));

const NAME = 'parley:run-columns';

/** The names of the columns that show, as this browser keeps them. */
export const shownColumns = createStore<readonly ColumnName[]>(stored());

export function toggleColumn(name: ColumnName): void {
  const before = shownColumns.get();
  const next = before.includes(name) ? before.filter((one) => one !== name) : [...before, name];
  shownColumns.set(next);
  writeItem(NAME, next.join(' '));
}

function stored(): ColumnName[] {
  const kept = readItem(NAME)?.split(' ');
  if (!kept) return FIRST;
  const chosen = COLUMNS.filter(({ name }) => FIXED.includes(name) || kept.includes(name));
  return chosen.map(({ name }) => name);
}
