import { createColumnChoice } from '../../frame/column-choice.ts';

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

export const columnChoice = createColumnChoice<ColumnName>(
  'parley:run-columns',
  COLUMNS,
  FIRST,
  FIXED,
);
