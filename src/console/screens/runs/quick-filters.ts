import type { RunFilter } from '../../../generated/operations/console.ts';
import type { IconName } from '../../parts/icon.tsx';
import { type FilterName, type Filters, readFilters } from '../../runs/filter.ts';

type QuickFilter = {
  label: string;
  icon?: IconName;
  /** The condition, as the address has it. */
  name: FilterName;
  value: string;
};

/** The conditions that one press adds or removes, in their order. */
export const QUICK_FILTERS = {
  failed: { label: 'Failed', icon: 'warning', name: 'status', value: 'failed' },
  bad: { label: 'Rated bad', icon: 'thumb-down', name: 'feedback', value: 'down' },
  slow: { label: 'Slower than 5 s', icon: 'clock', name: 'min_latency_ms', value: '5000' },
} as const satisfies Record<string, QuickFilter>;

/** Whether a quick filter has the condition of this name. */
export function isQuick({ values }: Filters, name: FilterName): boolean {
  return Object.values(QUICK_FILTERS).some(
    (quick) => quick.name === name && quick.value === values[name]?.toLowerCase(),
  );
}

/** A filter with the condition of a quick filter in place of its own value. */
export function withQuick(filter: RunFilter, quick: keyof typeof QUICK_FILTERS): RunFilter {
  const { name, value } = QUICK_FILTERS[quick];
  return { ...filter, ...readFilters(new URLSearchParams({ [name]: value })).filter };
}
