import { createColumnChoice } from '../../frame/column-choice.ts';

const COLUMNS = [
  { name: 'status', label: 'Status of the last run' },
  { name: 'tokens', label: 'Tokens of the last run' },
  { name: 'turns', label: 'Turns' },
] as const;

type ColumnName = (typeof COLUMNS)[number]['name'];

/** The columns of the list of sessions beside the texts and the time. */
export const columnChoice = createColumnChoice<ColumnName>('parley:session-columns', COLUMNS, [
  'status',
  'tokens',
  'turns',
]);
