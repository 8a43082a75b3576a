import { FILTER_NAMES, type FilterName } from '../../runs/filter.ts';
import { CHANNELS, ENTRANCES, KINDS, RATINGS, RUN_ERRORS, STATUSES } from '../../runs/labels.ts';

/** A condition that a chip shows and changes. */
export type ChipName = Exclude<
  FilterName,
  'text' | 'range' | 'from' | 'to' | 'date' | 'environment'
>;

type Chip = {
  label: string;
  /** The values to choose from, in the words of the address. Absent for a value that is typed. */
  options?: string[];
  placeholder?: string;
  hint?: string;
  isNumber?: true;
  /** Whether the chip shows without a value. */
  isUsual?: true;
};

const lower = (names: object) => Object.keys(names).map((name) => name.toLowerCase());

/** The chips in their order. */
export const CHIPS: Record<ChipName, Chip> = {
  status: { label: 'status', options: lower(STATUSES) },
  user: {
    label: 'user',
    placeholder: 'user-42',
    hint: 'The session id of the conversation.',
    isUsual: true,
  },
  channel: { label: 'channel', options: lower(CHANNELS), isUsual: true },
  entrance: { label: 'entrance', options: lower(ENTRANCES) },
  error_code: { label: 'error', options: RUN_ERRORS.map((code) => code.toLowerCase()) },
  min_latency_ms: {
    label: 'slower than, ms',
    placeholder: '5000',
    hint: 'Finished runs that took at least this long.',
    isNumber: true,
  },
  min_tokens: {
    label: 'tokens from',
    placeholder: '1000',
    hint: 'Tokens of prompts and replies together.',
    isNumber: true,
  },
  model: { label: 'model', placeholder: 'gpt-6-luna', hint: 'The whole name of the model.' },
  deployment_id: { label: 'deployment', placeholder: 'dep_…', hint: 'The id of a deployment.' },
  kind: { label: 'kind', options: lower(KINDS) },
  feedback: { label: 'feedback', options: lower(RATINGS) },
};

export const CHIP_NAMES = FILTER_NAMES.filter((name): name is ChipName => name in CHIPS);
